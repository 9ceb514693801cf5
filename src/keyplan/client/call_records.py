"""Records of the cost of each request and of each access pattern call.

``CallRecord`` is one request with its retries; ``PatternRecord`` is one call of an access pattern or a CRUD method,
with its requests. A context variable, which the opened design sets for each call, attributes requests to patterns.
``usage_report`` sums records by pattern and finds hot keys; ``keyplan.telemetry`` exports records.
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


_READS = frozenset({"BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"})
_METERED = _READS | {"BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"}

_current: ContextVar[RunningCall | None] = ContextVar("keyplan_tally", default=None)


def metered(operation: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add ReturnConsumedCapacity to the parameters, to get the capacity of the table and each index."""
    if operation not in _METERED or "ReturnConsumedCapacity" in parameters:
        return parameters
    return {**parameters, "ReturnConsumedCapacity": "INDEXES"}


def error_name(error: BaseException) -> str:
    """The name of an error: DynamoDB's error type, Keyplan's error code, or the exception's class."""
    return str(getattr(error, "type", None) or getattr(error, "code", None) or type(error).__name__)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The outcome and cost of one request.

    ``latency_ms`` includes retries and pauses; byte counts are body sizes, 0 for an embedded store. ``capacity`` is
    DynamoDB's ConsumedCapacity (one or a list); ``error`` is the error's type or code. ``pattern`` is the access
    pattern (``Cms.article``); ``started_ns`` is in ns since 1970; ``parameters`` are the request parameters.
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
    """The outcome and cost of one call of an access pattern or a CRUD method. An iterator counts as one call, which
    starts with its first item.

    ``latency_ms`` is the time spent in the call; ``started_ns`` is the start time in ns since 1970; ``error`` is the
    final error's type or code.
    """

    pattern: str
    latency_ms: float
    started_ns: int
    calls: tuple[CallRecord, ...]
    error: str | None = None

    @property
    def requests(self) -> int:
        """The number of requests, without retries."""
        return len(self.calls)

    @property
    def retries(self) -> int:
        """Number of retries."""
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
        """Bytes of the responses' bodies."""
        return sum(call.response_bytes for call in self.calls)


OnPattern = Callable[[PatternRecord], None]


class RunningCall:
    """A running call of a pattern, with its requests so far from all threads and tasks."""

    __slots__ = ("_seconds", "_started_ns", "calls", "error", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.calls: list[CallRecord] = []
        self._seconds = 0.0
        self._started_ns = time.time_ns()
        self.error: str | None = None

    @contextmanager
    def counting(self) -> Generator[None]:
        """Attribute the requests in this context to the call, and measure the time of the call."""
        token = _current.set(self)
        began = time.monotonic()
        try:
            yield
        finally:
            self._seconds += time.monotonic() - began
            with suppress(ValueError):  # the coroutine was closed in another context
                _current.reset(token)

    def record(self) -> PatternRecord:
        """The PatternRecord of the finished call."""
        return PatternRecord(self.pattern, self._seconds * 1000, self._started_ns, tuple(self.calls), self.error)

    @staticmethod
    def finished_request(
        operation: str,
        started: float,
        sizes: tuple[int, int],
        retries: int,
        outcome: Mapping[str, Any] | KeyplanError,
        parameters: Mapping[str, Any],
    ) -> CallRecord:
        """Add the record of a request to its call, and return it. ``started`` is a value of time.monotonic()."""
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
