"""The stored form of items: UTF-8 JSON bytes, and the errors of damaged ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from keyplan.dynamodb.service_errors import SerializationException
from keyplan.dynamodb.values import check_item
from keyplan.errors import KeyplanError
from keyplan.store.storage.sqlite_errors import unreadable

_loads = orjson.loads

SIGNS_OF_DAMAGE = (TypeError, LookupError, AttributeError, ValueError, ArithmeticError)
"""What an operation on a damaged item may raise. No item that is read is checked in full, which would take longer than
to decode it.
"""


def damaged(fault: Exception, place: str) -> KeyplanError:
    """The error of an operation that ended in a sign of damage."""
    if isinstance(fault, KeyplanError):
        return fault
    if isinstance(fault, orjson.JSONDecodeError):
        return unreadable(place, fault)
    return unreadable(place, f"{type(fault).__name__}: {fault}, unless this is a fault of the store")


def decode(body: bytes) -> dict[str, Any]:
    """The item of stored bytes.

    Raises:
        JSONDecodeError: they are damaged: no JSON, or no object.
    """
    item = _loads(body)
    if item.__class__ is dict:  # with each item that is read, and a third quicker than isinstance
        return item
    raise orjson.JSONDecodeError("it is no object", "", 0)


def check_stored(item: dict[str, Any]) -> None:
    """Check an item without a checksum, as files of before have them.

    Raises:
        JSONDecodeError: one of its attributes is none.
    """
    try:
        check_item(item)
    except SIGNS_OF_DAMAGE as fault:
        raise orjson.JSONDecodeError(f"it has an attribute that is none ({fault})", "", 0) from None


def encode(item: Mapping[str, Any]) -> bytes:
    """The stored bytes of an item.

    Raises:
        SerializationException: a string isn't valid Unicode, or a name isn't a string.
    """
    try:
        return orjson.dumps(item)
    except TypeError as error:
        raise SerializationException(f"The item can't be written as JSON: {error}") from None
