"""An item whose attributes don't fit its entity: no read may leave it out, or return it with other values."""

from __future__ import annotations

from random import Random
from typing import Any

from keyplan.errors import InvalidItemError, ItemNotFound
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared.parameters import InvalidItem, Page
from keyplan.model.stored.stored_entity import shrunk
from keyplan.session.design import Design
from keyplan.testing.oracle import filtered_attributes
from keyplan.testing.stored_world import Item, Row, World

__all__ = ["check_invalid_item"]

CALLS = 40
INVALID: tuple[dict[str, Any], ...] = ({"M": {}}, {"S": "?"}, {"N": "0.5"}, {"BOOL": True})


def check_invalid_item(
    design: Design, world: World, calls: list[tuple[str, dict[str, Any], Any]], choice: Random
) -> None:
    """Give one item an attribute of another type, and repeat ``calls`` (pattern, arguments, result).

    Each must return what it returned, with an ``InvalidItem`` for the item if its type includes it, or raise
    InvalidItemError. Raises AssertionError otherwise.
    """
    result = _invalid(design, world, choice)
    if result is None:
        return
    row, item = result
    table = design.store.table_name
    design.store.transport.call("PutItem", {"TableName": table, "Item": item})
    key = row.entity.item_key(row.entity.primary, row.values)
    for name, arguments, before in choice.sample(calls, min(CALLS, len(calls))):
        pattern = design.compiled.reads[name]
        try:
            got = _answer(design, pattern, arguments)
        except InvalidItemError as error:
            if next(iter(next(iter(key.values())).values())) not in str(error):
                raise AssertionError(f"{pattern.place}({arguments}): {error!r} doesn't name the item {key}") from error
            continue
        if _with(got, row, pattern) != before:
            raise AssertionError(
                f"{pattern.place}({arguments}) neither raises InvalidItemError nor returns what it did before the item "
                f"{key} became invalid: {item}\n  before: {before!r}\n  got: {got!r}"
            )
    design.store.transport.call("PutItem", {"TableName": table, "Item": row.item})


def _invalid(design: Design, world: World, choice: Random) -> tuple[Row, Item] | None:
    """A row, and its item with an attribute that its field can't read: of a field that no key and no filter uses."""
    compiled = design.compiled
    used = {name for pattern in compiled.reads.values() for name in filtered_attributes(pattern)}
    for row in choice.sample(world.rows, len(world.rows)):
        entity = row.entity
        keyed = {name for key in (*entity.keys, *entity.claims) for name in (*key.fields, *entity.inputs_of(key))}
        attributes = [
            field.attribute for name, field in entity.fields.items() if not {name, field.attribute} & {*keyed, *used}
        ]
        for attribute in choice.sample(attributes, len(attributes)):
            for value in INVALID if attribute in row.item else ():
                item = {**row.item, attribute: value}
                try:
                    entity.from_item(item)
                except InvalidItemError:
                    return row, item
    return None


def _answer(design: Design, pattern: ReadPattern, arguments: dict[str, Any]) -> Any:
    try:
        if pattern.shape.kind is ShapeKind.ITERATOR:
            return list(design.stream(pattern.name, (), arguments))
        return design.run_read(pattern.name, (), arguments)
    except ItemNotFound:
        return None


def _with(got: Any, row: Row, pattern: ReadPattern) -> Any:
    """The result with the item as it was in place of an InvalidItem."""
    valid = shrunk(row.instance, pattern.shape.views.get(type(row.instance)))
    if isinstance(got, InvalidItem):
        return valid
    if isinstance(got, list):
        return [valid if isinstance(each, InvalidItem) else each for each in got]
    if isinstance(got, Page):
        return Page(_with(got.items, row, pattern), got.cursor)
    return got
