"""Opens stores in this process for tests, with a clock, index lag and throttling, and creates instances for them."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from keyplan.client.transports.embedded import InProcess
from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.service_errors import ProvisionedThroughputExceededException
from keyplan.errors import ArgumentError, RequestError, shown
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import annotated, choices_of, limits, typical, valid_instance
from keyplan.model.declared.fields import VERSION, kind_of, marks_of, now, time_by, ulid
from keyplan.session.design import Design
from keyplan.session.stores import Store, with_table
from keyplan.store import Engine

D = TypeVar("D", bound=Design)


class _Gate(InProcess):
    """An engine whose requests can be throttled."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(self._pass, engine.close)
        self.engine = engine
        self.refusals: list[_Refusals] = []
        self._lock = threading.Lock()

    def _pass(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            refused = next((refusal for refusal in self.refusals if refusal.takes(operation)), None)
            if refused is not None:
                refused.left -= 1
        if refused is not None:
            raise ProvisionedThroughputExceededException(
                "The level of configured provisioned throughput for the table was exceeded. "
                "Consider increasing your provisioning level with the UpdateTable API."
            )
        return self.engine.call(operation, parameters)


@dataclass(eq=False)
class _Refusals:
    """How many requests of which operations are still throttled."""

    left: int
    operations: frozenset[str]

    def takes(self, operation: str) -> bool:
        return self.left > 0 and (not self.operations or operation in self.operations)


def open_test_store(
    design: type[D],
    path: str | Path = ":memory:",
    *,
    clock: Callable[[], float] = time.time,
    throttle: bool = False,
    index_lag_ms: float = 0.0,
    secret: bytes | str | None = None,
) -> D:
    """Open a design on a store in this process: in memory, or in a file.

    ``clock`` is a ``Clock`` or a function that returns the time in seconds since 1970, by which items expire.
    ``throttle=True`` throttles requests that exceed the throughput of the table or of a partition, as DynamoDB does;
    use ``throttled`` to throttle any request. ``index_lag_ms`` delays the visibility of writes in indexes, by the
    clock. Raises StoreError.
    """
    engine = Engine.open(path, clock=clock, throttle=throttle, index_lag_ms=index_lag_ms)
    return design(
        with_table(Store(_Gate(engine), str(path), design.table.name, local=True), design.compiled), secret=secret
    )


@contextmanager
def throttled(
    design: Design, times: int = 1_000_000_000, *, operations: Iterable[str] = ()
) -> Generator[Callable[[], int]]:
    """Throttle the next ``times`` requests of a design from ``open_test_store``, or only these ``operations``. They
    raise ProvisionedThroughputExceededException. Yields a function that returns the number of throttled requests.
    """
    wanted = frozenset(operations)
    unknown = sorted(wanted - OPERATIONS.keys())
    if unknown:
        raise RequestError(f"DynamoDB has no operation {', '.join(unknown)}", place="throttled")
    gate, refusals = _gate(design), _Refusals(times, wanted)
    gate.refusals.append(refusals)
    try:
        yield lambda: times - refusals.left
    finally:
        gate.refusals.remove(refusals)


def expire_items(design: Design) -> int:
    """Delete the expired items of a design from ``open_test_store``; returns their number."""
    return _gate(design).engine.sweep()


def _gate(design: Design) -> _Gate:
    backend: Any = design.store.backend
    if not isinstance(backend, _Gate):
        raise RequestError(
            f"{design!r} isn't open on a test store",
            hint=f"open the design with open_test_store({type(design).__name__})",
        )
    return backend


class Clock:
    """A clock that a test sets: ``Clock()`` starts at the current time, ``Clock(datetime(2026, 1, 1, tzinfo=UTC))`` at
    the given time. Only ``set`` and ``advance`` change its time.

    Pass it to a store, ``open_test_store(Cms, clock=clock)``. Within ``with clock:``, ``keyplan.now()`` and
    ``keyplan.ulid()`` use the clock too, in the whole process.
    """

    def __init__(self, at: datetime | None = None) -> None:
        self._at = datetime.now(UTC) if at is None else _with_zone(at)

    @property
    def at(self) -> datetime:
        """The current time."""
        return self._at

    def set(self, at: datetime) -> None:
        """Set the time. Raises RequestError for a time without a time zone."""
        self._at = _with_zone(at)

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        """Advance the time, and return the new time."""
        self._at += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._at

    def __call__(self) -> float:
        """The time in seconds since 1970."""
        return self._at.timestamp()

    def __enter__(self) -> Self:
        self._before = time_by(lambda: self._at)
        return self

    def __exit__(self, *exception: object) -> None:
        time_by(self._before)

    def __repr__(self) -> str:
        return f"Clock({self._at.isoformat()})"


def _with_zone(at: datetime) -> datetime:
    anything: Any = at
    if not isinstance(anything, datetime):
        raise RequestError(f"a time must be a datetime, not {shown(at)}", place="Clock")
    if at.tzinfo is None:
        raise RequestError(f"{shown(at)} has no time zone", place="Clock", hint="write datetime(..., tzinfo=UTC)")
    return at.astimezone(UTC)


E = TypeVar("E", bound=Entity)

_SERIALS = 1_000_000
"""Number of instances of a seed before those of the next seed start."""


class Factory:
    """Creates valid instances: ``make = Factory(seed=1)``, ``make(Article, status="draft")``.

    A field that you don't pass has its default or, without a default, a value of its type, such as ``title-1``. Values
    of ``now()`` and ``ulid()`` are replaced, so that a seed always creates the same instances.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._numbers = itertools.count()

    def __call__(self, entity: type[E], /, **given: Any) -> E:
        """One instance. Raises ArgumentError for an invalid value, and for a field whose validators reject every value
        that is tried: pass one.
        """
        anything: Any = entity
        if not isinstance(anything, type) or not issubclass(anything, Entity):
            raise ArgumentError(f"{shown(entity)} isn't an entity", place="Factory", hint="pass an entity class")
        serial = self.seed * _SERIALS + next(self._numbers)
        chosen = {
            name: sample_value(info, name, serial)
            for name, info in entity.model_fields.items()
            if name not in given and (info.is_required() or info.default_factory in {now, ulid})
        }
        try:
            return valid_instance(entity, chosen, given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, (entity.__name__, *first["loc"])))
            raise ArgumentError(str(first["msg"]), place=place, hint="pass a valid value") from None
        except Problem as problem:
            raise ArgumentError(str(problem), place=entity.__name__, hint="pass a valid value") from None

    def many(self, entity: type[E], count: int, /, **given: Any) -> list[E]:
        """Create ``count`` instances."""
        return [self(entity, **given) for _ in range(count)]

    def fill(self, design: Design, counts: Mapping[type[Entity], int]) -> list[Entity]:
        """Create ``counts[entity]`` items of each entity in a store. Returns the items as stored."""
        return [design.create(self(entity)) for entity, count in counts.items() for _ in range(count)]


def sample_value(info: FieldInfo, name: str, serial: int) -> Any:
    """A readable value of a field. Fields of the same name and type have the same value for the same ``serial``."""
    annotation = annotated(info)
    choices = info.examples or choices_of(annotation)
    if choices:
        return choices[serial % len(choices)]
    if info.default_factory is ulid:
        return name[:1] + f"{serial:025d}"
    kind = kind_of(annotation)
    if kind is str:
        text = f"{name.removesuffix('_id')}-{serial + 1}"
        low, high = limits(annotation, "length")
        if (low or 0) <= len(text) <= (high or len(text)):
            return text
    if kind is int and VERSION.name not in marks_of(annotation):
        low, high = limits(annotation, "value")
        value = (low or 0) + 1 + serial % _SERIALS
        return value if high is None else min(value, high)
    return typical(annotation, name, serial).value
