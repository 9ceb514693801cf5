"""What the tests of all systems share.

- ``recorded(design)``: from there on every request is kept, with its response and its units; ``rounds`` are the sizes
  of what went out in parallel.
- ``stored(design)``: every item, seen past the design.
- ``STORES``: the stores a system must work on alike; ``open_on(Design, store, folder)`` opens one, empty.
- ``alike_in_every_way``: one read asked as Python, awaited, by name, over REST, and on the command line.
- ``in_processes``: the same program in several processes at once, on one file.
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

__all__ = [
    "STORES",
    "Recorder",
    "alike_in_every_way",
    "all_pages",
    "in_processes",
    "open_on",
    "recorded",
    "silent",
    "stored",
]

D = TypeVar("D", bound=Design)

STORES = ("memory", "file", "server", "dynamodb-local")


def silent(done: int, total: int | None) -> None:
    """Progress that nobody watches."""


# Requests


@dataclass
class Recorder:
    """Passes requests on, and keeps them with their responses. ``before`` may raise instead."""

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
        """Capacity units of all requests: read units of reads, write units of writes."""
        number = 0.0
        for _, _, response in self.made:
            consumed = response.get("ConsumedCapacity") or []
            for value in consumed if isinstance(consumed, list) else [consumed]:
                number += value["CapacityUnits"]
        return number

    def clear(self) -> None:
        """Forget what was recorded."""
        self.made.clear()
        self.rounds.clear()


def recorded(design: Design) -> Recorder:
    """From here on the design's requests are recorded."""
    recorder = Recorder(design.store.transport)
    design.store.transport = recorder
    return recorder


def stored(design: Design) -> list[dict[str, Any]]:
    """Every item in the table, as it is stored. It isn't recorded."""
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
    """The items of all pages of a read."""
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
    """The design on an empty store of that name; the test is skipped where there is none."""
    if store == "memory":
        return design.open(":memory:", secret="s")
    if store == "file":
        return design.open(folder / "store.db", secret="s")
    address = server_address() if store == "server" else local_address()
    return design.open(f"dynamodb+http://{address}/{new_table()}", secret="s", create=True)


# Ways in


_app = lru_cache(maxsize=1)(app)  # made once for the many reads of one design


def alike_in_every_way(design: Design, path: Path, name: str, given: dict[str, Any]) -> Any:
    """Ask one read in every way, and see that the answers are one; gives it as JSON data. ``path`` is the store's."""
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
    """Run a program once for each list of arguments, in processes that begin together; gives what each printed.

    The program prints "ready" when it has opened what it needs, and then waits for a line.
    """
    return outputs([[sys.executable, "-c", program, *given] for given in arguments], together=True)
