"""Result shapes from return types: one item, page, list, iterator, item collection, count, or existence check."""

from __future__ import annotations

import collections.abc
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import unaliased
from keyplan.model.declared.parameters import InvalidItem, Page
from keyplan.model.declared.views import View, entity_of_view, is_view


class ShapeKind(Enum):
    """The kinds of results."""

    ONE = "one"
    PAGE = "page"
    LIST = "list"
    ITERATOR = "iterator"
    COLLECTION = "collection"
    COUNT = "count"
    EXISTS = "exists"


WORDS = {
    ShapeKind.ONE: "one item",
    ShapeKind.COLLECTION: "one collection",
    ShapeKind.COUNT: "a count",
    ShapeKind.EXISTS: "an existence check",
}
"""Names of results that aren't sequences of items."""


@dataclass(frozen=True, slots=True)
class Member:
    """One field of a collection's NamedTuple: an entity, an optional entity, or a list of entities."""

    name: str
    entity: type[Entity]
    gives: type[Any]
    many: bool
    optional: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a result and its entities. ``views`` maps entities to the views that are returned."""

    kind: ShapeKind
    entities: tuple[type[Entity], ...]
    optional: bool = False
    factory: Any = None
    members: tuple[Member, ...] = ()
    views: Mapping[type[Entity], type[View[Any]]] = field(default_factory=dict[type[Entity], type[View[Any]]])
    lenient: bool = False
    """Whether unreadable items are returned as InvalidItem."""

    @property
    def many(self) -> bool:
        return self.kind in {ShapeKind.PAGE, ShapeKind.LIST, ShapeKind.ITERATOR}

    @property
    def told(self) -> bool:
        return self.kind in {ShapeKind.COUNT, ShapeKind.EXISTS}

    @property
    def given(self) -> tuple[type[Any], ...]:
        return tuple(self.views.get(entity, entity) for entity in self.entities)


_ITERATORS = {
    collections.abc.Iterator,
    collections.abc.AsyncIterator,
    collections.abc.Iterable,
    collections.abc.AsyncIterable,
}


_COUNTED = {int: ShapeKind.COUNT, bool: ShapeKind.EXISTS}
_MANY: dict[Any, ShapeKind] = {
    Page: ShapeKind.PAGE,
    list: ShapeKind.LIST,
    **dict.fromkeys(_ITERATORS, ShapeKind.ITERATOR),
}


def is_awaited(annotation: Any) -> bool:
    annotation = unaliased(annotation)
    if get_origin(annotation) is Annotated:
        return is_awaited(get_args(annotation)[0])
    return get_origin(annotation) in {collections.abc.AsyncIterator, collections.abc.AsyncIterable}


def shape_of(annotation: Any, of: Sequence[type[Entity]] = ()) -> Shape:
    """The shape of a return annotation; ``of``: the entities to count or to find. Raises Problem."""
    annotation = unaliased(annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        return shape_of(get_args(annotation)[0], of)
    if annotation in _COUNTED:
        return _counted(_COUNTED[annotation], of)
    if of:
        raise Problem("entity= requires the return type int or bool", "omit entity= for this return type")
    arguments = get_args(annotation)
    if origin in _MANY:
        entities, views = entities_of(arguments[0])
        return Shape(_MANY[origin], entities, views=views, lenient=_takes_unreadable(arguments[0]))
    union = arguments if origin in {Union, types.UnionType} else (annotation,)
    optional, lenient = type(None) in union, InvalidItem in union
    kinds = [value for value in union if value not in {type(None), InvalidItem}]
    if len(kinds) == 1 and _is_given(kinds[0]):
        entities, views = entities_of(kinds[0])
        return Shape(ShapeKind.ONE, entities, views=views, optional=optional, lenient=lenient)
    if len(kinds) == 1 and issubclass(kinds[0], tuple) and hasattr(kinds[0], "_fields") and not lenient:
        return _collection(kinds[0], optional=optional)
    raise Problem(
        f"the return type {_name(annotation)} isn't supported",
        "return Entity, Entity | None, Page[Entity], list[Entity], Iterator[Entity], a NamedTuple of entities or "
        "views, int or bool",
    )


def _counted(kind: ShapeKind, of: Sequence[type[Entity]]) -> Shape:
    if not of:
        what = "count" if kind is ShapeKind.COUNT else "find"
        raise Problem(f"the decorator doesn't name the entity to {what}", 'add @read("...", entity=Order)')
    if not all(_is_entity(entity_class) for entity_class in of):
        raise Problem("entity= isn't an entity class", "pass an entity class or a list of entity classes")
    return Shape(kind, tuple(of))


Entities = tuple[type[Entity], ...]
Views = dict[type[Entity], type[View[Any]]]


def entities_of(annotation: Any) -> tuple[Entities, Views]:
    """The entities of an item type (one type or a union), and the views that are returned. Raises Problem."""
    annotation = unaliased(annotation)
    union = get_args(annotation) if get_origin(annotation) in {Union, types.UnionType} else (annotation,)
    parts = [part for part in union if part is not InvalidItem]
    if not parts or not all(_is_given(part) for part in parts):
        raise Problem(f"{_name(annotation)} isn't an entity, a view, or a union of these")
    views: Views = {_entity_of(part): part for part in parts if is_view(part)}
    entities = tuple(_entity_of(part) for part in parts)
    twice = [entity.__name__ for entity in dict.fromkeys(entities) if entities.count(entity) > 1]
    if twice:
        raise Problem(
            f"{_name(annotation)} names {', '.join(twice)} twice", "use each entity or one of its views only once"
        )
    return entities, views


def _entity_of(given: Any) -> type[Entity]:
    if not is_view(given):
        return given  # type: ignore[no-any-return]
    entity_class = entity_of_view(given)
    if entity_class is None:
        raise Problem(f"the view {given.__name__} doesn't name its entity", f"class {given.__name__}(View[Order])")
    return entity_class


def _takes_unreadable(annotation: Any) -> bool:
    return InvalidItem in get_args(unaliased(annotation))


def _is_given(value: Any) -> bool:
    return _is_entity(value) or is_view(value)


def _collection(factory: Any, *, optional: bool) -> Shape:
    members: list[Member] = []
    for name, annotation in get_type_hints(factory, include_extras=True).items():
        if InvalidItem in get_args(annotation) or _takes_unreadable(next(iter(get_args(annotation)), None)):
            raise Problem(
                f"{factory.__name__}.{name} contains InvalidItem, which a collection doesn't support",
                "return a Page, a list or an Iterator of the entities and InvalidItem",
            )
        if get_origin(annotation) is list:
            entities, views = entities_of(get_args(annotation)[0])
            members.extend(
                Member(name, entity, views.get(entity, entity), many=True, optional=False) for entity in entities
            )
            continue
        inner = shape_of(annotation)
        if inner.kind is not ShapeKind.ONE:
            raise Problem(f"{factory.__name__}.{name} isn't an entity, a view, or a list of these")
        members.append(Member(name, inner.entities[0], inner.given[0], many=False, optional=inner.optional))
    entity_classes = tuple(dict.fromkeys(member.entity for member in members))
    if len(entity_classes) != len(members):
        raise Problem(f"{factory.__name__} names an entity twice", "declare one field for each entity")
    own = {member.entity: member.gives for member in members if member.gives is not member.entity}
    return Shape(
        ShapeKind.COLLECTION, entity_classes, views=own, optional=optional, factory=factory, members=tuple(members)
    )


def _is_entity(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Entity) and value is not Entity


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)
