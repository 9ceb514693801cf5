"""``aopen`` opens a design like ``open``, but doesn't block the event loop."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from keyplan import Design, Put, Table, Writes, read, write
from keyplan.client import table_setup as tables
from keyplan.client.conversations import Request
from keyplan.client.transports.embedded import InProcess
from keyplan.errors import DesignError, StoreError
from keyplan.session.stores import Store
from keyplan.store import Engine
from tests.client.test_tables import Note, Notes, Slow


class Waits:
    """A transport that yields to the event loop before each response."""

    def __init__(self, slow: Slow) -> None:
        self.slow = slow
        self.threads: set[int] = set()

    async def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.threads.add(threading.get_ident())
        await asyncio.sleep(0)
        return self.slow.call(operation, parameters)

    async def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return [await self.call(*each) for each in requests]


def test_aopen_creates_the_table_and_aclose_closes_it(tmp_path: Path) -> None:
    async def main() -> Note | None:
        async with await Notes.aopen(tmp_path / "notes.db", secret="s") as notes:
            await notes.aio.put(Note(name="1", author="ada"))
            return await notes.aio.get(Note, name="1")

    assert asyncio.run(main()) == Note(name="1", author="ada")
    with Notes.open(tmp_path / "notes.db", create=False) as notes:
        assert notes.get(Note, name="1") is not None


class Awaited(Design):
    """A design with a read declared as an async function."""

    table = Table("awaited", indexes=Notes.table.indexes, entities=[Note])

    @read("R1")
    async def note(self, name: str) -> Note | None: ...

    @write("W1")
    def signed(self, name: str, author: str) -> Writes[Note | None]:
        note = yield from self.note.read(name)
        if note is not None:
            yield Put(note.model_copy(update={"author": author}))
        return note


def test_reads_declared_as_async_functions_are_awaited(tmp_path: Path) -> None:
    async def main() -> tuple[Note | None, Note | None, Note | None, Note | None]:
        async with await Awaited.aopen(tmp_path / "notes.db", secret="s") as notes:
            await notes.aio.put(Note(name="1", author="ada"))
            before, asked = await notes.note("1"), await notes.signed.aio("1", "bob")
            return before, asked, await notes.note("1"), await notes.note("2")

    ada, bob = Note(name="1", author="ada"), Note(name="1", author="bob")
    assert asyncio.run(main()) == (ada, ada, bob, None)


def test_creating_a_table_does_not_block_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "POLL_SECONDS", 0.001)
    engine = Engine.open(":memory:")
    engine.call("CreateTable", Notes.table.create_request("notes"))
    slow = Slow(engine, ["CREATING"] * 20 + ["ACTIVE"])
    backend = InProcess(slow.call, engine.close)
    waits = Waits(slow)
    backend.async_transport = waits  # type: ignore[assignment]  # it is one in kind
    store = Store(backend, ":memory:", "notes", local=True)
    made_in: list[int] = []

    def embedded(*_: object) -> Store:
        made_in.append(threading.get_ident())
        return store

    monkeypatch.setattr("keyplan.session.stores._embedded", embedded)
    turns = 0

    async def main() -> None:
        opening = asyncio.create_task(Notes.aopen(":memory:"))
        nonlocal turns
        while not opening.done():
            turns += 1
            await asyncio.sleep(0)
        await (await opening).__aexit__()

    asyncio.run(main())
    assert turns > 20
    assert slow.states == []
    assert made_in != [threading.get_ident()]
    assert waits.threads == {threading.get_ident()}


def test_aopen_raises_the_same_errors_as_open(tmp_path: Path) -> None:
    def error_of(design: type[Design], url: str, **options: Any) -> Exception:
        with pytest.raises((StoreError, DesignError)) as awaited:
            asyncio.run(design.aopen(url, **options))
        with pytest.raises((StoreError, DesignError)) as called:
            design.open(url, **options)
        assert str(awaited.value) == str(called.value)
        return awaited.value

    Notes.open(tmp_path / "notes.db").close()
    assert isinstance(error_of(Notes, str(tmp_path / "none.db"), create=False), StoreError)
    assert isinstance(error_of(Notes, "dynamodb://nowhere"), StoreError)
    assert isinstance(error_of(Design, ":memory:"), DesignError)


def test_a_store_that_fails_to_open_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.open(":memory:")
    engine.call("CreateTable", Notes.table.create_request("notes"))
    closed: list[bool] = []
    slow = Slow(engine, ["DELETING"])
    store = Store(InProcess(slow.call, lambda: closed.append(True)), ":memory:", "notes", local=True)
    monkeypatch.setattr("keyplan.session.stores._embedded", lambda *_: store)
    with pytest.raises(StoreError, match="is being deleted"):
        asyncio.run(Notes.aopen(":memory:"))
    assert closed == [True]
    engine.close()
