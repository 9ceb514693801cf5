"""Items between their stored form and Python: UTF-8 JSON bytes and dicts of attribute values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import orjson

from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.dynamodb.service_errors import SerializationException
from keyplan.dynamodb.values import ValueFault, check_item
from keyplan.errors import KeyplanError

_loads = orjson.loads

T = TypeVar("T")

SIGNS_OF_DAMAGE = (TypeError, LookupError, AttributeError, ValueError, ArithmeticError)
"""What an item that isn't one may end in. It may be a fault of ours as well: what is done again ``carefully`` shows."""
TOLD = (KeyplanError, ExpressionFault, ValueFault, UnicodeEncodeError, orjson.JSONDecodeError)
"""What says what is wrong."""


class Care:
    """How many are reading carefully. All are careful then: it takes some microseconds more for each item."""

    def __init__(self) -> None:
        self.readers = 0
        self.lock = threading.Lock()


care = Care()


@contextmanager
def carefully() -> Generator[None]:
    """In here, what is decoded is an item, each of its attributes is of a type that there is, or it counts as damaged.
    It isn't looked at so closely elsewhere: that would take longer than to decode it.
    """
    with care.lock:
        care.readers += 1
    try:
        yield
    finally:
        with care.lock:
            care.readers -= 1


def or_carefully(work: Callable[[], T]) -> T:
    """What ``work`` gives. If it ends in what a damaged item may end in, it is done again, carefully: so it must be
    something that may be done twice.

    Raises:
        JSONDecodeError: an item is damaged.
    """
    try:
        return work()
    except SIGNS_OF_DAMAGE as fault:
        if isinstance(fault, TOLD):
            raise
    with carefully():
        return work()


def decode(body: bytes) -> dict[str, Any]:
    """The item of stored bytes.

    Raises:
        JSONDecodeError: they are damaged: no JSON, or no object.
    """
    item = _loads(body)
    if item.__class__ is dict:  # with each item that is read, and a third quicker than isinstance
        if care.readers:
            check_attributes(item)
        return item
    raise orjson.JSONDecodeError("it is no object", "", 0)


def check_attributes(item: dict[str, Any]) -> None:
    """Look whether each attribute of an item is one.

    Raises:
        JSONDecodeError: one isn't.
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
