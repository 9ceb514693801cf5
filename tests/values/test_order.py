"""Stored forms of key values sort as in DynamoDB and can be decoded. Values are equal and ordered as in DynamoDB."""

from __future__ import annotations

from base64 import b64decode, b64encode
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.dynamodb.values import AttributeValue, canonical, key_text, key_value, less, same
from tests.values.test_numbers import digits, near

in_range = st.one_of(
    near, st.builds(lambda whole, exponent: f"{whole}E{exponent}", digits, st.integers(-130, 88))
).filter(lambda text: Decimal(text) == 0 or Decimal(text).adjusted() >= -130)
number_values = in_range.map(lambda text: {"N": canonical(text)})
string_values = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).map(lambda text: {"S": text})
binary_values = st.binary(max_size=6).map(lambda content: {"B": b64encode(content).decode()})


def stored(value: AttributeValue) -> bytes:
    form = key_text(value)
    return form if isinstance(form, bytes) else form.encode()


def meaning(value: AttributeValue) -> Any:
    ((tag, content),) = value.items()
    if tag == "N":
        return Decimal(content)
    return content.encode() if tag == "S" else b64decode(content)


@given(number_values, number_values)
def test_stored_numbers_sort_by_numeric_value(value: AttributeValue, other: AttributeValue) -> None:
    assert (stored(value) < stored(other)) == (meaning(value) < meaning(other))
    assert (stored(value) == stored(other)) == (meaning(value) == meaning(other))


@given(st.one_of(st.tuples(string_values, string_values), st.tuples(binary_values, binary_values)))
def test_stored_strings_and_binary_values_sort_by_bytes(pair: tuple[AttributeValue, AttributeValue]) -> None:
    element, other = pair
    assert (stored(element) < stored(other)) == (meaning(element) < meaning(other))


@given(st.one_of(number_values, string_values, binary_values))
def test_the_stored_form_of_a_key_value_can_be_decoded(value: AttributeValue) -> None:
    (tag,) = value
    assert key_value(key_text(value), tag) == value


@given(number_values)
def test_the_stored_form_of_a_number_is_printable_ascii(value: AttributeValue) -> None:
    assert all(0x20 <= byte < 0x7F for byte in stored(value))


def test_the_stored_forms_of_sorted_numbers_are_sorted() -> None:
    texts = ["-1E125", "-100", "-12", "-11.5", "-2", "-1", "-0.5", "-0.05", "-1E-130", "0"]
    texts += ["1E-130", "0.05", "0.5", "1", "1.1", "2", "11.5", "12", "100", "1E125"]
    forms = [key_text({"N": canonical(text)}) for text in texts]
    assert forms == sorted(forms, key=str)


@given(st.one_of(number_values, string_values, binary_values), st.one_of(number_values, string_values))
def test_only_values_of_the_same_type_have_an_order(value: AttributeValue, other: AttributeValue) -> None:
    expected = meaning(value) < meaning(other) if value.keys() == other.keys() else None
    assert less(value, other) is expected


@pytest.mark.parametrize(
    ("value", "other", "equal"),
    [
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}, True),
        ({"SS": ["a", "b"]}, {"SS": ["a"]}, False),
        ({"SS": ["a"]}, {"BS": ["a"]}, False),
        ({"L": [{"SS": ["a", "b"]}]}, {"L": [{"SS": ["b", "a"]}]}, True),
        ({"L": [{"S": "a"}, {"S": "b"}]}, {"L": [{"S": "b"}, {"S": "a"}]}, False),
        ({"L": []}, {"L": [{"S": "a"}]}, False),
        ({"M": {"x": {"NS": ["1", "2"]}}}, {"M": {"x": {"NS": ["2", "1"]}}}, True),
        ({"M": {"x": {"S": "1"}}}, {"M": {"y": {"S": "1"}}}, False),
        ({"S": "1"}, {"N": "1"}, False),
        ({"NULL": True}, {"BOOL": True}, False),
    ],
)
def test_values_are_equal_regardless_of_set_order(value: AttributeValue, other: AttributeValue, equal: bool) -> None:
    assert same(value, other) is equal
    assert same(other, value) is equal


@pytest.mark.parametrize("value", [{"BOOL": True}, {"NULL": True}, {"L": []}, {"SS": ["a"]}])
def test_values_of_types_that_cannot_be_keys_have_no_order(value: AttributeValue) -> None:
    assert less(value, value) is None
