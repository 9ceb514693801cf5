"""A transaction that was done before is answered again, with nothing written; and what is asked of one is told."""

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
def test_collections_are_told_of_when_asked_and_when_something_was_written(engine: Engine, size: bool) -> None:
    with_collections(engine)
    asked: dict[str, Any] = {
        "TransactItems": [{"Put": {"TableName": "orders", "Item": ITEM}}],
        "ClientRequestToken": "t",
        "ReturnItemCollectionMetrics": "SIZE" if size else "NONE",
    }
    first = answer(engine, "TransactWriteItems", asked)
    assert ("ItemCollectionMetrics" in first) is size
    assert answer(engine, "TransactWriteItems", asked) == {}


def test_keys_twice_are_told_of_before_a_table_that_is_not_there(engine: Engine) -> None:
    for keys in ([{"pk": s("a")}, {"pk": s("a")}], [{"pk": s("a")}, {"pk": n(1)}, {"pk": n(1)}]):
        refused = answer(engine, "BatchGetItem", {"RequestItems": {"none": {"Keys": keys}}})
        assert refused["message"] == DUPLICATES
    apart = {"Keys": [{"pk": s("a")}, {"pk": n(1)}]}
    assert answer(engine, "BatchGetItem", {"RequestItems": {"none": apart}})["error"].endswith("NotFoundException")


def test_what_is_written_together_is_answered_each(engine: Engine) -> None:
    """With one commit for all of it."""
    create(engine)
    key = {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}, "ReturnValues": "ALL_NEW"}
    add = {"UpdateExpression": "ADD c :c", "ExpressionAttributeValues": {":c": n(1)}}
    answers = engine.call_together([("UpdateItem", {**key, **add})] * 2)
    assert [isinstance(each, dict) and each["Attributes"]["c"] for each in answers] == [n(1), n(2)]
