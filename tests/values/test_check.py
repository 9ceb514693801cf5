"""Validation errors and normalization of attribute values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from keyplan.dynamodb.values import AttributeValue, ValueFault, check_item, check_value
from tests.expressions.strategies import items

EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
INVALID = "One or more parameter values were invalid: "
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, EMPTY),
        ({"X": "1"}, EMPTY),
        ({"L": [{}]}, EMPTY),
        ({"M": {"a": {"Q": 1}}}, EMPTY),
        ({"S": "a", "N": "1"}, SEVERAL),
        ({"SS": []}, INVALID + "An string set  may not be empty"),
        ({"NS": []}, INVALID + "An number set  may not be empty"),
        ({"BS": []}, INVALID + "Binary sets should not be empty"),
        ({"SS": ["a", "a"]}, INVALID + 'Input collection ["a", "a"] contains duplicates.'),
        ({"NS": ["1", "1.0"]}, INVALID + "Input collection contains duplicates."),
        ({"NULL": False}, INVALID + "Null attribute value types must have the value of true"),
        ({"N": "x"}, "The parameter cannot be converted to a numeric value: x"),
        ({"NS": ["1", "x"]}, "The parameter cannot be converted to a numeric value: x"),
        (
            {"L": [{"N": "1E126"}]},
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ),
    ],
)
def test_invalid_attribute_values_are_rejected_with_dynamodbs_messages(value: AttributeValue, message: str) -> None:
    with pytest.raises(ValueFault) as caught:
        check_value(value)
    assert caught.value.message == message
    with pytest.raises(ValueFault) as caught:
        check_item({"a": {"S": "fine"}, "b": value})
    assert caught.value.message == message


@pytest.mark.parametrize(
    "value",
    [
        *("x", None, [], {"S": 5}, {"S": None}, {"N": 5}, {"BOOL": "true"}, {"L": {}}, {"M": []}, {"SS": "a"}),
        *({"SS": [1]}, {"B": 5}, {"B": "%%%"}, {"B": "YQ"}, {"BS": ["YQ"]}, {"NS": [1]}, {"NULL": "true"}),
    ],
)
def test_attribute_values_of_wrong_python_types_are_rejected(value: Any) -> None:
    with pytest.raises(ValueFault):
        check_value(value)


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        ({"N": "1.50"}, {"N": "1.5"}),
        ({"NS": ["10", "9", "-1", "1.0"]}, {"NS": ["-1", "1", "9", "10"]}),
        ({"SS": ["b", "a", "é", "Z"]}, {"SS": ["Z", "a", "b", "é"]}),
        ({"BS": ["/w==", "YQ=="]}, {"BS": ["YQ==", "/w=="]}),
        ({"B": "YR=="}, {"B": "YQ=="}),
        ({"L": [{"S": "a"}, {"N": "01"}]}, {"L": [{"S": "a"}, {"N": "1"}]}),
        ({"M": {"a": {"M": {"b": {"N": "01"}}}}}, {"M": {"a": {"M": {"b": {"N": "1"}}}}}),
    ],
)
def test_attribute_values_are_normalized(value: AttributeValue, normal: AttributeValue) -> None:
    assert check_value(value) == normal
    assert check_item({"x": {"S": "y"}, "a": value}) == {"x": {"S": "y"}, "a": normal}


@given(items)
def test_normalized_items_are_returned_unchanged(item: dict[str, Any]) -> None:
    normal = check_item(item)
    assert check_item(normal) is normal
    for value in normal.values():
        assert check_value(value) is value


def nested(levels: int, tag: str) -> AttributeValue:
    value: AttributeValue = {"S": "bottom"}
    for _ in range(levels):
        value = {"L": [value]} if tag == "L" else {"M": {"a": value}}
    return value


@pytest.mark.parametrize("tag", ["L", "M"])
def test_attribute_values_nested_more_than_32_levels_are_rejected(tag: str) -> None:
    assert check_item({"a": nested(31, tag)}) == {"a": nested(31, tag)}
    for levels in (32, 33, 5000):
        with pytest.raises(ValueFault) as caught:
            check_item({"a": nested(levels, tag)})
        assert caught.value.message == TOO_DEEP
