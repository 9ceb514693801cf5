"""Designs opened in this process for a test: with the time, the lag and the refusals that the test wants."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from keyplan.client.transports.embedded import InProcess
from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.service_errors import ProvisionedThroughputExceededException
from keyplan.errors import RequestError
from keyplan.session.design import Design
from keyplan.session.stores import Store, with_table
from keyplan.store import Engine

__all__ = ["opened", "sweep", "throttled"]

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


def opened(
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
    """Within it, the next ``times`` requests of a design from ``opened`` are refused with
    ProvisionedThroughputExceededException; ``operations`` are those that are meant, all where none is named. Gives a
    function that says how many were refused.
    """
    wanted = frozenset(operations)
    unknown = sorted(wanted - OPERATIONS.keys())
    if unknown:
        raise RequestError(f"DynamoDB has no operation {', '.join(unknown)}", place="throttled")
    with _gate(design).refusing(_Refusals(times, wanted)) as refusals:
        yield lambda: times - refusals.left


def sweep(design: Design) -> int:
    """Remove the items that have expired by the clock of a design from ``opened``, as DynamoDB does within a few days;
    gives how many.
    """
    return _gate(design).engine.sweep()


def _gate(design: Design) -> _Gate:
    backend: Any = design.store.backend
    if not isinstance(backend, _Gate):
        raise RequestError(
            f"{design!r} isn't from keyplan.testing.stores",
            hint=f"open it so: with opened({type(design).__name__}) as design: ...",
        )
    return backend
