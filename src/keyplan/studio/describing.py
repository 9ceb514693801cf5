"""One item in full: its keys in the table and in each index beside their templates, its attributes, what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyplan.dynamodb.values import item_size
from keyplan.errors import KeyplanError
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.studio.collections import sharded
from keyplan.studio.drawing import COLOURS
from keyplan.studio.items import (
    Item,
    Kind,
    attribute_text,
    identity,
    key_of,
    kind_of,
    pieces,
    place_attributes,
    plain_pieces,
)
from keyplan.studio.subject import Subject

__all__ = ["colour_of", "item_json"]


def item_json(subject: Subject, item: Item) -> dict[str, Any]:
    """The item as JSON data."""
    kind = kind_of(item, subject.compiled, subject.table)
    places = [_place(subject, kind, item, "the table", None)]
    for index in subject.table.indexes:
        partition, sort = place_attributes(subject.table, index)
        if all(attribute.name in item for attribute in (*partition, *sort)):
            places.append(_place(subject, kind, item, index.name, index.name))
    return {
        "id": identity(key_of(item, subject.table)),
        "key": key_of(item, subject.table),
        "partition": item.get(subject.table.partition.name),
        "kind": kind.label,
        "entity": kind.entity.name if kind.role == "entity" and kind.entity is not None else None,
        "colour": colour_of(subject, kind),
        "keys": places,
        "item": item,
        "bytes": item_size({name: dict(value) for name, value in item.items()}),
        "fault": _fault(kind, item),
    }


def colour_of(subject: Subject, kind: Kind) -> int:
    """The colour that the map has for an entity; the last one for what has none of its own."""
    design = subject.compiled
    if design is None or kind.role != "entity" or kind.entity is None:
        return COLOURS - 1
    return [entity.name for entity in design.entities.values()].index(kind.entity.name) % COLOURS


def _place(subject: Subject, kind: Kind, item: Item, title: str, index: str | None) -> dict[str, Any]:
    result = next((element for element in subject.table.indexes if element.name == index), None)
    partition, sort = place_attributes(subject.table, result)
    key = _key(kind, index, item)
    templates = {} if key is None else {attribute.name: template for attribute, template in key.attributes}
    attributes: list[dict[str, Any]] = []
    for position, attribute in enumerate((*partition, *sort)):
        template = templates.get(attribute.name)
        text = attribute_text(item[attribute.name])
        is_sharded = sharded(key) and not position
        parts = plain_pieces(text) if template is None else pieces(text, template, sharded=is_sharded)
        attributes.append(
            {
                "name": attribute.name,
                "pieces": [piece.as_json() for piece in parts],
                "template": None if template is None else str(template),
            }
        )
    return {"place": title, "attributes": attributes, "attribute_names": _names((*partition, *sort))}


def _names(attributes: Sequence[KeyAttribute]) -> list[str]:
    return [attribute.name for attribute in attributes]


def _key(kind: Kind, index: str | None, item: Item) -> CompiledKey | None:
    if index is None:
        return kind.key
    if kind.entity is None or kind.role != "entity":
        return None
    return kind.entity.key_on(index, item)


def _fault(kind: Kind, item: Item) -> str | None:
    """Why the item can't be read as its entity; None where it can."""
    if kind.role == "none":
        return "Its key fits no entity of the design."
    if kind.role != "entity" or kind.entity is None:
        return None
    try:
        kind.entity.from_item(item)
    except KeyplanError as error:
        return str(error)
    return None
