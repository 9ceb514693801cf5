"""The stores of the contract tests, and callers that make synchronous and asynchronous calls.

To add a store, add to ``OPENERS`` a function that opens a design on an empty store.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest

from keyplan import Design, Entity
from keyplan.testing import verify
from tests.contract.design import Everything
from tests.contract.remote import dynamodb_local, our_server
from tests.seeds import NEW

OPENERS: dict[str, Callable[[type[Any], Path], Any]] = {
    "memory": lambda design, folder: design.open(":memory:", secret="s"),
    "file": lambda design, folder: design.open(folder / "store.db", secret="s"),
    "server": lambda design, folder: our_server(folder, design),
    "dynamodb-local": lambda design, folder: dynamodb_local(folder, design),
}
"""Open a design on an empty store."""

STORES: dict[str, Callable[[Path], Everything]] = {
    name: partial(opened, Everything) for name, opened in OPENERS.items()
}


class Caller(Protocol):
    """Calls access patterns and CRUD methods of a design and waits for the results."""

    design: Design

    def read(self, pattern: str, **arguments: Any) -> Any: ...
    def write(self, pattern: str, **arguments: Any) -> Any: ...
    def get(self, entity: type[Any], **key: Any) -> Any: ...
    def get_many(self, entity: type[Entity], keys: Iterable[Mapping[str, Any]]) -> Any: ...
    def put(self, item: Any) -> Any: ...
    def create(self, item: Entity) -> Any: ...
    def update(self, item: Any, **changes: Any) -> Any: ...
    def delete(self, item: Any, **key: Any) -> None: ...
    def batch(self, actions: Iterable[Any]) -> None: ...
    def transact(self, actions: Iterable[Any]) -> None: ...
    def close(self) -> None: ...


class SyncCaller:
    """A caller that makes synchronous calls."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.get: Any = design.get
        self.get_many: Any = design.get_many
        self.put: Any = design.put
        self.create: Any = design.create
        self.update: Any = design.update
        self.delete: Any = design.delete
        self.batch: Any = design.batch
        self.transact: Any = design.transact

    def read(self, pattern: str, **arguments: Any) -> Any:
        if self.design.compiled.reads[pattern].shape.kind.value == "iterator":
            return list(self.design.stream(pattern, (), arguments))
        return self.design.run_read(pattern, (), arguments)

    def write(self, pattern: str, **arguments: Any) -> Any:
        return self.design.run_write(pattern, (), arguments)

    def close(self) -> None:
        self.design.close()


class AsyncCaller:
    """A caller that makes asynchronous calls in a separate event loop."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self._runner = asyncio.Runner()

    def read(self, pattern: str, **arguments: Any) -> Any:
        if self.design.compiled.reads[pattern].shape.kind.value == "iterator":

            async def listed() -> list[Any]:
                return [value async for value in self.design.stream_async(pattern, (), arguments)]

            return self._runner.run(listed())
        return self._runner.run(self.design.run_read_async(pattern, (), arguments))

    def write(self, pattern: str, **arguments: Any) -> Any:
        return self._runner.run(self.design.run_write_async(pattern, (), arguments))

    def get(self, entity: type[Entity], **key: Any) -> Any:
        return self._runner.run(self.design.aio.get(entity, **key))

    def get_many(self, entity: type[Entity], keys: Iterable[Mapping[str, Any]]) -> Any:
        return self._runner.run(self.design.aio.get_many(entity, keys))

    def put(self, item: Any) -> Any:
        return self._runner.run(self.design.aio.put(item))

    def create(self, item: Entity) -> Any:
        return self._runner.run(self.design.aio.create(item))

    def update(self, item: Any, **changes: Any) -> Any:
        return self._runner.run(self.design.aio.update(item, **changes))

    def delete(self, item: Any, **key: Any) -> None:
        self._runner.run(self.design.aio.delete(item, **key))

    def batch(self, actions: Iterable[Any]) -> None:
        self._runner.run(self.design.aio.batch(actions))

    def transact(self, actions: Iterable[Any]) -> None:
        self._runner.run(self.design.aio.transact(actions))

    def close(self) -> None:
        self._runner.close()
        self.design.close()


CALLERS: dict[str, Callable[[Design], Caller]] = {"sync": SyncCaller, "async": AsyncCaller}

EVERY_RUN = {("memory", "sync"), ("server", "async")}
WAYS = [
    pytest.param((store, way), id=f"{store}-{way}", marks=() if (store, way) in EVERY_RUN else pytest.mark.nightly)
    for store in OPENERS
    for way in CALLERS
]
"""Each store with each caller, as fixture parameters. All but two run only in ``make nightly``."""


def caller_of(design: type[Any]) -> Any:
    """Return a fixture with a caller of the design on an empty store, for each store and kind of call."""

    @pytest.fixture(params=WAYS)
    def caller(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Caller]:
        store, way = request.param
        opened = CALLERS[way](OPENERS[store](design, tmp_path))
        yield opened
        opened.close()

    return caller


def generated(memory: int, server: int, local: int) -> list[Any]:
    """Return the parameters of a test with random data: each kind of store, with the number of its data sets."""
    nightly = [
        pytest.param(name, count, marks=pytest.mark.nightly)
        for name, count in (("server", server), ("dynamodb-local", local))
    ]
    return [("memory", memory if NEW else memory // 2), *nightly]


def check_generated(design: type[Design], store: str, stores: int, folder: Path) -> None:
    """Compare every access pattern with a brute-force filter on stores with random data."""
    folders = (folder / str(number) for number in itertools.count())
    verify(design, stores=stores, seed=1, open=lambda: OPENERS[store](design, next(folders)))
