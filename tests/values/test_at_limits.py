"""Values at the limits of names, depths and exponents, sizes up to a bound, and sets that are sorted in parts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from keyplan.dynamodb.values import ValueFault, check_item, check_value, item_size, name_fault
from keyplan.dynamodb.values import ordering as order
from keyplan.dynamodb.values.ordering import sort_members
from keyplan.dynamodb.values.sizes import item_size_up_to
from keyplan.dynamodb.values.validation import CONTAINER_DEPTH_MAX, INVALID
from tests.expressions.strategies import items

TOO_LONG = "Attribute name is too large, must be less than 65536 bytes"
EMPTY_NAME = "Empty attribute name"
NO_NUMBER = "The parameter cannot be converted to a numeric value: "
SMALL = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
LARGE = "Number overflow. Attempting to store a number with magnitude larger than supported range"


@given(items)
def test_a_size_is_exact_up_to_a_bound_and_above_it_else(item: dict[str, Any]) -> None:
    normal = check_item(item)
    size = item_size(normal)
    for most in (0, size // 2, *range(max(0, size - 8), size + 2)):
        told = item_size_up_to(normal, most)
        assert told == size if size <= most else most < told <= size


def test_what_is_behind_a_bound_is_not_measured() -> None:
    """What is no value stands for what nobody looks at."""
    assert item_size_up_to({"a": {"X": 1}, "b": {"S": "xyz"}}, 4) == 5
    assert item_size_up_to({"a": {"L": [{"X": 1}] * 9}}, 12) == 13
    assert item_size_up_to({"a": {"M": {"bc": {"X": 1}}}}, 6) == 7
    assert item_size_up_to({"abc": {"X": 1}}, 2) == 3


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("x" * 65_535, None),
        ("x" * 65_536, TOO_LONG),
        ("ä" * 32_767 + "x", None),
        ("ä" * 32_768, TOO_LONG),
        ("😀" * 16_383 + "abc", None),
        ("😀" * 16_384, TOO_LONG),
        ("\ud800" * 21_845, None),
        ("\ud800" * 21_845 + "x", TOO_LONG),
        ("", EMPTY_NAME),
        ("x", None),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_how_long_a_name_may_be(name: str, fault: str | None) -> None:
    assert name_fault((name,)) == fault
    assert name_fault(("a", name, "b")) == fault
    assert name_fault(()) is None
    if fault is None:
        check_value({"M": {"a": {"S": "x"}, name: {"S": "x"}}})
    else:
        with pytest.raises(ValueFault) as caught:
            check_value({"M": {"a": {"S": "x"}, name: {"S": "x"}}})
        assert str(caught.value) == fault


@pytest.mark.parametrize("kind", ["L", "M", "LM", "ML"])
def test_a_wrong_name_is_told_behind_what_else_is_wrong_however_deep_it_stands(kind: str) -> None:
    value: dict[str, Any] = {"M": {"": {"S": "x"}}}
    for depth in range(1, CONTAINER_DEPTH_MAX + 1):
        others: list[tuple[dict[str, Any], str]] = [
            ({}, EMPTY_NAME),
            ({"b": {"N": "x"}}, f"{NO_NUMBER}x"),
            ({"b": {"L": [{"NULL": False}]}}, f"{INVALID}Null attribute value types must have the value of true"),
            ({"b": {"M": {"": {"N": "y"}}}}, f"{NO_NUMBER}y"),
        ]
        for other, told in others:
            with pytest.raises(ValueFault) as caught:
                check_item({"a": value, **other})
            assert caught.value.message == told
        value = {"L": [value]} if kind[depth % len(kind)] == "L" else {"M": {"a": value}}
    with pytest.raises(ValueFault, match="Nesting Levels have exceeded"):
        check_item({"a": value})


@pytest.mark.parametrize("depth", [CONTAINER_DEPTH_MAX - 1, CONTAINER_DEPTH_MAX])
@pytest.mark.parametrize("tag", ["L", "M"])
def test_a_value_by_itself_nests_as_deep_as_an_attribute(depth: int, tag: str) -> None:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(depth):
        value = {"L": [value]} if tag == "L" else {"M": {"a": value}}
    assert check_value(value) is value
    if depth == CONTAINER_DEPTH_MAX:
        with pytest.raises(ValueFault, match="Nesting Levels have exceeded"):
            check_value({"L": [value]})


@pytest.mark.parametrize(
    ("text", "current", "older"),
    [
        ("1e2147483646", LARGE, LARGE),
        ("1e2147483647", LARGE, SMALL),
        ("1e2147483648", LARGE, None),
        ("0.1e2147483647", LARGE, LARGE),
        ("0.1e2147483648", LARGE, None),
        ("1e-2147483647", SMALL, SMALL),
        ("1e-2147483648", SMALL, None),
        ("1e-2147483649", SMALL, None),
        ("0.1e-2147483646", SMALL, SMALL),
        ("0.1e-2147483647", SMALL, None),
        ("1e-200", SMALL, SMALL),
        ("1e9223372036854775807", LARGE, None),
        ("1e9223372036854775808", None, None),
        ("1e-9223372036854775808", SMALL, None),
        ("1e-9223372036854775809", None, None),
        ("1e" + "0" * 30 + "126", LARGE, LARGE),
        ("1e99999999999999999999", None, None),
    ],
)
def test_exponents_at_the_ends_of_integers(text: str, current: str | None, older: str | None) -> None:
    with pytest.raises(ValueFault) as caught:
        check_value({"N": text})
    no_number = f"{NO_NUMBER}{text}"
    assert (caught.value.message, caught.value.older) == (current or no_number, older or no_number)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 9, 23])
@pytest.mark.parametrize("tag", ["SS", "NS", "BS"])
def test_sets_that_are_sorted_in_parts(monkeypatch: pytest.MonkeyPatch, tag: str, count: int) -> None:
    """As their values sort: 9 before 10, and the bytes of base64."""
    plain = [(number * 37 % 101) * 5 - 200 for number in range(count)]
    made: dict[str, Callable[[int], str]] = {
        "SS": lambda number: f"{number:+04d}",
        "NS": str,
        "BS": lambda number: b64encode(bytes([number % 256, 7])).decode(),
    }
    members = [made[tag](number) for number in plain]
    expected = sort_members(tag, members)
    monkeypatch.setattr(order, "_SORTED_TOGETHER_MAX", 4)
    assert sort_members(tag, members) == expected
