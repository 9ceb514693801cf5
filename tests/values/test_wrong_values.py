"""What is no attribute value, and repeated members at the length up to which they are told."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.values import ValueFault, check_item, check_value
from tests.values.test_check import EMPTY, INVALID, SEVERAL, TOO_DEEP

TOLD_MAX = 16_384


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, EMPTY),
        ("x", EMPTY),
        ([], EMPTY),
        (5, EMPTY),
        ({}, EMPTY),
        ({"S": None}, EMPTY),
        ({"L": None}, EMPTY),
        ({"L": [None]}, EMPTY),
        ({"M": {"a": "x"}}, EMPTY),
        ({"X": 1, "Y": 2}, EMPTY),
        ({"S": "a", "X": 1}, EMPTY),
        ({"S": "a", "B": "", "X": 1}, SEVERAL),
        ({"SS": [None]}, INVALID + "An string set may not have a null string as a member"),
        ({"SS": ["a", None]}, INVALID + "An string set may not have a null string as a member"),
        ({"SS": ["a", 5]}, "Unexpected value type in payload: int for S"),
        ({"NS": ["1", None]}, EMPTY),
        ({"S": 5}, "Unexpected value type in payload: int for S"),
    ],
)
def test_what_is_none(value: Any, message: str) -> None:
    with pytest.raises(ValueFault) as caught:
        check_value(value)
    assert str(caught.value) == message


@pytest.mark.parametrize("more", [0, 1])
def test_repeated_members_are_told_as_long_as_they_are_short(more: int) -> None:
    """Each costs a character besides its own."""
    members = ["x" * 8000, "a", "a"]
    members = [*members, "b" * (TOLD_MAX + more - sum(map(len, members)) - len(members) - 1)]
    assert sum(map(len, members)) + len(members) == TOLD_MAX + more
    with pytest.raises(ValueFault) as caught:
        check_value({"SS": members})
    assert str(caught.value).startswith(f"{INVALID}Input collection [") is (more == 0)


@pytest.mark.parametrize("tag", ["L", "M"])
def test_what_nests_without_end_is_refused_as_any_that_nests_too_deep(tag: str) -> None:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(5000):
        value = {"L": [value]} if tag == "L" else {"M": {"": value}}
    with pytest.raises(ValueFault) as caught:
        check_item({"a": value})
    assert str(caught.value) == TOO_DEEP
