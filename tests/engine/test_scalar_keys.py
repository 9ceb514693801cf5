"""Key attributes have a declared scalar type. Updates and paths that need another type are rejected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, n, s
from tests.engine.test_error_messages import INVALID, KEY, TABLE, V, message


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        create(engine)
        yield engine


@pytest.mark.parametrize(
    ("update", "actual"),
    [("SET g = :n", "N"), ("SET x = :n, g = pk + :n", "N"), ("SET g = list_append(:l, h)", "L"), ("ADD g :n", "N")],
)
def test_update_with_a_wrong_index_key_type_is_rejected(engine: Engine, update: str, actual: str) -> None:
    """The update is rejected before the item is read and before the condition is evaluated."""
    known = {":n": n(1), ":l": {"L": []}}
    params = {
        **TABLE,
        "Key": KEY,
        "UpdateExpression": update,
        "ConditionExpression": "attribute_exists(pk)",
        "ExpressionAttributeValues": {name: value for name, value in known.items() if name in update},
    }
    expected = f"{INVALID}Type mismatch for Index Key g Expected: S Actual: {actual} IndexName: ByG"
    assert message(engine, "UpdateItem", params) == expected


def test_delete_action_on_a_missing_index_key_attribute_does_nothing(engine: Engine) -> None:
    """DELETE from an existing key attribute is rejected because of the operand type, as in DynamoDB Local."""
    values = {"ExpressionAttributeValues": {":set": {"SS": ["x"]}}}
    params = {**TABLE, "Key": KEY, "UpdateExpression": "DELETE g :set", **values}
    engine.call("PutItem", {**TABLE, "Item": KEY})
    assert engine.call("UpdateItem", params) == {}
    engine.call("PutItem", {**TABLE, "Item": {**KEY, "g": {"S": "x"}}})
    assert message(engine, "UpdateItem", params) == "An operand in the update expression has an incorrect data type"


def test_attribute_update_with_a_wrong_index_key_type_is_rejected(engine: Engine) -> None:
    for action in ("PUT", "ADD"):
        updates = {"AttributeUpdates": {"h": {"Action": action, "Value": n(1)}}}
        expected = f"{INVALID}Type mismatch for Index Key h Expected: S Actual: N IndexName: ByG"
        assert message(engine, "UpdateItem", {**TABLE, "Key": KEY, **updates}) == expected


def test_update_that_copies_an_attribute_of_a_wrong_type_to_an_index_key_is_rejected(engine: Engine) -> None:
    engine.call("PutItem", {**TABLE, "Item": {**KEY, "x": n(1)}})
    params = {**TABLE, "Key": KEY, "UpdateExpression": "SET g = x"}
    expected = "The update expression attempted to update the secondary index key to unsupported type"
    assert message(engine, "UpdateItem", params) == expected


SCALARS = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "


@pytest.mark.parametrize(
    ("operation", "template"),
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
def test_nested_paths_in_key_attributes_are_rejected(
    engine: Engine, operation: str, template: dict[str, Any], path: str, key: str
) -> None:
    assert message(engine, operation, filled(template, path)) == f"{SCALARS}{key}"


def filled(template: Any, path: str) -> Any:
    """Return the request with ``{path}`` replaced by ``path``."""
    if isinstance(template, dict):
        return {name: filled(value, path) for name, value in template.items()}
    return template.replace("{path}", path) if isinstance(template, str) else template


@pytest.mark.parametrize("update", ["SET g.x = :v", "SET g[1] = :v", "REMOVE g.x", "ADD g.x :v", "DELETE g[0] :v"])
def test_updates_of_nested_paths_in_index_key_attributes_are_rejected(engine: Engine, update: str) -> None:
    value = {"SS": ["x"]} if "DELETE" in update else n(1)
    values = {"ExpressionAttributeValues": {":v": value}} if ":v" in update else {}
    params = {**TABLE, "Key": KEY, "UpdateExpression": update, **values}
    assert message(engine, "UpdateItem", params) == f"{SCALARS}IndexKey: g"


def test_transaction_reports_a_nested_path_in_a_key_attribute(engine: Engine) -> None:
    get = {"Get": {**TABLE, "Key": KEY, "ProjectionExpression": "g.x"}}
    result = answer(engine, "TransactGetItems", {"TransactItems": [get]})
    assert result["error"] == "TransactionCanceledException"
    assert result["CancellationReasons"] == [{"Code": "ValidationError", "Message": f"{SCALARS}IndexKey: g"}]


@pytest.mark.parametrize(
    ("attributes", "is_rejected"),
    [
        ({"h": n(5)}, True),
        ({"h": s("")}, True),
        ({"h": s("x" * 1025)}, True),
        ({"g": s("x" * 2049)}, True),
        ({"g": s("x" * 2048), "h": s("x" * 1024)}, False),
    ],
)
def test_index_key_attributes_must_have_the_declared_type_and_a_valid_length(
    engine: Engine, attributes: dict[str, Any], is_rejected: bool
) -> None:
    update = {
        "UpdateExpression": "SET " + ", ".join(f"{name} = :{name}" for name in attributes),
        "ExpressionAttributeValues": {f":{name}": value for name, value in attributes.items()},
    }
    for operation, params in (("PutItem", {"Item": {**KEY, **attributes}}), ("UpdateItem", {"Key": KEY, **update})):
        assert ("error" in answer(engine, operation, {**TABLE, **params})) is is_rejected
