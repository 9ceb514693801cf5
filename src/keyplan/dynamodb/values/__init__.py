"""DynamoDB's attribute values: types, numbers, sizes, ordering, validation, and conversion to and from Python.

An attribute value is DynamoDB JSON, such as ``{"S":"x"}``, in all packages below the design language. ``check_item``
and ``check_value`` normalize external values; all other functions expect normalized values.
"""

from __future__ import annotations

from keyplan.dynamodb.values.codec import decode, encode
from keyplan.dynamodb.values.numbers import AttributeValue, Item, NumberError, add, canonical, compare, subtract
from keyplan.dynamodb.values.ordering import key_text, key_value, less, same, sort_members
from keyplan.dynamodb.values.sizes import item_size, item_size_up_to, value_size
from keyplan.dynamodb.values.validation import (
    CONTAINER_DEPTH_MAX,
    INVALID,
    TOO_DEEP,
    ValueFault,
    check_item,
    check_value,
    name_fault,
)

__all__ = [
    "CONTAINER_DEPTH_MAX",
    "INVALID",
    "TOO_DEEP",
    "AttributeValue",
    "Item",
    "NumberError",
    "ValueFault",
    "add",
    "canonical",
    "check_item",
    "check_value",
    "compare",
    "decode",
    "encode",
    "item_size",
    "item_size_up_to",
    "key_text",
    "key_value",
    "less",
    "name_fault",
    "same",
    "sort_members",
    "subtract",
    "value_size",
]
