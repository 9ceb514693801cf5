"""Helpers for the tests of all systems.

``recorded(design)`` records requests with their responses and units; ``rounds`` has the size of each parallel group.
``stored(design)`` returns every stored item. ``open_on(Design, store, folder)`` opens an empty store of
``STORES``. ``alike_in_every_way`` runs one read in every interface. ``in_processes`` runs a program in several
processes on one file.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from keyplan import Cursor, Design, Page
from keyplan.client.conversations import Request, Transport
from keyplan.formatting.results import answer_json
from keyplan.web import app
from tests.cli.support import json_of
from tests.contract.remote import local_address, new_table, server_address
from tests.processes import outputs
from tests.web.support import TestClient

D = TypeVar("D", bound=Design)

STORES = ("memory", "file", "server", "dynamodb-local")


def silent(done: int, total: int | None) -> None:
    """A progress callback that does nothing."""


# Requests


@dataclass
class Recorder:
    """A transport that forwards and records requests. ``before`` runs before each request, and may raise an error."""

    inner: Transport
    made: list[tuple[str, dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    before: Callable[[str, dict[str, Any]], None] = lambda operation, parameters: None

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.rounds.append(1)
        return self._call(operation, parameters)

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        self.rounds.append(len(requests))
        return [self._call(*request) for request in requests]

    def _call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.before(operation, parameters)
        response = self.inner.call(operation, {**parameters, "ReturnConsumedCapacity": "INDEXES"})
        self.made.append((operation, parameters, response))
        return response

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _, _ in self.made]

    @property
    def units(self) -> float:
        """Return the sum of the read and write units that the recorded requests consumed."""
        number = 0.0
        for _, _, response in self.made:
            consumed = response.get("ConsumedCapacity") or []
            for value in consumed if isinstance(consumed, list) else [consumed]:
                number += value["CapacityUnits"]
        return number

    def clear(self) -> None:
        self.made.clear()
        self.rounds.clear()


def recorded(design: Design) -> Recorder:
    """Record the design's requests from now on, and return the recorder."""
    recorder = Recorder(design.store.transport)
    design.store.transport = recorder
    return recorder


def stored(design: Design) -> list[dict[str, Any]]:
    """Return every stored item of the table. The requests of this function aren't recorded."""
    transport = design.store.transport
    while isinstance(transport, Recorder):
        transport = transport.inner
    items: list[dict[str, Any]] = []
    request: dict[str, Any] = {"TableName": design.store.table_name}
    while True:
        response = transport.call("Scan", request)
        items += response["Items"]
        if "LastEvaluatedKey" not in response:
            return items
        request["ExclusiveStartKey"] = response["LastEvaluatedKey"]


def all_pages(ask: Callable[..., Page[Any]], *arguments: Any, limit: int = 50, **more: Any) -> list[Any]:
    """Return the items of all pages of a read."""
    result: list[Any] = []
    cursor: Cursor | None = None
    while True:
        page = ask(*arguments, **more, limit=limit, cursor=cursor)
        result += page.items
        cursor = page.cursor
        if cursor is None:
            return result


# Stores


def open_on(design: type[D], store: str, folder: Path) -> D:
    """Open the design on an empty store with this name. If the store isn't available, the test is skipped."""
    if store == "memory":
        return design.open(":memory:", secret="s")
    if store == "file":
        return design.open(folder / "store.db", secret="s")
    address = server_address() if store == "server" else local_address()
    return design.open(f"dynamodb+http://{address}/{new_table()}", secret="s", create=True)


# Interfaces


_app = lru_cache(maxsize=1)(app)  # created once for the many reads of one design


def alike_in_every_way(design: Design, path: Path, name: str, given: dict[str, Any]) -> Any:
    """Run one read in every interface on the store file ``path``, check that the results are equal, and return the
    result as JSON data.
    """
    bound = getattr(design, name)
    answer = bound(**given)
    wanted = answer_json(answer)
    assert asyncio.run(bound.aio(**given)) == answer
    assert design.call(name, {key: str(value) for key, value in given.items()}) == answer
    with TestClient(_app(design)) as client:
        assert client.get(f"/api/{name}", params=given).json() == wanted
    system = design.compiled.name.lower()
    texts = [f"{key}={value}" for key, value in given.items()]
    assert json_of("call", system, name, *texts, "--db", str(path)) == wanted
    return wanted


# Processes


def in_processes(program: str, arguments: Sequence[Sequence[str]]) -> list[str]:
    """Run a program with each list of arguments, in processes that start together, and return their outputs. The
    program opens its store, prints "ready", and then waits for a line.
    """
    return outputs([[sys.executable, "-c", program, *given] for given in arguments], together=True)
