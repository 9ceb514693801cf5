"""What each form of a condition finds, alone and within one partition, and what each form of a value is stored as:
agreed upon.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.engine import Engine
from tests.agreed import assert_agreed
from tests.engine.support import answer, n, s
from tests.partiql.test_forms import CONDITIONS

ITEMS: tuple[dict[str, Any], ...] = (
    {},
    {"a": n(1), "b": n(2), "c": n(3)},
    {"a": n(2), "b": n(1), "c": n(3)},
    {"a": s("x"), "b": s("xy"), "size": n(5)},
    {"a": {"L": [n(1), {"M": {"b": {"L": [n(0), n(1)]}}}]}, "b": {"NULL": True}},
    {"a": {"M": {"b": n(1), "5": n(1), "x": s("y")}}, "b": {"BOOL": True}},
    {"a": {"NS": ["1", "2"]}, "b": {"SS": ["x"]}, "c": {"B": "eHk="}},
    {"a": {"NULL": True}, "b": n("-2.5"), 'a"b': n(1)},
    {"a": s("it's"), "b": s("")},
    {"a": {"BOOL": False}},
)
VALUES = (
    *("1", "-1", "1.50", "1e3", "1e200", "1e-200", "'x'", "''", "'it''s'", "true", "false", "null", "missing", "?"),
    *("[]", "[1, 'x', [true]]", "[?]", "{}", "{'y': {'z': 1}}", "{'y': ?}", "{'y': missing}", "{'y': 1, 'y': 2}"),
    *("<<1, 2>>", "<<1, 1.0>>", "<<'x', 'y'>>", "<<'x', 'x'>>", "<<>>", "<<1, 'x'>>", "<<true>>", "<<?>>", "<<[1]>>"),
    *("(1, 2)", "(1)", "y", "1 + 1", "- 5", "+5", "size(y)", "12345678901234567890123456789012345678901", "{'': 1}"),
    "[" * 31 + "1" + "]" * 31,
    "[" * 32 + "1" + "]" * 32,
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        key = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
        types = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
        table = {
            "TableName": "orders",
            "KeySchema": key,
            "AttributeDefinitions": types,
            "BillingMode": "PAY_PER_REQUEST",
        }
        engine.call("CreateTable", table)
        for number, item in enumerate(ITEMS):
            engine.call("PutItem", {"TableName": "orders", "Item": {"pk": s("p"), "sk": s(str(number)), **item}})
        yield engine


def asked(engine: Engine, statement: str) -> str:
    """The sort keys that are found, or the error."""
    parameters = [n(number) for number in range(1, statement.count("?") + 1)]
    given = {"Parameters": parameters} if parameters else {}
    told = answer(engine, "ExecuteStatement", {"Statement": statement, **given})
    return (
        f"! {told['message']}"
        if "error" in told
        else " ".join(item["sk"]["S"] for item in told["Items"] if "sk" in item)
    )


def test_what_conditions_find(engine: Engine) -> None:
    lines: list[str] = []
    for text in CONDITIONS:
        of_all = asked(engine, f"SELECT * FROM orders WHERE {text}")
        of_one = asked(engine, f"SELECT * FROM orders WHERE pk = 'p' AND ({text})")
        kept = asked(engine, f"SELECT * FROM orders WHERE pk = 'p' AND sk > '3' AND NOT ({text})")
        lines += [text, *(f"  {found or 'none'}" for found in dict.fromkeys((of_all, of_one, kept)))]
    assert_agreed("\n".join(lines))


def test_what_values_are_stored_as(engine: Engine) -> None:
    lines: list[str] = []
    for number, text in enumerate(VALUES):
        told = asked(engine, f"INSERT INTO orders VALUE {{'pk': 'v', 'sk': '{number}', 'x': {text}}}")
        item = engine.call("GetItem", {"TableName": "orders", "Key": {"pk": s("v"), "sk": s(str(number))}}).get(
            "Item", {}
        )
        changed = asked(engine, f"UPDATE orders SET x = {text} WHERE pk = 'p' AND sk = '0' RETURNING MODIFIED NEW *")
        after = engine.call("GetItem", {"TableName": "orders", "Key": {"pk": s("p"), "sk": s("0")}})["Item"].get("x")
        lines += [
            text,
            f"  {told or json.dumps(item.get('x'))}",
            f"  {changed if changed[:1] == '!' else json.dumps(after)}",
        ]
    assert_agreed("\n".join(lines))
