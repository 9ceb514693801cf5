"""Field types: their kinds, their marks (Version, Ttl...), and the defaults ``now`` and ``ulid``."""

from __future__ import annotations

import os
import random
import threading
import time
import types
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AwareDatetime, Field, FutureDate, FutureDatetime, PastDate, PastDatetime
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType, TypeIs

from keyplan.errors import ArgumentError, shown


class Mark:
    """Metadata in a field's type that gives the field a role in the design."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


ID = Mark("Id")
VERSION = Mark("Version")
TTL = Mark("Ttl")
TOKENS = Mark("IdempotencyTokens")

T = TypeVar("T")

Id = Annotated[T, ID]
"""A field that identifies an item, alone or with others: the planner generates primary keys from them."""
Version = Annotated[int, VERSION]
"""A field for optimistic locking: each write expects the version that was read, and increments it."""
Ttl = Annotated[datetime, TTL]
"""A field with an item's expiry time; stored as epoch seconds. DynamoDB deletes expired items within a few days."""

IdempotencyTokens = Annotated[set[str], TOKENS]
"""A field with the tokens of executed updates (``Update(...).idempotent(token)``). It is empty by default."""

SLOTS_MAX = 100
"""Maximum number of items of a BatchGetItem. Source: BatchGetItem in the API reference."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ulid_lock = threading.Lock()
_ulid_last = (0, 0)


class _Slot:
    """The default factory of a sharded counter's field: it returns the number of a random shard."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self) -> int:
        return random.randrange(self.count)  # noqa: S311 - the number isn't a secret


def CounterShards(count: int) -> int:  # noqa: N802 - used like a type, so it is named like one
    """A field of the partition key that makes a sharded counter of ``count`` items, for many concurrent updates.

    ``slot: int = CounterShards(10)``: ``Update(...).or_create()`` without ``slot`` adds to a random shard, and a read
    without ``slot`` reads all shards. Raises ArgumentError unless ``count`` is from 2 to 100.
    """
    anything: Any = count
    if not isinstance(anything, int) or not 2 <= count <= SLOTS_MAX:
        raise ArgumentError(f"CounterShards takes 2 to {SLOTS_MAX} shards, not {shown(count)}", place="CounterShards")
    field: Any = Field(default_factory=_Slot(count), ge=0, lt=count)
    return field  # type: ignore[no-any-return] # pydantic receives a FieldInfo


def slots_of(info: FieldInfo) -> int | None:
    """The number of shards of a sharded counter's field; None for any other field."""
    made = info.default_factory
    return made.count if isinstance(made, _Slot) else None


_time: Callable[[], datetime] | None = None


def time_by(source: Callable[[], datetime] | None) -> Callable[[], datetime] | None:
    """Set the clock of ``now`` and ``ulid`` (None: the system clock), and return the previous clock. In tests, use
    ``keyplan.testing.Clock``.
    """
    global _time
    before, _time = _time, source
    return before


def now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC) if _time is None else _time()


def ulid(at: datetime | None = None) -> str:
    """A new ULID: 26 characters that sort by time (in ms), then by creation order in this process, then randomly.

    ``at`` sets the time, so that imported items sort by their own time.
    """
    global _ulid_last  # noqa: PLW0603 - one sequence per process
    if at is None and _time is not None:
        at = _time()
    millis = time.time_ns() // 1_000_000 if at is None else int(at.timestamp() * 1000)
    if not 0 <= millis < 1 << 48:
        raise ArgumentError(f"{at} is outside the range of a ULID (1970 to 10889)", place="ulid")
    noise = int.from_bytes(os.urandom(10), "big") >> 1
    if at is None:
        with _ulid_lock:
            last_millis, last_noise = _ulid_last
            if millis <= last_millis:
                millis, noise = last_millis, last_noise + 1
            _ulid_last = (millis, noise)
    number = (millis << 80) | noise
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def is_alias(annotation: Any) -> TypeIs[TypeAliasType]:
    """Whether the annotation is a type alias: ``type X = …``, or a TypeAliasType of ``typing`` or
    ``typing_extensions``. The two TypeAliasType classes can differ.
    """
    return type(annotation).__name__ == "TypeAliasType"


