"""View: some fields of an entity.

A view has no keys and is never written. The fields of a view have the entity's stored names, defaults and validators,
so a view declares only names and types. ``keyplan.model.stored.stored_entity`` reads items as views, and plans set the
projection expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Generic, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeVar

from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import unaliased
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key

EntityT = TypeVar("EntityT", bound=Entity)


class View(BaseModel, Generic[EntityT]):
    """Some fields of an entity, for patterns that need no other fields: ``class OrderRow(View[Order])``.

    ::

        class OrderRow(View[Order]):
            order_id: str
            status: str

        @read("AP7")
        def orders(self, customer: str) -> list[OrderRow]: ...

    Each field is the entity's field with this name and type. Reads project only the attributes of the view (which
    reduces transfer; reads are billed by whole items), and an index with only the attributes of the view is sufficient.
    """

    model_config: ClassVar[ConfigDict] = Entity.model_config

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        entity = entity_of_view(cls)
        if entity is not None and cls.model_fields:
            _take_fields(cls, entity)

    @classmethod
    def model_projection(cls, index: Index) -> tuple[str, ...]:
        """The attributes that an index must include for the view: those of the view's fields that the keys of the table
        or of the index don't contain completely.
        """
        entity = entity_of_view(cls)
        keys = [] if entity is None else [var for base in entity.__mro__ for var in vars(base).values()]
        own = [key for key in keys if isinstance(key, Key) and (key.index is None or key.index.name == index.name)]
        held = {name for key in own for source in (*key.partition, *key.sort) for name in _whole_in(source)}
        infos = cls.model_fields.items()
        return tuple(info.serialization_alias or info.alias or name for name, info in infos if name not in held)


def _whole_in(source: str) -> Iterator[str]:
    """The fields that a template contains completely: without a format, or with one for numbers or ranks."""
    for name, spec in re.findall(r"\{(\w+):?([^{}]*)\}", source):
        if not spec.startswith(("%", "ms", "s")):
            yield name


def is_view(value: Any) -> bool:
    """Whether a class is a view of an entity."""
    return isinstance(value, type) and issubclass(value, View) and value is not View


def entity_of_view(view: type[View[Any]]) -> type[Entity] | None:
    """The entity of a view; None if the view doesn't name an entity."""
    for base in view.__mro__:
        if base is not View and issubclass(base, View):
            arguments = base.__pydantic_generic_metadata__["args"]
            if arguments and isinstance(arguments[0], type) and issubclass(arguments[0], Entity):
                return arguments[0]
    return None


def _take_fields(view: type[View[Any]], entity: type[Entity]) -> None:
    """Replace a view's fields by the entity's, with their aliases, defaults, constraints, validators and serializers.
    The compiler compares the declared types.
    """
    written = {name: info.annotation for name, info in view.model_fields.items()}
    view.__written__ = {**getattr(view, "__written__", {}), **written}  # type: ignore[attr-defined]
    for name in written.keys() & entity.model_fields.keys():
        view.__pydantic_fields__[name] = entity.model_fields[name]
    own, theirs = view.__pydantic_decorators__, entity.__pydantic_decorators__
    for kind in ("field_validators", "field_serializers", "validators"):
        for name, value in getattr(theirs, kind).items():
            fields = tuple(field for field in value.info.fields if field == "*" or field in written)
            if fields:
                getattr(own, kind)[name] = replace(value, info=replace(value.info, fields=fields))
    view.model_rebuild(force=True)


def types_in(view: type[View[Any]]) -> dict[str, Any]:
    """The declared types of a view's fields."""
    return dict(getattr(view, "__written__", {}))


def views_in(annotation: Any) -> Iterator[type[View[Any]]]:
    """All views in an annotation, including NamedTuples."""
    annotation = unaliased(annotation)
    if is_view(annotation):
        yield annotation
    named = isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields")
    for part in get_type_hints(annotation).values() if named else get_args(annotation):
        yield from views_in(part)
