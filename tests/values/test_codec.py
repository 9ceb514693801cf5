"""Encoding of Python values as attribute values, and decoding of attribute values."""

from __future__ import annotations

import enum
from collections import defaultdict
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.dynamodb.values import NumberError, check_value, decode, encode

plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**37), 10**37),
        st.decimals(-1000, 1000, places=3),
        st.text(max_size=4),
        st.binary(max_size=4),
        st.frozensets(st.text(max_size=2), min_size=1, max_size=3).map(set),
        st.frozensets(st.integers(-9, 9), min_size=1, max_size=3).map(set),
        st.frozensets(st.binary(max_size=2), min_size=1, max_size=3).map(set),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(plain)
def test_decoding_an_encoded_value_returns_the_value(value: Any) -> None:
    encoded = encode(value)
    assert decode(encoded) == value
    assert check_value(encoded) is encoded


class Colour(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    LARGE = 3


class Point(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("python", "expected"),
    [
        (0.1, {"N": "0.1"}),
        (1e22, {"N": "1" + "0" * 22}),
        (5.0, {"N": "5"}),
        (True, {"BOOL": True}),
        (1, {"N": "1"}),
        (Decimal("1.50"), {"N": "1.5"}),
        (Decimal("1E+3"), {"N": "1000"}),
        ((1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
        ({10, 9, Decimal("0.5")}, {"NS": ["0.5", "9", "10"]}),
        (frozenset({"b", "a"}), {"SS": ["a", "b"]}),
        ({b"\xff", b"a"}, {"BS": ["YQ==", "/w=="]}),
        (bytearray(b"a"), {"B": "YQ=="}),
        (Colour.RED, {"S": "red"}),
        (Size.LARGE, {"N": "3"}),
        (Point(1, 2), {"L": [{"N": "1"}, {"N": "2"}]}),
        (defaultdict(int, a=1), {"M": {"a": {"N": "1"}}}),
    ],
)
def test_python_values_are_encoded_as_attribute_values(python: Any, expected: dict[str, Any]) -> None:
    assert encode(python) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"N": "5"}, 5),
        ({"N": "1" + "0" * 50}, 10**50),
        ({"N": "1.5"}, Decimal("1.5")),
        ({"NS": ["1", "1.5"]}, {1, Decimal("1.5")}),
    ],
)
def test_whole_numbers_are_decoded_as_int(value: dict[str, Any], expected: Any) -> None:
    decoded = decode(value)
    assert decoded == expected
    assert type(decoded) is type(expected)


@pytest.mark.parametrize("python", [object(), set(), {"a", 1}, {None}, {1: "a"}, {(1,)}, 1j])
def test_python_values_without_a_dynamodb_type_are_rejected(python: Any) -> None:
    with pytest.raises(TypeError):
        encode(python)


@pytest.mark.parametrize("python", [float("nan"), float("inf"), 10**126, Decimal("NaN"), 1e-200, 10**38 + 1])
def test_numbers_that_dynamodb_cannot_store_are_rejected(python: Any) -> None:
    with pytest.raises(NumberError):
        encode(python)