def unaliased(annotation: Any) -> Any:
    """The type that an alias names; any other annotation is unchanged."""
    while is_alias(annotation):
        annotation = annotation.__value__
    return annotation


def layers(annotation: Any) -> Iterator[Any]:
    """The annotation, and all types and metadata within its Annotated, aliases and unions."""
    yield annotation
    if is_alias(annotation):
        yield from layers(annotation.__value__)
    elif get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        yield from marks
        yield from layers(inner)
    elif get_origin(annotation) in {Union, types.UnionType}:
        for part in get_args(annotation):
            yield from layers(part)


def marks_of(annotation: Any) -> set[str]:
    """The names of the marks in a field's type."""
    return {layer.name for layer in layers(annotation) if isinstance(layer, Mark)}


_CONSTRAINED: dict[Any, type[Any]] = {
    AwareDatetime: datetime,
    PastDatetime: datetime,
    FutureDatetime: datetime,
    PastDate: date,
    FutureDate: date,
}
"""pydantic types that only restrict another type."""


def kind_of(annotation: Any) -> Any:
    """The plain type of an annotation, without Annotated and None; for a Literal, the type of its values.

    ``set[str]`` and similar types have their origin as plain type. A union of several types has ``object``. The plain
    type of pydantic's datetimes and dates (AwareDatetime, PastDate, ...) is ``datetime`` or ``date``.
    """
    if is_alias(annotation):
        return kind_of(annotation.__value__)
    origin = get_origin(annotation)
    if origin is Annotated:
        return kind_of(get_args(annotation)[0])
    if origin in {Union, types.UnionType}:
        kinds = {kind_of(part) for part in get_args(annotation) if part is not type(None)}
        return kinds.pop() if len(kinds) == 1 else object
    if origin is Literal:
        kinds = {type(value) for value in get_args(annotation)}
        return kinds.pop() if len(kinds) == 1 else object
    supertype = getattr(annotation, "__supertype__", None)
    if supertype is not None:
        return kind_of(supertype)
    return _CONSTRAINED.get(annotation, annotation) if origin is None else origin


def element_kinds(annotation: Any) -> set[Any]:
    """The kinds of the elements of a list, tuple or set type; empty for other types."""
    if is_alias(annotation):
        return element_kinds(annotation.__value__)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return element_kinds(arguments[0])
    if origin in {Union, types.UnionType}:
        return {kind for part in arguments for kind in element_kinds(part)}
    if origin in {list, tuple, set, frozenset}:
        return {kind_of(part) for part in arguments if part is not Ellipsis}
    return set()


def is_optional(annotation: Any) -> bool:
    """Whether None is a valid value."""
    if is_alias(annotation):
        return is_optional(annotation.__value__)
    origin = get_origin(annotation)
    if origin is Annotated:
        return is_optional(get_args(annotation)[0])
    return origin in {Union, types.UnionType} and type(None) in get_args(annotation)


_BOUNDS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


def bounds_of(annotation: Any) -> list[tuple[str, Any]]:
    """The bounds of a number's type, each as an operator and a value: ``Field(ge=0)`` is ``(">=", 0)``. Bounds in a
    union of several types are ignored.
    """
    if is_alias(annotation):
        return bounds_of(annotation.__value__)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return [bound for mark in arguments[1:] for bound in _bounds(mark)] + bounds_of(arguments[0])
    parts = [part for part in arguments if part is not type(None)] if origin in {Union, types.UnionType} else []
    return bounds_of(parts[0]) if len(parts) == 1 else []


def _bounds(mark: Any) -> list[tuple[str, Any]]:
    """The bounds in metadata. pydantic splits a Field at the top level, but not one in a union or an alias."""
    if isinstance(mark, FieldInfo):
        return [bound for part in mark.metadata for bound in _bounds(part)]
    if isinstance(mark, type):
        return []
    bounds = ((operator, getattr(mark, name, None)) for name, operator in _BOUNDS.items())
    return [(operator, bound) for operator, bound in bounds if isinstance(bound, int | float | Decimal)]


def unbounded(annotation: Any) -> Any:
    """The type without constraints on the whole value. Constraints on elements and members stay."""
    if is_alias(annotation):
        return unbounded(annotation.__value__)
    if get_origin(annotation) is Annotated:
        return unbounded(get_args(annotation)[0])
    return annotation
