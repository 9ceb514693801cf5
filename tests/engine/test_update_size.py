"""The size of an UpdateItem request has its own limit, besides the limit of the item size (decision 0011)."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import n, s
from tests.engine.test_error_messages import engine, message, transact

__all__ = ["engine"]

LIMIT_BYTES = 409_600


ONE = n(1)
TEN = s("y" * 10)
READ = 15
"""Bytes for a path that is read, in addition to its name."""
SIZE_TO_UPDATE = "Item size to update has exceeded the maximum allowed size"


@pytest.mark.parametrize(
    ("action", "seed", "value", "cost"),
    [
        ("", {}, None, 0),
        ("SET c = :c", {}, TEN, 19 + 1 + 10),
        ("SET c = :c, d = :c", {}, TEN, 2 * (19 + 1 + 10)),
        ("SET #c[0] = :c", {"c": {"L": []}}, TEN, 19 + 1 + 5 + 10),
        ("SET m.leaf = :c", {"m": {"M": {}}}, TEN, 19 + 1 + 8 + 10),
        ("SET c = u", {"u": TEN}, None, 19 + 1 + READ + 1),
        ("SET c = m.z", {"m": {"M": {"z": TEN}}}, None, 19 + 1 + READ + 1 + 15),
        ("SET c = l[10]", {"l": {"L": [s("e")] * 10 + [s("")]}}, None, 19 + 1 + READ + 1 + 16),
        ("SET n = n + :c", {"n": ONE}, ONE, 19 + 1 + 34 + READ + 1 + 2),
        ("SET n = n - :c", {"n": ONE}, ONE, 19 + 1 + 37 + READ + 1 + 2),
        ("SET u = if_not_exists(u, :c)", {"u": TEN}, TEN, 19 + 1 + 39 + READ + 1 + 10),
        ("SET l = list_append(l, :c)", {"l": {"L": []}}, {"L": [TEN]}, 19 + 1 + 37 + READ + 1 + 14),
        ("ADD n :c", {"n": ONE}, ONE, 19 + 1 + 2),
        ("ADD ss :c", {"ss": {"SS": ["p"]}}, {"SS": ["s" * 500]}, 19 + 2 + 500),
        ("REMOVE u", {"u": s("")}, None, 1 + 1),
        ("REMOVE m.z", {"m": {"M": {"z": s("")}}}, None, 1 + 1 + 5),
        ("REMOVE l[10]", {"l": {"L": []}}, None, 1 + 1 + 6),
        ("DELETE ss :c", {"ss": {"SS": ["p", "q"]}}, {"SS": ["q"]}, 1 + 2),
    ],
)
def test_update_request_size_is_limited(
    engine: Engine, action: str, seed: dict[str, Any], value: Any, cost: int
) -> None:
    """Recorded from DynamoDB: the size includes each part of the expression, but no key and no unchanged attribute."""
    expression = f"SET b = :pad, {action[4:]}" if action.startswith("SET") else f"SET b = :pad {action}"
    params: dict[str, Any] = {"TableName": "flat", "Key": {"pk": s("K")}, "UpdateExpression": expression}
    if "#c" in action:
        params["ExpressionAttributeNames"] = {"#c": "c"}
    values = {} if value is None else {":c": value}
    engine.call("PutItem", {"TableName": "flat", "Item": {"pk": s("K"), **seed}})

    def update(size: int, **more: str) -> dict[str, Any]:
        return {**params, "ExpressionAttributeValues": {":pad": s("x" * size), **values}, **more}

    padding = LIMIT_BYTES - 3 - 19 - 1 - cost
    over = update(padding + 1)
    assert message(engine, "UpdateItem", over) == SIZE_TO_UPDATE
    # It is checked before the condition.
    assert message(engine, "UpdateItem", {**over, "ConditionExpression": "attribute_exists(absent)"}) == SIZE_TO_UPDATE
    assert engine.call("UpdateItem", update(padding)) == {}


def test_item_size_is_limited_for_any_update(engine: Engine) -> None:
    long_key = {"TableName": "flat", "Key": {"pk": s("k" * 100)}}
    padding = LIMIT_BYTES - len("pk") - 100 - len("b")
    for size, fits in ((padding + 1, False), (padding, True)):
        value = s("x" * size)
        expression = {"UpdateExpression": "SET b = :b", "ExpressionAttributeValues": {":b": value}}
        # For updates in transactions and legacy parameters, only the size of the item counts.
        legacy = {**long_key, "Key": {"pk": s("o" * 100)}, "AttributeUpdates": {"b": {"Value": value}}}
        in_transaction = {**long_key, "Key": {"pk": s("t" * 100)}, **expression}
        if fits:
            assert engine.call("UpdateItem", {**long_key, **expression}) == {}
            assert engine.call("UpdateItem", legacy) == {}
            assert transact(engine, {"Update": in_transaction}) == {}
        else:
            assert message(engine, "UpdateItem", {**long_key, **expression}) == SIZE_TO_UPDATE
            assert message(engine, "UpdateItem", legacy) == SIZE_TO_UPDATE
            result = transact(engine, {"Update": in_transaction})
            assert result["CancellationReasons"][0]["Message"] == SIZE_TO_UPDATE
    short = {"TableName": "flat", "Key": {"pk": s("K")}}
    fitting = s("x" * (LIMIT_BYTES - len("pkKb")))
    change = {"UpdateExpression": "SET b = :b", "ExpressionAttributeValues": {":b": fitting}}
    assert message(engine, "UpdateItem", {**short, **change}) == SIZE_TO_UPDATE
    assert transact(engine, {"Update": {**short, **change}}) == {}
    assert engine.call("UpdateItem", {**short, "AttributeUpdates": {"b": {"Value": fitting}}}) == {}
