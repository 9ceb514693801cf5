"""A key of a table or an index is a scalar of its type: what updates and paths may not say of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, n, s
from tests.engine.test_wording import INVALID, KEY, TABLE, V, message


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        create(engine)
        yield engine


@pytest.mark.parametrize(
    ("update", "actual"),
    [("SET g = :n", "N"), ("SET x = :n, g = pk + :n", "N"), ("SET g = list_append(:l, h)", "L"), ("ADD g :n", "N")],
)
def test_an_update_gives_an_index_no_key_of_another_type(engine: Engine, update: str, actual: str) -> None:
    """It doesn't take the item to see it, nor its condition."""
    known = {":n": n(1), ":l": {"L": []}}
    params = {
        **TABLE,
        "Key": KEY,
        "UpdateExpression": update,
        "ConditionExpression": "attribute_exists(pk)",
        "ExpressionAttributeValues": {name: value for name, value in known.items() if name in update},
    }
    told = f"{INVALID}Type mismatch for Index Key g Expected: S Actual: {actual} IndexName: ByG"
    assert message(engine, "UpdateItem", params) == told


def test_what_takes_elements_from_no_set_gives_nothing(engine: Engine) -> None:
    """As in Amazon's own DynamoDB Local; where the index has a key, its type is the wrong operand."""
    values = {"ExpressionAttributeValues": {":set": {"SS": ["x"]}}}
    params = {**TABLE, "Key": KEY, "UpdateExpression": "DELETE g :set", **values}
    engine.call("PutItem", {**TABLE, "Item": KEY})
    assert engine.call("UpdateItem", params) == {}
    engine.call("PutItem", {**TABLE, "Item": {**KEY, "g": {"S": "x"}}})
    assert message(engine, "UpdateItem", params) == "An operand in the update expression has an incorrect data type"


def test_an_older_update_gives_an_index_no_key_of_another_type(engine: Engine) -> None:
    for action in ("PUT", "ADD"):
        updates = {"AttributeUpdates": {"h": {"Action": action, "Value": n(1)}}}
        told = f"{INVALID}Type mismatch for Index Key h Expected: S Actual: N IndexName: ByG"
        assert message(engine, "UpdateItem", {**TABLE, "Key": KEY, **updates}) == told


def test_what_an_update_takes_from_the_item_is_judged_with_it(engine: Engine) -> None:
    engine.call("PutItem", {**TABLE, "Item": {**KEY, "x": n(1)}})
    params = {**TABLE, "Key": KEY, "UpdateExpression": "SET g = x"}
    told = "The update expression attempted to update the secondary index key to unsupported type"
    assert message(engine, "UpdateItem", params) == told


SCALARS = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "


@pytest.mark.parametrize(
    ("operation", "asked"),
    [
        ("GetItem", {**TABLE, "Key": KEY, "ProjectionExpression": "x, {path}"}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY], "ProjectionExpression": "{path}"}}}),
        ("Query", {**TABLE, "KeyConditionExpression": "pk = :v", "ProjectionExpression": "{path}", **V}),
        ("Scan", {**TABLE, "ProjectionExpression": "{path}"}),
        ("Scan", {**TABLE, "FilterExpression": "x = :v OR attribute_exists({path})", **V}),
        ("UpdateItem", {**TABLE, "Key": KEY, "UpdateExpression": "SET x = if_not_exists({path}, :v)", **V}),
    ],
)
@pytest.mark.parametrize(("path", "key"), [("pk[0]", "Key: pk"), ("sk.x.y", "Key: sk"), ("h.x", "IndexKey: h")])
def test_nothing_is_in_a_key(engine: Engine, operation: str, asked: dict[str, Any], path: str, key: str) -> None:
    assert message(engine, operation, filled(asked, path)) == f"{SCALARS}{key}"


def filled(asked: Any, path: str) -> Any:
    """A request with the path in the place of ``{path}``."""
    if isinstance(asked, dict):
        return {name: filled(value, path) for name, value in asked.items()}
    return asked.replace("{path}", path) if isinstance(asked, str) else asked


@pytest.mark.parametrize("update", ["SET g.x = :v", "SET g[1] = :v", "REMOVE g.x", "ADD g.x :v", "DELETE g[0] :v"])
def test_nothing_is_written_in_the_key_of_an_index(engine: Engine, update: str) -> None:
    value = {"SS": ["x"]} if "DELETE" in update else n(1)
    values = {"ExpressionAttributeValues": {":v": value}} if ":v" in update else {}
    params = {**TABLE, "Key": KEY, "UpdateExpression": update, **values}
    assert message(engine, "UpdateItem", params) == f"{SCALARS}IndexKey: g"


def test_a_transaction_tells_of_the_get_that_looks_into_a_key(engine: Engine) -> None:
    get = {"Get": {**TABLE, "Key": KEY, "ProjectionExpression": "g.x"}}
    result = answer(engine, "TransactGetItems", {"TransactItems": [get]})
    assert result["error"] == "TransactionCanceledException"
    assert result["CancellationReasons"] == [{"Code": "ValidationError", "Message": f"{SCALARS}IndexKey: g"}]


@pytest.mark.parametrize(
    ("attributes", "is_refused"),
    [
        ({"h": n(5)}, True),
        ({"h": s("")}, True),
        ({"h": s("x" * 1025)}, True),
        ({"g": s("x" * 2049)}, True),
        ({"g": s("x" * 2048), "h": s("x" * 1024)}, False),
    ],
)
def test_each_attribute_of_an_index_key_has_its_type_and_length(
    engine: Engine, attributes: dict[str, Any], is_refused: bool
) -> None:
    update = {
        "UpdateExpression": "SET " + ", ".join(f"{name} = :{name}" for name in attributes),
        "ExpressionAttributeValues": {f":{name}": value for name, value in attributes.items()},
    }
    for operation, params in (("PutItem", {"Item": {**KEY, **attributes}}), ("UpdateItem", {"Key": KEY, **update})):
        assert ("error" in answer(engine, operation, {**TABLE, **params})) is is_refused
