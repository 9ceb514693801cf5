"""Limits of items, pages, batches and transactions, and the number of SQL statements per operation."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.values import item_size
from keyplan.store import Engine
from tests.engine.support import answer, binary, create, get, index, keyed, n, pages, put, s

KIB = 1024


def sized(pk: str, sk: str, size: int) -> dict[str, Any]:
    """Return an item of ``size`` bytes."""
    item = {"pk": s(pk), "sk": s(sk), "x": s("")}
    item["x"] = s("x" * (size - item_size(item)))
    return item


def write(engine: Engine, item: dict[str, Any]) -> dict[str, Any]:
    return answer(engine, "PutItem", {"TableName": "orders", "Item": item})


def test_item_size_limit_is_400_kib(engine: Engine) -> None:
    create(engine)
    assert write(engine, sized("a", "1", 400 * KIB)) == {}
    assert write(engine, sized("a", "1", 400 * KIB + 1))["message"] == (
        "Item size has exceeded the maximum allowed size"
    )
    update = {
        "TableName": "orders",
        "Key": {"pk": s("a"), "sk": s("1")},
        "UpdateExpression": "SET y = :y",
        "ExpressionAttributeValues": {":y": s("y")},
    }
    assert answer(engine, "UpdateItem", update)["message"] == (
        "Item size to update has exceeded the maximum allowed size"
    )
    item = get(engine, "a", "1")
    assert item is not None
    assert "y" not in item


@pytest.mark.parametrize("table", ["orders", "missing"])
def test_oversized_item_is_reported_before_a_missing_table_or_an_invalid_key(engine: Engine, table: str) -> None:
    create(engine)
    item = {"x": s("x" * 400 * KIB)}
    small = {"PutRequest": {"Item": {"x": s("x")}}}
    for operation, params in (
        ("PutItem", {"TableName": table, "Item": item, "ConditionExpression": "x ="}),
        ("BatchWriteItem", {"RequestItems": {table: [small, {"PutRequest": {"Item": item}}]}}),
        ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": table, "Item": item}}]}),
    ):
        refused = answer(engine, operation, params)
        assert refused["error"] == "ValidationException"
        assert refused["message"] == "Item size has exceeded the maximum allowed size", operation


@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize("limit", [None, 5, 100])
def test_query_page_ends_with_the_item_that_reaches_1_mib(engine: Engine, operation: str, limit: int | None) -> None:
    create(engine)
    for number in range(5):
        write(engine, sized("a", str(number), 256 * KIB))
    params: dict[str, Any] = {"TableName": "orders", "ReturnConsumedCapacity": "TOTAL", "Limit": limit}
    if operation == "Query":
        params |= {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("a")}}
    page = engine.call(operation, params)
    assert page["Count"] == 4
    assert page["LastEvaluatedKey"] == {"pk": s("a"), "sk": s("3")}
    assert page["ConsumedCapacity"]["CapacityUnits"] == 128
    assert len(pages(engine, operation, params)) == 5


def test_items_that_the_filter_removes_count_toward_the_page_size(engine: Engine) -> None:
    create(engine)
    for number in range(6):
        write(engine, sized("a", str(number), 256 * KIB))
    page = engine.call(
        "Scan", {"TableName": "orders", "FilterExpression": "y = :y", "ExpressionAttributeValues": {":y": n(1)}}
    )
    assert (page["Count"], page["ScannedCount"], page["Items"]) == (0, 4, [])
    assert page["LastEvaluatedKey"]["sk"] == s("3")


def test_batch_get_returns_at_most_16_mib(engine: Engine) -> None:
    create(engine)
    for number in range(45):
        write(engine, sized("a", f"{number}", 400 * KIB))
    keys = [{"pk": s("a"), "sk": s(f"{number}")} for number in range(45)]
    remaining: dict[str, Any] = {"orders": {"Keys": keys, "ConsistentRead": True}}
    rounds = []
    while remaining:
        page = engine.call("BatchGetItem", {"RequestItems": remaining})
        rounds.append(len(page["Responses"]["orders"]))
        remaining = page["UnprocessedKeys"]
        assert all(each["ConsistentRead"] is True for each in remaining.values())
    assert rounds == [40, 5]


def test_transaction_size_limit_is_4_mib(engine: Engine) -> None:
    create(engine)

    def transact(count: int) -> dict[str, Any]:
        puts = [{"Put": {"TableName": "orders", "Item": sized("a", f"{number}", 400 * KIB)}} for number in range(count)]
        return answer(engine, "TransactWriteItems", {"TransactItems": puts})

    assert transact(10) == {}
    assert "payload size cannot exceed 4MB" in transact(11)["message"]


def statements(engine: Engine, operation: str, params: dict[str, Any]) -> int:
    before = engine.statements
    engine.call(operation, params)
    return engine.statements - before


def test_each_operation_runs_the_expected_number_of_sql_statements(engine: Engine) -> None:
    create(engine)
    key = {"pk": s("a"), "sk": s("1")}
    indexed = {**key, "g": s("g"), "h": s("h")}
    query = {"TableName": "orders", "ExpressionAttributeValues": {":v": s("g")}}
    by_index = {**query, "IndexName": "ByG", "KeyConditionExpression": "g = :v"}
    assert statements(engine, "PutItem", {"TableName": "orders", "Item": indexed}) == 5
    assert statements(engine, "GetItem", {"TableName": "orders", "Key": key}) == 1
    assert statements(engine, "Query", {**query, "KeyConditionExpression": "pk = :v"}) == 1
    assert statements(engine, "Query", by_index) == 1
    assert statements(engine, "Query", {**by_index, "Limit": 1}) == 1
    assert statements(engine, "Scan", {"TableName": "orders"}) == 1
    # The same item again: only the lookup runs.
    assert statements(engine, "PutItem", {"TableName": "orders", "Item": indexed}) == 3
    # An attribute outside the index key: the index entry isn't written.
    assert statements(engine, "PutItem", {"TableName": "orders", "Item": {**indexed, "x": n(1)}}) == 4
    # Another sort key in the index: the entry is deleted and inserted.
    assert statements(engine, "PutItem", {"TableName": "orders", "Item": {**indexed, "h": s("i")}}) == 6
    assert statements(engine, "DeleteItem", {"TableName": "orders", "Key": key}) == 5
    keys = {"Keys": [{"pk": s("a"), "sk": s(str(number))} for number in range(10)]}
    assert statements(engine, "BatchGetItem", {"RequestItems": {"orders": keys}}) == 10


def test_index_entry_with_an_unchanged_key_is_updated_by_one_sql_statement(engine: Engine) -> None:
    """The write changes the size of the projected item, but not the key."""
    with_x = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}
    create(engine, GlobalSecondaryIndexes=[index("All", "g", "h"), {**index("WithX", "g", "h"), "Projection": with_x}])
    indexed = {"pk": s("a"), "sk": s("1"), "g": s("g"), "h": s("h")}
    put = {"TableName": "orders", "Item": {**indexed, "x": n(1)}}
    engine.call("PutItem", put)
    untouched = statements(engine, "PutItem", {**put, "Item": {**indexed, "x": n(2)}})
    assert statements(engine, "PutItem", {**put, "Item": {**indexed, "x": n(12_345)}}) == untouched + 1
    assert engine.check() == []


def test_repeated_idempotent_transaction_consumes_read_capacity(engine: Engine) -> None:
    create(engine)
    request = {
        "TransactItems": [{"Put": {"TableName": "orders", "Item": sized("a", "1", 5 * KIB)}}],
        "ClientRequestToken": "t",
        "ReturnConsumedCapacity": "TOTAL",
    }
    first, again = (engine.call("TransactWriteItems", request)["ConsumedCapacity"] for _ in range(2))
    assert first == [{"TableName": "orders", "CapacityUnits": 10.0, "WriteCapacityUnits": 10.0}]
    assert again == [{"TableName": "orders", "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}]


@pytest.mark.parametrize("last", ["\ud7ff", "\ue000", "\U0010ffff", "a\U0010ffff", "\x7f", "\uffff"])
def test_begins_with_supports_prefixes_that_end_in_any_character(engine: Engine, last: str) -> None:
    """The character after the last one may not exist: after U+10FFFF, or in the range of surrogates."""
    create(engine)
    sorts = ["", "a", last, f"{last}a", f"{last}\U0010ffff", "\ud7ff", "\ue000", "\U00010000", "zz"]
    for sk in sorts:
        put(engine, "p", f"x{sk}")
    result = engine.call(
        "Query",
        {
            "TableName": "orders",
            "KeyConditionExpression": "pk = :p AND begins_with(sk, :s)",
            "ExpressionAttributeValues": {":p": s("p"), ":s": s(f"x{last}")},
        },
    )["Items"]
    wanted = {f"x{sk}" for sk in sorts if sk.startswith(last)}
    assert [item["sk"]["S"] for item in result] == sorted(wanted, key=str.encode)


@pytest.mark.parametrize("last", [b"\x00", b"\xfe", b"\xff", b"a\xff\xff"])
def test_begins_with_supports_prefixes_that_end_in_any_byte(engine: Engine, last: bytes) -> None:
    create(engine, **keyed(pk="S", sk="B"))
    sorts = [b"a", last, last + b"a", last + b"\xff", b"\xff\xff", b"\xfe\xff", b"\x00\x01", b"b"]
    for sk in set(sorts):
        write(engine, {"pk": s("p"), "sk": binary(sk)})
    query = {
        "TableName": "orders",
        "KeyConditionExpression": "pk = :p AND begins_with(sk, :s)",
        "ExpressionAttributeValues": {":p": s("p"), ":s": binary(last)},
    }
    wanted = sorted(sk for sk in set(sorts) if sk.startswith(last))
    assert [item["sk"] for item in engine.call("Query", query)["Items"]] == list(map(binary, wanted))


def test_empty_index_key_value_is_rejected(engine: Engine) -> None:
    """Query's message contains the index name; PartiQL's message contains only the attribute."""
    create(engine)
    begin = "One or more parameter values are not valid. "
    empty = "The AttributeValue for a key attribute cannot contain an empty string value. "
    for name, condition in (("g", "g = :e"), ("h", "g = :x AND h = :e"), ("h", "g = :x AND h BETWEEN :e AND :x")):
        values = {":e": s(""), **({":x": s("x")} if ":x" in condition else {})}
        query = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
        message = answer(engine, "Query", {"TableName": "orders", "IndexName": "ByG", **query})["message"]
        of_index = "A value specified for a secondary index key is not supported. "
        assert message == f"{begin}{of_index}{empty}IndexName: ByG, IndexKey: {name}"
    statement = {"Statement": "SELECT * FROM orders.ByG WHERE g = ''"}
    assert answer(engine, "ExecuteStatement", statement)["message"] == f"{begin}{empty}Key: g"
