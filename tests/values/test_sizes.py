"""The sizes of values and items equal sizes measured in DynamoDB and the result of a simple oracle."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given

from keyplan.dynamodb.values import AttributeValue, check_item, item_size, value_size
from keyplan.dynamodb.values.sizes import item_size_up_to
from tests.expressions.strategies import items

# Measured on DynamoDB Local with the largest item that fits.
MEASURED: list[tuple[AttributeValue, int]] = [
    ({"NULL": True}, 1),
    ({"BOOL": False}, 1),
    ({"S": ""}, 0),
    ({"S": "abc"}, 3),
    ({"S": "€😀"}, 7),
    ({"B": "YWJj"}, 3),
    ({"B": "YQ=="}, 1),
    ({"B": ""}, 0),
    ({"N": "0"}, 1),
    ({"N": "1"}, 2),
    ({"N": "-1"}, 3),
    ({"N": "10"}, 2),
    ({"N": "12"}, 2),
    ({"N": "100"}, 2),
    ({"N": "1000"}, 2),
    ({"N": "123"}, 3),
    ({"N": "1234"}, 3),
    ({"N": "-123"}, 4),
    ({"N": "12345"}, 4),
    ({"N": "1.5"}, 3),
    ({"N": "0.001"}, 2),
    ({"N": "12345678901234567890123456789012345678"}, 20),
    ({"N": "-12345678901234567890123456789012345678"}, 21),
    ({"L": []}, 3),
    ({"L": [{"S": "a"}]}, 5),
    ({"L": [{"S": "a"}, {"S": "b"}]}, 7),
    ({"L": [{"BOOL": True}]}, 5),
    ({"L": [{"L": [{"S": "a"}]}]}, 9),
    ({"M": {}}, 3),
    ({"M": {"k": {"S": "a"}}}, 6),
    ({"M": {"k": {"S": "a"}, "l": {"S": "a"}}}, 9),
    ({"SS": ["a"]}, 1),
    ({"SS": ["a", "b"]}, 2),
    ({"NS": ["1", "2", "3"]}, 6),
    ({"BS": ["YQ=="]}, 1),
]


@pytest.mark.parametrize(("value", "size"), MEASURED, ids=str)
def test_computed_sizes_equal_the_measured_sizes(value: AttributeValue, size: int) -> None:
    assert value_size(value) == size
    assert item_size({"name": value}) == 4 + size
    assert item_size({"näme": value}) == 5 + size


def plain_size(value: dict[str, Any]) -> int:
    ((tag, content),) = value.items()
    if tag in {"BOOL", "NULL"}:
        return 1
    if tag == "S":
        return len(content.encode())
    if tag == "B":
        return len(b64decode(content))
    if tag == "N":
        return number_size(content)
    if tag == "L":
        return 3 + sum(1 + plain_size(member) for member in content)
    if tag == "M":
        return 3 + sum(1 + len(name.encode()) + plain_size(member) for name, member in content.items())
    return sum(plain_size({tag[0]: member}) for member in content)


def number_size(text: str) -> int:
    """Return a number's size in bytes: 1, plus 1 per pair of digits without outer zero pairs, plus 1 if negative."""
    whole, _, fraction = text.removeprefix("-").partition(".")
    line = whole.zfill(len(whole) + len(whole) % 2) + fraction.ljust(len(fraction) + len(fraction) % 2, "0")
    pairs = [line[start : start + 2] for start in range(0, len(line), 2)]
    while pairs and pairs[0] == "00":
        pairs.pop(0)
    while pairs and pairs[-1] == "00":
        pairs.pop()
    return len(pairs) + 1 + text.startswith("-")


def test_the_size_of_a_number_ignores_leading_and_trailing_zeros() -> None:
    for digits in ("1", "12", "123", "1234", "10203"):
        for zeros in ("0" * count for count in range(8)):
            for text in (f"{digits}{zeros}", f"0.{zeros}{digits}", f"{digits}.{zeros}{digits}", f"1{zeros}.5"):
                assert value_size({"N": text}) == number_size(text), text
                assert value_size({"N": f"-{text}"}) == number_size(f"-{text}"), text


@given(items)
def test_the_size_of_an_item_is_the_sum_of_its_names_and_values(item: dict[str, Any]) -> None:
    normal = check_item(item)
    assert item_size(normal) == sum(len(name.encode()) + plain_size(value) for name, value in normal.items())


@given(items)
def test_an_item_size_computed_up_to_a_bound_is_exact_below_the_bound(item: dict[str, Any]) -> None:
    normal = check_item(item)
    size = item_size(normal)
    for most in (0, size // 2, *range(max(0, size - 8), size + 2)):
        measured = item_size_up_to(normal, most)
        assert measured == size if size <= most else most < measured <= size
