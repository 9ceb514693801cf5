"""What must hold of every store, whatever was written: each item's keys are those of its fields, nothing is stale,
claims
and owners correspond, sizes keep to the limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from keyplan.dynamodb import values
from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.testing.stored_world import Row, World

__all__ = ["check_invariants"]


def check_invariants(world: World) -> None:
    """Raises AssertionError for the first item that breaks one."""
    for item in world.strangers:
        raise AssertionError(f"an item belongs to no entity and is no claim: {item}")
    for row in world.rows:
        _check_keys(row)
        size = values.item_size(row.item)
        if size > ITEM_BYTES_MAX:
            raise AssertionError(f"an item of {size} bytes was written: {row.instance!r}")
    _check_claims(world)


def _check_keys(row: Row) -> None:
    """Each key attribute holds what the fields say; where the item is no member of a key, there is none."""
    entity, item = row.entity, row.item
    own = {field.attribute for field in entity.fields.values()}
    members = [entity.primary, *(key for key in entity.index_keys if key.member(row.values))]
    wanted: dict[str, Mapping[str, str]] = {}
    for key in members:
        wanted.update(key.item_key(row.values))
    for key in entity.keys:
        for attribute, _ in key.attributes:
            held, expected = item.get(attribute.name), wanted.get(attribute.name)
            if attribute.name in own and attribute.name not in wanted:
                continue
            if not _same(held, expected):
                raise AssertionError(
                    f"the key {key.name} of {row.instance!r} is stale: its attribute {attribute.name} holds "
                    f"{_shown(held)}, and its fields say {_shown(expected)}"
                )


def _same(held: Any, expected: Any) -> bool:
    if held is None or expected is None:
        return held is expected
    if held.keys() == expected.keys() == {"N"}:
        return Decimal(held["N"]) == Decimal(expected["N"])
    return bool(held == expected)


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(next(iter(value.values())))


def _check_claims(world: World) -> None:
    """Every unique value of an item is claimed by it, and there is no other claim."""
    held = {_key_text(item): item for item in world.claims}
    for row in world.rows:
        primary = row.entity.item_key(row.entity.primary, row.values)
        for claim in row.entity.claims:
            if not claim.member(row.values):
                continue
            key = row.entity.item_key(claim, row.values)
            item = held.pop(_key_text(key), None)
            if item is None:
                raise AssertionError(f"{row.instance!r} has no claim of its own at {key}")
            if item["claim_of"] != {"M": primary}:
                raise AssertionError(f"the claim of {row.instance!r} at {key} belongs to {item['claim_of']}")
    for item in held.values():
        raise AssertionError(f"a claim has no owner that holds its value: {item}")


def _key_text(item: Mapping[str, Mapping[str, Any]]) -> str:
    return repr(sorted((name, value) for name, value in item.items() if name != "claim_of"))
