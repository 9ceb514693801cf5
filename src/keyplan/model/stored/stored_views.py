"""Reading items as a view of their entity, or only the attributes that a pattern needs."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, cast

from pydantic import create_model

from keyplan.model.declared.entity import Entity
from keyplan.model.declared.views import View
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["asking_for", "seen_as", "seen_by", "shrunk"]


def seen_as(entity: CompiledEntity, view: type[View[Any]]) -> CompiledEntity:
    """The entity for a plan whose result is the view: with its keys and fields, and items read as the view."""
    stored = [entity.fields[name] for name in view.model_fields]
    reader = CompiledEntity(cast("type[Entity]", view), entity.primary, entity.index_keys, (), (), stored)
    return entity.giving(reader)


def seen_by(entity: CompiledEntity, names: Iterable[str]) -> CompiledEntity:
    """The entity for a plan that needs only some fields of its items, or only their keys."""
    fields: Any = {name: (entity.fields[name].annotation, ...) for name in names}
    return seen_as(entity, create_model(entity.name, __base__=View[entity.cls], **fields))  # type: ignore[name-defined]


def asking_for(entity: CompiledEntity, name: str) -> CompiledEntity:
    """The entity with a field's attribute added to the projection."""
    attribute = entity.fields[name].attribute
    if entity.asked is None or attribute in entity.asked:
        return entity
    result = copy(entity)
    result.asked = (*entity.asked, attribute)
    return result


def shrunk(instance: Entity | None, view: type[View[Any]] | None) -> Any:
    """The instance as the view; unchanged without a view."""
    if view is None:
        return instance
    return view.model_construct(**{name: getattr(instance, name) for name in view.model_fields})
