"""What a pattern's return type asks for: one item, a page, a list, an iterator, or an item collection."""

from __future__ import annotations

import collections.abc
import types
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from keyplan.design.declared.entity import Entity
from keyplan.design.declared.parameters import Page
from keyplan.design.declared.problems import Problem

__all__ = ["Member", "Shape", "ShapeKind", "shape_of"]


class ShapeKind(Enum):
    """The kinds of answers."""

    ONE = "one"
    PAGE = "page"
    LIST = "list"
    ITERATOR = "iterator"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class Member:
    """One field of a collection's NamedTuple: an entity, an optional one, or a list of them."""

    name: str
    entity: type[Entity]
    many: bool
    optional: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an answer and the entities in it. ``optional``: None is an answer."""

    kind: ShapeKind
    entities: tuple[type[Entity], ...]
    optional: bool = False
    factory: Any = None
    members: tuple[Member, ...] = ()

    @property
    def many(self) -> bool:
        """Whether the answer is a run of items."""
        return self.kind in {ShapeKind.PAGE, ShapeKind.LIST, ShapeKind.ITERATOR}


_ITERATORS = {
    collections.abc.Iterator,
    collections.abc.AsyncIterator,
    collections.abc.Iterable,
    collections.abc.AsyncIterable,
}


def shape_of(annotation: Any) -> Shape:
    """The shape of a return annotation. Raises Problem for one that is none of ours."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return shape_of(get_args(annotation)[0])
    arguments = get_args(annotation)
    if origin is Page:
        return Shape(ShapeKind.PAGE, entities_of(arguments[0]))
    if origin is list:
        return Shape(ShapeKind.LIST, entities_of(arguments[0]))
    if origin in _ITERATORS:
        return Shape(ShapeKind.ITERATOR, entities_of(arguments[0]))
    optional = origin in {Union, types.UnionType} and type(None) in arguments
    kinds = [one for one in arguments if one is not type(None)] if optional else [annotation]
    if len(kinds) == 1 and _is_entity(kinds[0]):
        return Shape(ShapeKind.ONE, (kinds[0],), optional=optional)
    if len(kinds) == 1 and _is_named_tuple(kinds[0]):
        return _collection(kinds[0], optional=optional)
    raise Problem(
        f"the return type {_name(annotation)} says nothing that can be read",
        "return Entity, Entity | None, Page[Entity], list[Entity], Iterator[Entity], or a NamedTuple of them",
    )


def entities_of(annotation: Any) -> tuple[type[Entity], ...]:
    """The entities of an item type: one, or a union of several. Raises Problem."""
    parts = get_args(annotation) if get_origin(annotation) in {Union, types.UnionType} else (annotation,)
    if not parts or not all(_is_entity(part) for part in parts):
        raise Problem(f"{_name(annotation)} isn't an entity, nor a union of entities")
    return parts


def _collection(factory: Any, *, optional: bool) -> Shape:
    members: list[Member] = []
    for name, annotation in get_type_hints(factory, include_extras=True).items():
        if get_origin(annotation) is list:
            members.extend(
                Member(name, entity, many=True, optional=False) for entity in entities_of(get_args(annotation)[0])
            )
            continue
        inner = shape_of(annotation)
        if inner.kind is not ShapeKind.ONE:
            raise Problem(f"{factory.__name__}.{name} is neither an entity nor a list of them")
        members.append(Member(name, inner.entities[0], many=False, optional=inner.optional))
    entities = tuple(dict.fromkeys(member.entity for member in members))
    if len(entities) != len(members):
        raise Problem(f"{factory.__name__} names an entity twice", "each entity of a collection has one field")
    return Shape(ShapeKind.COLLECTION, entities, optional=optional, factory=factory, members=tuple(members))


def _is_entity(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Entity) and value is not Entity


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)
