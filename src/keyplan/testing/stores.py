"""Designs opened in this process for a test: with the time, the lag and the refusals that the test wants."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
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
from keyplan.model.declared.example_values import accepted_value, annotated, limits, typical
from keyplan.model.declared.fields import kind_of, now, time_by, ulid
from keyplan.session.design import Design
from keyplan.session.stores import Store, with_table
from keyplan.store import Engine

__all__ = ["Clock", "Factory", "expire_items", "open_test_store", "throttled"]

D = TypeVar("D", bound=Design)


class _Gate(InProcess):
    """An engine whose requests can be refused."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(self._pass, engine.close)
        self.engine = engine
        self._lock = threading.Lock()
        self._refusals: list[_Refusals] = []

    def _pass(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            refused = next((refusal for refusal in self._refusals if refusal.takes(operation)), None)
            if refused is not None:
                refused.left -= 1
        if refused is not None:
            raise ProvisionedThroughputExceededException(
                "The level of configured provisioned throughput for the table was exceeded. "
                "Consider increasing your provisioning level with the UpdateTable API."
            )
        return self.engine.call(operation, parameters)

    @contextmanager
    def refusing(self, refusals: _Refusals) -> Generator[_Refusals]:
        with self._lock:
            self._refusals.append(refusals)
        try:
            yield refusals
        finally:
            with self._lock:
                self._refusals.remove(refusals)


class _Refusals:
    """How many requests are still refused, and of which operations."""

    def __init__(self, left: int, operations: frozenset[str]) -> None:
        self.left = left
        self.operations = operations

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

    ``clock`` is its time, by which items expire: a ``Clock``, or any function that gives seconds since 1970.
    ``throttle=True`` refuses what exceeds the throughput of the table and of partitions, as DynamoDB does;
    ``throttled`` refuses what a test wants. With ``index_lag_ms`` indexes show a write so much later, by the clock:
    one that stands still shows it when it is moved. Raises StoreError.
    """
    engine = Engine.open(path, clock=clock, throttle=throttle, index_lag_ms=index_lag_ms)
    return design(
        with_table(Store(_Gate(engine), str(path), design.table.name, local=True), design.compiled), secret=secret
    )


@contextmanager
def throttled(
    design: Design, times: int = 1_000_000_000, *, operations: Iterable[str] = ()
) -> Generator[Callable[[], int]]:
    """Within it, the next ``times`` requests of a design from ``open_test_store`` are refused with
    ProvisionedThroughputExceededException; ``operations`` are those that are meant, all where none is named. Gives a
    function that says how many were refused.
    """
    wanted = frozenset(operations)
    unknown = sorted(wanted - OPERATIONS.keys())
    if unknown:
        raise RequestError(f"DynamoDB has no operation {', '.join(unknown)}", place="throttled")
    with _gate(design).refusing(_Refusals(times, wanted)) as refusals:
        yield lambda: times - refusals.left


def expire_items(design: Design) -> int:
    """Remove the items that have expired by the clock of a design from ``open_test_store``, as DynamoDB does within a
    few days; gives how many.
    """
    return _gate(design).engine.sweep()


def _gate(design: Design) -> _Gate:
    backend: Any = design.store.backend
    if not isinstance(backend, _Gate):
        raise RequestError(
            f"{design!r} isn't from keyplan.testing.stores",
            hint=f"open it so: with open_test_store({type(design).__name__}) as design: ...",
        )
    return backend


class Clock:
    """The time of a test: ``clock = Clock()`` stands at the present, ``Clock(datetime(2026, 1, 1, tzinfo=UTC))`` there.

    ``open_test_store(Cms, clock=clock)`` gives a store its time. Within ``with clock:`` also ``keyplan.now()`` and
    ``keyplan.ulid()`` go by it, in the whole process.
    """

    def __init__(self, at: datetime | None = None) -> None:
        self._at = datetime.now(UTC) if at is None else _with_zone(at)

    @property
    def at(self) -> datetime:
        """What time it is."""
        return self._at

    def set(self, at: datetime) -> None:
        """Let it be that time. Raises RequestError for one without a time zone."""
        self._at = _with_zone(at)

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        """Let so much time pass, and give the time that it is then."""
        self._at += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._at

    def __call__(self) -> float:
        """The time in seconds since 1970, as a store asks for it."""
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
        raise RequestError(f"a time is a datetime, not {shown(at)}", place="Clock")
    if at.tzinfo is None:
        raise RequestError(f"{shown(at)} has no time zone", place="Clock", hint="write datetime(..., tzinfo=UTC)")
    return at.astimezone(UTC)


E = TypeVar("E", bound=Entity)

_SERIALS = 1_000_000
"""Instances of one seed, before those of the next one begin."""


class Factory:
    """Makes instances: ``make = Factory(seed=1)``, ``make(Article, status="draft")``.

    What isn't given has its default, and else a typical value of its type, another one in each instance; ``now()`` and
    ``ulid()`` as defaults are replaced too, so that one seed makes the same instances each time.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._numbers = itertools.count()

    def __call__(self, entity: type[E], /, **given: Any) -> E:
        """One instance. Raises ArgumentError for values that the entity refuses, and for a field whose validators
        refuse what can be thought of: give it.
        """
        anything: Any = entity
        if not isinstance(anything, type) or not issubclass(anything, Entity):
            raise ArgumentError(f"instances are made of an entity, not of {shown(entity)}", place="Factory")
        number = next(self._numbers)
        made = {
            name: _value(annotated(info), name, info, number, self.seed * _SERIALS + number)
            for name, info in entity.model_fields.items()
            if name not in given and (info.is_required() or info.default_factory in {now, ulid})
        }
        others: dict[str, Any] = {}
        while True:
            try:
                return entity.model_validate({**made, **others, **given}, by_name=True)
            except ValidationError as error:
                refused = {str(element["loc"][0]) for element in error.errors(include_url=False) if element["loc"]}
                wrong = refused & made.keys() - others.keys()
                if not wrong:
                    raise _refused(entity, error) from None
                others |= {name: _accepted(entity, name, error) for name in wrong}

    def many(self, entity: type[E], count: int, /, **given: Any) -> list[E]:
        """So many instances."""
        return [self(entity, **given) for _ in range(count)]

    def fill(self, design: Design, counts: Mapping[type[Entity], int]) -> list[Entity]:
        """Create so many items of each entity in a store, and give them as they are stored."""
        return [design.create(self(entity)) for entity, count in counts.items() for _ in range(count)]


def _value(annotation: Any, name: str, info: FieldInfo, number: int, serial: int) -> Any:
    if info.examples:
        return info.examples[number % len(info.examples)]
    if info.default_factory is ulid:
        return typical(str, name, serial).value[:1] + f"{serial:025d}"
    typical_value = typical(annotation, name, serial)
    if kind_of(annotation) is int and not typical_value.exact:
        low, high = limits(annotation, "value")
        value = (low or 0) + 1 + number
        return value if high is None else min(value, high)
    return typical_value.value


def _accepted(entity: type[Entity], name: str, error: ValidationError) -> Any:
    try:
        return accepted_value(annotated(entity.model_fields[name]))
    except Problem:
        raise _refused(entity, error) from None


def _refused(entity: type[Entity], error: ValidationError) -> ArgumentError:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, (entity.__name__, *first["loc"])))
    return ArgumentError(str(first["msg"]), place=place, hint="give a value that it takes")
