"""How items are read as a view of their entity, or as no more than what a question needs of them."""

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
    """The entity for a plan whose answer is the view: its keys and fields are the entity's, and its items are read as
    the view.
    """
    stored = [entity.fields[name] for name in view.model_fields]
    reader = CompiledEntity(cast("type[Entity]", view), entity.primary, entity.index_keys, (), (), stored)
    return entity.giving(reader)


def seen_by(entity: CompiledEntity, names: Iterable[str]) -> CompiledEntity:
    """The entity for a plan that needs no more of its items than some fields, or none: their keys tell the rest."""
    fields: Any = {name: (entity.fields[name].annotation, ...) for name in names}
    return seen_as(entity, create_model(entity.name, __base__=View[entity.cls], **fields))  # type: ignore[name-defined]


def asking_for(entity: CompiledEntity, name: str) -> CompiledEntity:
    """The entity with a field's attribute among those that are asked for."""
    attribute = entity.fields[name].attribute
    if entity.asked is None or attribute in entity.asked:
        return entity
    result = copy(entity)
    result.asked = (*entity.asked, attribute)
    return result


def shrunk(instance: Entity | None, view: type[View[Any]] | None) -> Any:
    """The instance as the view has it; itself where there is no view."""
    if view is None:
        return instance
    return view.model_construct(**{name: getattr(instance, name) for name in view.model_fields})
