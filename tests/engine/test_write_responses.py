"""Responses to writes: item collection metrics, duplicate keys, group commits and large batches."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, index, n, s

ITEM = {"pk": s("a"), "sk": s("1"), "l": s("l")}
DUPLICATES = "Provided list of item keys contains duplicates"


def with_collections(engine: Engine) -> None:
    create(
        engine,
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "h", "l")],
        LocalSecondaryIndexes=[index("ByL", "pk", "l")],
    )


@pytest.mark.parametrize("size", [True, False])
def test_item_collection_metrics_are_returned_on_request_for_writes(engine: Engine, size: bool) -> None:
    with_collections(engine)
    request: dict[str, Any] = {
        "TransactItems": [{"Put": {"TableName": "orders", "Item": ITEM}}],
        "ClientRequestToken": "t",
        "ReturnItemCollectionMetrics": "SIZE" if size else "NONE",
    }
    first = answer(engine, "TransactWriteItems", request)
    assert ("ItemCollectionMetrics" in first) is size
    assert answer(engine, "TransactWriteItems", request) == {}


def test_duplicate_keys_in_a_batch_get_are_reported_before_a_missing_table(engine: Engine) -> None:
    for keys in ([{"pk": s("a")}, {"pk": s("a")}], [{"pk": s("a")}, {"pk": n(1)}, {"pk": n(1)}]):
        refused = answer(engine, "BatchGetItem", {"RequestItems": {"none": {"Keys": keys}}})
        assert refused["message"] == DUPLICATES
    apart = {"Keys": [{"pk": s("a")}, {"pk": n(1)}]}
    assert answer(engine, "BatchGetItem", {"RequestItems": {"none": apart}})["error"].endswith("NotFoundException")


def test_group_commit_returns_a_separate_result_for_each_write(engine: Engine) -> None:
    """All writes of the group are in one commit."""
    create(engine)
    key = {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}, "ReturnValues": "ALL_NEW"}
    add = {"UpdateExpression": "ADD c :c", "ExpressionAttributeValues": {":c": n(1)}}
    answers = engine.call_together([("UpdateItem", {**key, **add})] * 2)
    assert [isinstance(each, dict) and each["Attributes"]["c"] for each in answers] == [n(1), n(2)]


def test_large_batch_is_written_in_several_transactions(engine: Engine) -> None:
    """Other clients can write between transactions: 25 items of 390 KB take five, each with BEGIN and COMMIT."""
    create(engine)

    def statements(text: str) -> int:
        items = [{"PutRequest": {"Item": {"pk": s("a"), "sk": s(str(n)), "text": s(text)}}} for n in range(25)]
        before = engine.statements
        assert engine.call("BatchWriteItem", {"RequestItems": {"orders": items}}) == {"UnprocessedItems": {}}
        return engine.statements - before

    assert statements("x" * 390_000) == statements("x") + 4 * 2
