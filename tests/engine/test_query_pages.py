"""All pages of a Query together contain the result of the Query without a limit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.scenarios import attributes
from tests.engine.support import create, index, put, s

CONDITIONS = {
    "orders": [
        "pk = :p", "pk = :p AND sk = :s", "pk = :p AND sk > :s", "pk = :p AND sk <= :s",
        "pk = :p AND begins_with(sk, :s)"
    ],
    "orders ByG": ["g = :p", "g = :p AND h = :s", "g = :p AND h >= :s", "g = :p AND h BETWEEN :s AND :s"],
    "orders ByH": ["pk = :p", "pk = :p AND h < :s"],
    "single": ["pk = :p"],
    "single OfG": ["g = :p"],
}  # fmt: skip


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as opened:
        create(opened, LocalSecondaryIndexes=[index("ByH", "pk", "h")])
        create(
            opened,
            "single",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=attributes(pk="S", g="S"),
            GlobalSecondaryIndexes=[index("OfG", "g")],
        )
        for pk, sk in product("ab", "123"):
            put(opened, pk, sk, g=s("a" if sk < "3" else "b"), h=s(chr(100 - ord(sk))))
        for pk in "abc":
            opened.call("PutItem", {"TableName": "single", "Item": {"pk": s(pk), "g": s("a")}})
        yield opened


@pytest.mark.parametrize("limit", range(1, 8))
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("target", CONDITIONS)
def test_pages_contain_all_items_of_the_unlimited_query(engine: Engine, target: str, forward: bool, limit: int) -> None:
    """Every page except the last has as many items as the limit."""
    table, _, name = target.partition(" ")
    for condition in CONDITIONS[target]:
        request: dict[str, Any] = {
            "TableName": table,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": {":p": s("a"), **({":s": s("2")} if ":s" in condition else {})},
            "ScanIndexForward": forward,
            **({"IndexName": name} if name else {}),
        }
        unlimited = engine.call("Query", request)
        items: list[Any] = []
        start: dict[str, Any] = {}
        while True:
            page = engine.call("Query", {**request, **start, "Limit": limit})
            items += page["Items"]
            assert page["Count"] == page["ScannedCount"] == len(page["Items"])
            if "LastEvaluatedKey" not in page:
                assert page["Count"] <= limit
                break
            assert page["Count"] == limit
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        assert items == unlimited["Items"]
        reverse = engine.call("Query", {**request, "ScanIndexForward": not forward})["Items"]
        assert reverse == unlimited["Items"][::-1]
