"""Items between their stored form and Python: UTF-8 JSON bytes and dicts of attribute values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from keyplan.wire.errors import SerializationException

decode = orjson.loads
"""The item of stored bytes."""


def encode(item: Mapping[str, Any]) -> bytes:
    """The stored bytes of an item.

    Raises:
        SerializationException: a string isn't valid Unicode, or a name isn't a string.
    """
    try:
        return orjson.dumps(item)
    except TypeError as error:
        raise SerializationException(f"The item can't be written as JSON: {error}") from None
