"""What calls cost: the records that are told of each request and of each pattern's call.

``CallRecord`` is one request, with its retries; ``PatternRecord`` is one call of an access pattern or a verb, with its
requests. Whose request it is, is known by a context variable that the opened design sets around each call. What is
made of the records lies elsewhere: in ``usage.py`` (sums by pattern, the hottest keys) and in ``keyplan.telemetry``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from keyplan.errors import KeyplanError

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["CallRecord", "OnCall", "OnPattern", "PatternRecord", "RunningCall", "error_name", "metered"]

_READS = frozenset({"BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"})
_METERED = _READS | {"BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"}

_current: ContextVar[RunningCall | None] = ContextVar("keyplan_tally", default=None)


def metered(operation: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters, with the wish to be told the capacity consumed, of the table and of each index."""
    if operation not in _METERED or "ReturnConsumedCapacity" in parameters:
        return parameters
    return {**parameters, "ReturnConsumedCapacity": "INDEXES"}


def error_name(error: BaseException) -> str:
    """DynamoDB's name of an error, or Keyplan's code, or the exception's class."""
    return str(getattr(error, "type", None) or getattr(error, "code", None) or type(error).__name__)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What one request was and cost.

    ``latency_ms`` has retries and pauses in it; bytes are those of the bodies, 0 for an embedded store. ``capacity`` is
    DynamoDB's ConsumedCapacity (one or a list of them); ``error`` the type or code of the error. ``pattern`` is whose
    request it was (``Cms.article``), ``started_ns`` when it began, in ns since 1970; ``parameters`` are DynamoDB's own.
    """

    operation: str
    latency_ms: float
    request_bytes: int
    response_bytes: int
    retries: int
    capacity: Any = None
    error: str | None = None
    pattern: str = ""
    started_ns: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @property
    def read_units(self) -> float:
        """Read units consumed."""
        return self._units("ReadCapacityUnits") if self.operation not in _READS else self._units("CapacityUnits")

    @property
    def write_units(self) -> float:
        """Write units consumed."""
        return 0.0 if self.operation in _READS else self._units("CapacityUnits") - self.read_units

    def _units(self, member: str) -> float:
        listed = self.capacity if isinstance(self.capacity, list) else [self.capacity or {}]
        return float(sum(element.get(member, 0.0) for element in listed))


OnCall = Callable[[CallRecord], None]


@dataclass(frozen=True, slots=True)
class PatternRecord:
    """What one call of an access pattern or a verb was and cost; an iterator is one call, from its first item on.

    ``latency_ms`` is the time spent in it, ``started_ns`` when it began, in ns since 1970; ``error`` the type or code
    of the error that it ended with.
    """

    pattern: str
    latency_ms: float
    started_ns: int
    calls: tuple[CallRecord, ...]
    error: str | None = None

    @property
    def requests(self) -> int:
        """Requests made, without retries."""
        return len(self.calls)

    @property
    def retries(self) -> int:
        """Requests made again."""
        return sum(call.retries for call in self.calls)

    @property
    def read_units(self) -> float:
        """Read units consumed."""
        return sum(call.read_units for call in self.calls)

    @property
    def write_units(self) -> float:
        """Write units consumed."""
        return sum(call.write_units for call in self.calls)

    @property
    def request_bytes(self) -> int:
        """Bytes of the requests' bodies."""
        return sum(call.request_bytes for call in self.calls)

    @property
    def response_bytes(self) -> int:
        """Bytes of the answers' bodies."""
        return sum(call.response_bytes for call in self.calls)


OnPattern = Callable[[PatternRecord], None]


class RunningCall:
    """One call of a pattern while it goes on: its requests so far, from whichever threads and tasks they come."""

    __slots__ = ("_seconds", "_started_ns", "calls", "error", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.calls: list[CallRecord] = []
        self._seconds = 0.0
        self._started_ns = time.time_ns()
        self.error: str | None = None

    @contextmanager
    def counting(self) -> Generator[None]:
        """Requests within are this call's; the time within is its."""
        token = _current.set(self)
        began = time.monotonic()
        try:
            yield
        finally:
            self._seconds += time.monotonic() - began
            with suppress(ValueError):  # a coroutine that is closed elsewhere, where nothing was set
                _current.reset(token)

    def record(self) -> PatternRecord:
        """What the call was, when it has ended."""
        return PatternRecord(self.pattern, self._seconds * 1000, self._started_ns, tuple(self.calls), self.error)

    @staticmethod
    def told(
        operation: str,
        started: float,
        sizes: tuple[int, int],
        retries: int,
        outcome: Mapping[str, Any] | KeyplanError,
        parameters: Mapping[str, Any],
    ) -> CallRecord:
        """The record of a request that has ended, kept by the call that it belongs to. ``started`` is of
        time.monotonic().
        """
        tally = _current.get()
        seconds = time.monotonic() - started
        error = outcome if isinstance(outcome, KeyplanError) else None
        capacity = None if isinstance(outcome, KeyplanError) else outcome.get("ConsumedCapacity")
        record = CallRecord(
            operation,
            seconds * 1000,
            *sizes,
            retries,
            capacity,
            None if error is None else error_name(error),
            "" if tally is None else tally.pattern,
            time.time_ns() - int(seconds * 1e9),
            parameters,
        )
        if tally is not None:
            tally.calls.append(record)
        return record
