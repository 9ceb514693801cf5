"""A query with a cached plan returns the same result as without a cached plan, for any values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, n, put, s

SORT = "pk = :p AND sk = :s"
BETWEEN = "#p = :p AND sk BETWEEN :s AND :t"
CONDITIONS = ("pk = :p", SORT, BETWEEN, *(f"pk = :p AND sk {sign} :s" for sign in ("<", "<=", ">", ">=")),
              "pk = :p AND :s < sk", "pk = :p AND begins_with(sk, :s)", "g = :p", "h = :s AND g = :p")  # fmt: skip
VALUES: tuple[dict[str, Any], ...] = (
    *({":p": s("b"), ":s": s("b"), ":t": s("c")}, {":p": s("a"), ":s": s("12"), ":t": s("2")}),
    *({":p": s("a"), ":s": s("2"), ":t": s("1")}, {":p": s("a"), ":s": s(""), ":t": s("2")}),
    *({":p": s(""), ":s": s("1"), ":t": s("2")}, {":p": n(1), ":s": s("1"), ":t": s("2")}),
    *({":p": s("a"), ":s": n(1), ":t": {}}, {":p": s("a"), ":s": {"S": "a", "N": "1"}, ":t": s("2")}, {":p": s("a")}),
)


@contextmanager
def filled() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        create(engine)
        for sk in ("1", "12", "2", "3"):
            put(engine, "a", sk, g=s("a"), h=s(sk))
        yield engine


def query(condition: str, values: dict[str, Any]) -> dict[str, Any]:
    return {
        "TableName": "orders",
        "IndexName": "ByG" if "g = " in condition else None,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": {name: value for name, value in values.items() if name in condition},
        "ExpressionAttributeNames": {"#p": "pk"} if "#p" in condition else None,
    }


@pytest.mark.parametrize("condition", CONDITIONS)
def test_query_with_a_cached_plan_uses_the_values_of_its_own_request(condition: str) -> None:
    same = s("2")
    variants: list[dict[str, Any]] = [query(condition, values) for values in VALUES]
    more = ({"ScanIndexForward": False}, {"Select": "COUNT"}, {"FilterExpression": "attribute_exists(g)"},
            {"ProjectionExpression": "g"}, {"IndexName": "ByG"}, {"ExpressionAttributeValues": None},
            {"ExpressionAttributeNames": {"#x": "x"}})  # fmt: skip
    variants += [{**variants[1], **each} for each in more]
    variants.append(query(condition, {":p": s("a"), ":s": same, ":t": same}))
    with filled() as engine:
        answer(engine, "Query", variants[0])
        repeated = [answer(engine, "Query", each) for each in variants]
    for variant, result in zip(variants, repeated, strict=True):
        with filled() as fresh:
            assert answer(fresh, "Query", variant) == result
    assert repeated[1]["Items"], "one of them finds something"
