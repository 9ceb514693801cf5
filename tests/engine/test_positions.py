"""Where a query or a scan may be told to begin, in which words it is refused elsewhere, and what is behind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from keyplan.engine import Engine
from tests.agreed import assert_agreed
from tests.engine.scenarios import attributes
from tests.engine.support import answer, create, index, n, put, s

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
        opened.call(
            "CreateTable",
            {
                "TableName": "single",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": attributes(pk="S", g="S"),
                "GlobalSecondaryIndexes": [index("OfG", "g")],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        for pk, sk in product("ab", "123"):
            put(opened, pk, sk, g=s("a" if sk < "3" else "b"), h=s(chr(100 - ord(sk))))
        for pk in "abc":
            opened.call("PutItem", {"TableName": "single", "Item": {"pk": s(pk), "g": s("a")}})
        yield opened


def starts(target: str) -> Iterator[dict[str, Any]]:
    """Positions: of items, of none, of other partitions, with too little, too much, and the wrong."""
    if target.startswith("single"):
        of_index = ["g"] if " " in target else []
        values = [dict(zip(["pk", *of_index], each, strict=True)) for each in product("ac", *["ab" for _ in of_index])]
    else:
        of_index = {"orders": [], "orders ByG": ["g", "h"], "orders ByH": ["h"]}[target]
        names = ["pk", "sk", *of_index]
        values = [dict(zip(names, each, strict=True)) for each in product("ab", "14", *["a2" for _ in of_index])]
    for value in values:
        yield {name: s(each) for name, each in value.items()}
    whole = {name: s("a") for name in values[0]}
    yield {**whole, "x": s("a")}
    for name in whole:
        yield {other: value for other, value in whole.items() if other != name}
        yield {**whole, name: n(1)}
        yield {**whole, name: s("")}
        yield {other if other != name else "x": value for other, value in whole.items()}


def shown(answered: dict[str, Any]) -> str:
    if "error" in answered:
        return f"{answered['error']}: {answered['message']}"
    found = ["".join(item[name]["S"] for name in ("pk", "sk") if name in item) for item in answered["Items"]]
    return " ".join(found) or "nothing"


@pytest.mark.parametrize("target", CONDITIONS)
def test_positions_of_queries(engine: Engine, target: str) -> None:
    lines = []
    table, _, name = target.partition(" ")
    for condition, start in product(CONDITIONS[target], starts(target)):
        asked: dict[str, Any] = {
            "TableName": table,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": {":p": s("a"), **({":s": s("2")} if ":s" in condition else {})},
            "ExclusiveStartKey": start,
            **({"IndexName": name} if name else {}),
        }
        ways = [shown(answer(engine, "Query", {**asked, "ScanIndexForward": forward})) for forward in (True, False)]
        place = ", ".join(
            f"{each} {'' if list(v) == ['S'] else 'N '}{next(iter(v.values()))!r}" for each, v in start.items()
        )
        lines.append(f"{condition} | {place} | {ways[0]}{'' if ways[0] == ways[1] else f' | backward: {ways[1]}'}")
    assert_agreed("\n".join(lines))


@pytest.mark.parametrize("target", CONDITIONS)
def test_positions_of_scans(engine: Engine, target: str) -> None:
    table, _, name = target.partition(" ")
    lines = []
    for start, segment in product(starts(target), (None, 0, 1)):
        asked = {"TableName": table, "ExclusiveStartKey": start, **({"IndexName": name} if name else {})}
        if segment is not None:
            asked |= {"Segment": segment, "TotalSegments": 2}
        place = ", ".join(
            f"{each} {'' if list(v) == ['S'] else 'N '}{next(iter(v.values()))!r}" for each, v in start.items()
        )
        lines.append(f"{place} | {segment} | {shown(answer(engine, 'Scan', asked))}")
    assert_agreed("\n".join(lines))


@pytest.mark.parametrize("limit", range(1, 8))
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("target", CONDITIONS)
def test_pages_put_together_are_the_whole(engine: Engine, target: str, forward: bool, limit: int) -> None:
    """Each page is full but the last, which may be."""
    table, _, name = target.partition(" ")
    for condition in CONDITIONS[target]:
        asked: dict[str, Any] = {
            "TableName": table,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": {":p": s("a"), **({":s": s("2")} if ":s" in condition else {})},
            "ScanIndexForward": forward,
            **({"IndexName": name} if name else {}),
        }
        whole = engine.call("Query", asked)
        items: list[Any] = []
        start: dict[str, Any] = {}
        while True:
            page = engine.call("Query", {**asked, **start, "Limit": limit})
            items += page["Items"]
            assert page["Count"] == page["ScannedCount"] == len(page["Items"])
            if "LastEvaluatedKey" not in page:
                assert page["Count"] <= limit
                break
            assert page["Count"] == limit
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        assert items == whole["Items"]
        turned = engine.call("Query", {**asked, "ScanIndexForward": not forward})["Items"]
        assert turned == whole["Items"][::-1]
