"""The stored form of items (UTF-8 JSON), and errors of damaged items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from keyplan.dynamodb.service_errors import SerializationException
from keyplan.errors import KeyplanError
from keyplan.store.storage.sqlite_errors import unreadable

_loads = orjson.loads

SIGNS_OF_DAMAGE = (TypeError, LookupError, AttributeError, ValueError, ArithmeticError)
"""What an operation on a damaged item can raise. Reads don't validate items, which would take longer than decoding."""


def damaged(fault: Exception, place: str) -> KeyplanError:
    if isinstance(fault, KeyplanError):
        return fault
    if isinstance(fault, orjson.JSONDecodeError):
        return unreadable(place, fault)
    return unreadable(place, f"{type(fault).__name__}: {fault} (or a bug in Keyplan raised this error)")


def decode(body: bytes) -> dict[str, Any]:
    """Decode stored bytes into an item. Raises JSONDecodeError if the bytes are damaged or not a JSON object."""
    item = _loads(body)
    if item.__class__ is dict:  # three times as fast as isinstance, for each item read
        return item
    raise orjson.JSONDecodeError("the item isn't a JSON object", "", 0)


def encode(item: Mapping[str, Any]) -> bytes:
    """The stored bytes of an item. Raises SerializationException."""
    try:
        return orjson.dumps(item)
    except TypeError as error:
        raise SerializationException(f"The item can't be written as JSON: {error}") from None
