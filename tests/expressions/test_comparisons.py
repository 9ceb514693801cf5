"""Each comparison of each two kinds of values, of attributes and of operands alike, against a plain account."""

from __future__ import annotations

import base64
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from keyplan.dynamodb.expressions import Placeholders, bind_condition

VALUES: tuple[dict[str, Any], ...] = (
    *({"S": text} for text in ("", "a", "ab", "b", "\uffff", "\U00010000")),
    *({"N": text} for text in ("-10", "-2", "0", "2", "10", "2.5")),
    *({"B": base64.b64encode(raw).decode()} for raw in (b"", b"\x01", b"\x01\x00", b"\xff")),
    *({"BOOL": value} for value in (True, False)),
    {"NULL": True},
    {"L": [{"N": "1"}]},
    {"L": [{"N": "2"}]},
    {"M": {"a": {"N": "1"}}},
    {"NS": ["1", "2"]},
    {"SS": ["1", "2"]},
)
READ = {"S": lambda text: text.encode(), "N": Decimal, "B": base64.b64decode}


def expected(operator: str, left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether a comparison holds: values of two kinds are unequal, and only texts, numbers and bytes have an order."""
    if operator in {"=", "<>"}:
        return (left == right) == (operator == "=")
    ((tag, content),) = left.items()
    if tag not in READ or tag not in right:
        return False
    pair = READ[tag](content), READ[tag](right[tag])
    return bool(
        {"<": pair[0] < pair[1], "<=": pair[0] <= pair[1], ">": pair[0] > pair[1], ">=": pair[0] >= pair[1]}[operator]
    )


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_attributes_are_compared_by_their_values(operator: str) -> None:
    of_attributes = bind_condition(f"a {operator} b", Placeholders(None, None), "")
    of_parts = bind_condition(f"m.a {operator} m.b", Placeholders(None, None), "")
    for left, right in product(VALUES, repeat=2):
        wanted = expected(operator, left, right)
        item = {"a": left, "b": right}
        assert of_attributes.matches(item) is wanted, (left, right)
        assert of_parts.matches({"m": {"M": item}}) is wanted, (left, right)


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_attributes_are_compared_with_operands(operator: str) -> None:
    for left, right in product(VALUES, repeat=2):
        ((tag, _),) = right.items()
        if operator not in {"=", "<>"} and tag not in READ:
            continue
        after = bind_condition(f"a {operator} :v", Placeholders(None, {":v": right}), "")
        before = bind_condition(f":v {operator} a", Placeholders(None, {":v": right}), "")
        assert after.matches({"a": left}) is expected(operator, left, right), (left, right)
        assert before.matches({"a": left}) is expected(operator, right, left), (left, right)


def test_what_lies_between() -> None:
    of_attributes = bind_condition("a BETWEEN b AND c", Placeholders(None, None), "")
    for value, low, high in product(VALUES, repeat=3):
        wanted = expected(">=", value, low) and expected("<=", value, high)
        assert of_attributes.matches({"a": value, "b": low, "c": high}) is wanted, (value, low, high)


@pytest.mark.parametrize("missing", ["a", "b"])
@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_what_is_missing_is_only_unequal(missing: str, operator: str) -> None:
    condition = bind_condition(f"a {operator} b", Placeholders(None, None), "")
    item = {name: {"N": "1"} for name in ("a", "b") if name != missing}
    assert condition.matches(item) is (operator == "<>")
