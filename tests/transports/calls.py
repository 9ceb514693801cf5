# ruff: noqa: E501 - each case is on one line
# mypy: disable-error-code="empty-body"
"""A small design and its calls, one per kind of request, with their countable effects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from keyplan import (
    Add,
    Create,
    Cursor,
    Delete,
    Design,
    Entity,
    Field,
    IdempotencyTokens,
    Index,
    Key,
    Page,
    Put,
    Table,
    Update,
    Writes,
    read,
    write,
)
from keyplan.client.transports.embedded import InProcess
from keyplan.model.declared.actions import Action
from keyplan.session.stores import Store
from keyplan.store import Engine

__all__ = ["CALLS", "Call", "Note", "Notes", "directly"]

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Note(Entity):
    """A note in a book."""

    book: str
    number: int
    title: str = "untitled"
    views: int = 0
    marks: list[str] = Field(default_factory=list)
    labels: set[str] = Field(default_factory=set)
    applied: IdempotencyTokens = set()  # noqa: RUF012 - pydantic copies it

    primary = Key("BOOK#{book}", "{number:04d}")
    by_title = Key("TITLE#{title}", "{book}#{number:04d}", index=GSI1)


class Notes(Design):
    """Notes in books."""

    table = Table("notes", indexes=[GSI1])

    @read("N1")
    def note(self, book: str, number: int) -> Note | None: ...

    @read("N2")
    def notes(self, book: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Note]: ...

    @read("N3")
    def scan_index(self, book: str) -> Iterator[Note]: ...

    @write("N4", attempts=10)
    def append(self, book: str) -> Writes[Note]:
        """Append the next note of a book, counted in its first one."""
        first = yield from self.note.read(book, 0)
        assert first is not None
        added = Note(book=book, number=first.views + 1, title="added")
        yield Create(added)
        yield Update(first, views=first.views + 1).only_if(views=first.views)
        return added

    @write("N5")
    def rename(self, book: str, number: int, title: str) -> Writes[str | None]:
        """Returns the title before."""
        note = yield from Update(Note(book=book, number=number, title="old"), title=title).previous()
        return note.title if note is not None else None


def directly(engine: Engine) -> Notes:
    """The design on an engine, without HTTP."""
    return Notes(Store(InProcess(engine.call, lambda: None), "direct", "notes"))


def fill(notes: Notes) -> None:
    """Create the items for all calls."""
    notes.put(Note(book="a", number=0, title="first"))
    for number in range(1, 4):
        notes.put(Note(book="b", number=number, title="old"))


@dataclass(frozen=True)
class Call:
    """A call, synchronous and asynchronous. ``effect`` counts its writes. ``sets`` is what a repetition after a lost
    response does: "repeats" has the same effect, "condition" fails its condition, "adds" isn't retried.
    """

    name: str
    operation: str
    sync: Callable[[Notes], Any]
    aio: Callable[[Notes], Awaitable[Any]]
    effect: Callable[[Notes], int] | None = None
    sets: str = "repeats"
    result: Callable[[Any], Any] = lambda result: result
    expected: Any = None


def _note(notes: Notes, book: str, number: int) -> Note:
    note = notes.note(book, number)
    assert note is not None
    return note


OLD = Note(book="b", number=1, title="old")
PUTS = [Put(Note(book="c", number=number, title="batch")) for number in range(30)]
BOTH: list[Action] = [
    Create(Note(book="d", number=1, title="t")),
    Update(OLD, views=Add(1)),
    Delete(Note, book="b", number=3),
]
KEYS = [{"book": "b", "number": number} for number in (3, 9, 1)]
BY_CLASS: list[Action] = [Update(Note, book="b", number=1).set(views=Add(1))]
ONCE = Update(Note, book="b", number=1).set(views=Add(1)).idempotent("visit 1")


async def _views_of(updating: Awaitable[Note]) -> int:
    return (await updating).views


EXPECTING: list[Action] = [Update(OLD, title="new").only_if(title="old")]

CALLS = (
    Call("a typed get", "GetItem", lambda notes: notes.note("b", 2), lambda notes: notes.note.aio("b", 2), result=lambda note: note.title, expected="old"),
    Call(
        "a page",
        "Query",
        lambda notes: notes.notes("b", limit=2),
        lambda notes: notes.notes.aio("b", limit=2),
        result=lambda page: [note.number for note in page],
        expected=[1, 2],
    ),
    Call(
        "get_many",
        "BatchGetItem",
        lambda notes: notes.get_many(Note, KEYS),
        lambda notes: notes.aio.get_many(Note, KEYS),
        result=lambda result: [note and note.number for note in result],
        expected=[3, None, 1],
    ),
    Call(
        "put",
        "PutItem",
        lambda notes: notes.put(Note(book="e", number=1)),
        lambda notes: notes.aio.put(Note(book="e", number=1)),
        lambda notes: len(notes.notes("e")),
        result=lambda note: note.book,
        expected="e",
    ),
    Call(
        "create",
        "PutItem",
        lambda notes: notes.create(Note(book="e", number=1)),
        lambda notes: notes.aio.create(Note(book="e", number=1)),
        lambda notes: len(notes.notes("e")),
        "condition",
        result=lambda note: note.book,
        expected="e",
    ),
    Call(
        "update, only_if",
        "UpdateItem",
        lambda notes: notes.transact(EXPECTING),
        lambda notes: notes.aio.transact(EXPECTING),
        lambda notes: int(_note(notes, "b", 1).title == "new"),
        "condition",
    ),
    Call(
        "update, Add",
        "UpdateItem",
        lambda notes: notes.transact(BY_CLASS),
        lambda notes: notes.aio.transact(BY_CLASS),
        lambda notes: _note(notes, "b", 1).views,
        "adds",
    ),
    Call(
        "update, Add once",
        "UpdateItem",
        lambda notes: notes.update(ONCE).views,
        lambda notes: _views_of(notes.aio.update(ONCE)),
        lambda notes: _note(notes, "b", 1).views,
        expected=1,
    ),
    Call(
        "update, previous",
        "UpdateItem",
        lambda notes: notes.rename("b", 1, "newer"),
        lambda notes: notes.rename.aio("b", 1, "newer"),
        lambda notes: int(_note(notes, "b", 1).title == "newer"),
        "adds",
        expected="old",
    ),
    Call(
        "delete",
        "DeleteItem",
        lambda notes: notes.delete(Note, book="b", number=3),
        lambda notes: notes.aio.delete(Note, book="b", number=3),
        lambda notes: 3 - len(notes.notes("b")),
        result=lambda _: None,  # a repetition doesn't find the deleted item
    ),
    Call(
        "batch of 30 puts",
        "BatchWriteItem",
        lambda notes: notes.batch(PUTS),
        lambda notes: notes.aio.batch(PUTS),
        lambda notes: len(notes.notes("c", limit=100)) // 30,
    ),
    Call("transact", "TransactWriteItems", lambda notes: notes.transact(BOTH), lambda notes: notes.aio.transact(BOTH), lambda notes: _note(notes, "b", 1).views),
    Call(
        "a write pattern",
        "TransactWriteItems",
        lambda notes: notes.append("a"),
        lambda notes: notes.append.aio("a"),
        lambda notes: _note(notes, "a", 0).views,
        result=lambda note: note.number,
        expected=1,
    ),
)  # fmt: skip
