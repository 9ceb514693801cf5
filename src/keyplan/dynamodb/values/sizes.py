"""The size of values and items in bytes, as DynamoDB bills and limits them.

According to the developer guide ("DynamoDB item sizes and formats"), names and strings count their UTF-8 bytes, a
container three bytes plus one per element. The guide's sizes of numbers are approximate; the exact sizes were measured
on DynamoDB Local with the largest item that fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyplan.dynamodb.values.numbers import AttributeValue, Item

CONTAINER_BYTES = 3
ELEMENT_BYTES = 1


def item_size(item: Item) -> int:
    total = 0
    for name, value in item.items():
        # Unpacking a one-key dict is faster than next(iter(...)).
        ((tag, content),) = value.items()
        total += len(name) if name.isascii() else _text_size(name)
        if tag == "S" and content.isascii():
            total += len(content)
        else:
            total += _SIZES[tag](content)
    return total


def item_size_up_to(item: Item, bytes_max: int) -> int:
    """The size of an item in bytes up to ``bytes_max``; for a larger item, any larger number, as measuring stops."""
    total = 0
    values: list[AttributeValue] = []
    for name, value in item.items():
        total += _text_size(name)
        values.append(value)
    while values and total <= bytes_max:
        ((tag, content),) = values.pop().items()
        if tag == "L":
            total += CONTAINER_BYTES + len(content) * ELEMENT_BYTES
            inner = content
        elif tag == "M":
            total += CONTAINER_BYTES + len(content) * ELEMENT_BYTES + sum(map(_text_size, content))
            inner = content.values()
        else:
            total += _SIZES[tag](content)
            continue
        values.extend(inner)
    return total


def value_size(value: AttributeValue) -> int:
    ((tag, content),) = value.items()
    return _SIZES[tag](content)


def _text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _number_size(text: str) -> int:
    """One byte, one for a minus sign, and one for each pair of digits, counted outward from the decimal point.

    Pairs of zeros at either end don't count: 1000 and 100 have one pair, 1.5 has two (01 and 50).
    """
    if text.isdigit() and text[-1] != "0":
        return (len(text) + 1) // 2 + 1
    if text == "0":
        return 1
    negative = text[0] == "-"
    whole, _, fraction = text[negative:].partition(".")
    if fraction:
        pairs = (len(fraction) + 1) // 2
        if whole != "0":
            pairs += (len(whole) + 1) // 2
        else:
            pairs -= (len(fraction) - len(fraction.lstrip("0"))) // 2
    else:
        pairs = (len(whole) + 1) // 2 - (len(whole) - len(whole.rstrip("0"))) // 2
    return pairs + 1 + negative


def _binary_size(text: str) -> int:
    return len(text) // 4 * 3 - text.count("=")


def _one(_content: Any) -> int:
    return 1


def _list_size(values: list[AttributeValue]) -> int:
    return CONTAINER_BYTES + sum(ELEMENT_BYTES + value_size(value) for value in values)


def _map_size(values: Item) -> int:
    return CONTAINER_BYTES + len(values) * ELEMENT_BYTES + item_size(values)


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": _text_size,
    "N": _number_size,
    "B": _binary_size,
    "BOOL": _one,
    "NULL": _one,
    "L": _list_size,
    "M": _map_size,
    "SS": lambda texts: sum(map(_text_size, texts)),
    "NS": lambda texts: sum(map(_number_size, texts)),
    "BS": lambda texts: sum(map(_binary_size, texts)),
}
