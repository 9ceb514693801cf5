# mypy: disable-error-code="empty-body"
"""A small design with one call for each kind of request, and with countable effects of each call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from keyplan.session.stores import Store
from keyplan.store import Engine

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
    """A design with access patterns for notes in books."""

    table = Table("notes", indexes=[GSI1])

    @read("N1")
    def note(self, book: str, number: int) -> Note | None: ...

    @read("N2")
    def notes(self, book: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Note]: ...

    @read("N3")
    def scan_index(self, book: str) -> Iterator[Note]: ...

    @write("N4", attempts=10)
    def append(self, book: str) -> Writes[Note]:
        """Append a note to a book, and count the book's notes in its first note."""
        first = yield from self.note.read(book, 0)
        assert first is not None
        added = Note(book=book, number=first.views + 1, title="added")
        yield Create(added)
        yield Update(first, views=first.views + 1).only_if(views=first.views)
        return added

    @write("N5")
    def rename(self, book: str, number: int, title: str) -> Writes[str | None]:
        """Change the title of a note, and return the previous title."""
        note = yield from Update(Note(book=book, number=number, title="old"), title=title).previous()
        return note.title if note is not None else None


def directly(engine: Engine) -> Notes:
    """Open the design on an engine, without HTTP."""
    return Notes(Store(InProcess(engine.call, lambda: None), "direct", "notes"))


def fill(notes: Notes) -> None:
    """Create the items that the calls require."""
    notes.put(Note(book="a", number=0, title="first"))
    for number in range(1, 4):
        notes.put(Note(book="b", number=number, title="old"))


@dataclass(frozen=True)
class Call:
    """A method call. ``effect`` counts the call's writes. ``sets`` is "repeats" if a retry after a lost response has
    the same effect, "condition" if the condition of the retry fails, or "adds" if there is no retry.
    """

    name: str
    operation: str
    method: str
    arguments: tuple[Any, ...]
    effect: Callable[[Notes], int] | None = None
    sets: str = "repeats"
    result: Callable[[Any], Any] = lambda result: result
    expected: Any = None

    def sync(self, notes: Notes) -> Any:
        return getattr(notes, self.method)(*self.arguments)

    async def aio(self, notes: Notes) -> Any:
        is_pattern = hasattr(getattr(notes, self.method), "aio")
        method = getattr(notes, self.method).aio if is_pattern else getattr(notes.aio, self.method)
        return await method(*self.arguments)


def _note(notes: Notes, book: str, number: int) -> Note:
    note = notes.note(book, number)
    assert note is not None
    return note


def _views(notes: Notes) -> int:
    return _note(notes, "b", 1).views


def _has_title(title: str) -> Callable[[Notes], int]:
    return lambda notes: int(_note(notes, "b", 1).title == title)


def _count(book: str) -> Callable[[Notes], int]:
    return lambda notes: len(notes.notes(book, limit=100))


OLD = Note(book="b", number=1, title="old")
NEW = Note(book="e", number=1)
LAST = Note(book="b", number=3, title="old")
PUTS = [Put(Note(book="c", number=number, title="batch")) for number in range(30)]
BOTH = [Create(Note(book="d", number=1, title="t")), Update(OLD, views=Add(1)), Delete(Note, book="b", number=3)]
KEYS = [{"book": "b", "number": number} for number in (3, 9, 1)]
BY_CLASS = Update(Note, book="b", number=1).set(views=Add(1))
EXPECTING = Update(OLD, title="new").only_if(title="old")

CALLS = (
    Call("a typed get", "GetItem", "note", ("b", 2), result=lambda note: note.title, expected="old"),
    Call("a page", "Query", "notes", ("b", 2), result=lambda page: [note.number for note in page], expected=[1, 2]),
    Call(
        *("get_many", "BatchGetItem", "get_many", (Note, KEYS)),
        result=lambda result: [note and note.number for note in result],
        expected=[3, None, 1],
    ),
    Call("put", "PutItem", "put", (NEW,), _count("e"), result=lambda note: note.book, expected="e"),
    Call("create", "PutItem", "create", (NEW,), _count("e"), "condition", result=lambda note: note.book, expected="e"),
    Call("update with only_if", "UpdateItem", "transact", ([EXPECTING],), _has_title("new"), "condition"),
    Call("update with Add", "UpdateItem", "transact", ([BY_CLASS],), _views, "adds"),
    Call(
        *("idempotent update with Add", "UpdateItem", "update", (BY_CLASS.idempotent("visit 1"),), _views),
        result=lambda note: note.views,
        expected=1,
    ),
    Call("update with ALL_OLD", "UpdateItem", "rename", ("b", 1, "newer"), _has_title("newer"), "adds", expected="old"),
    # A repetition doesn't find the deleted item.
    Call("delete", "DeleteItem", "delete", (LAST,), lambda notes: 3 - _count("b")(notes), result=lambda _: None),
    Call("batch of 30 puts", "BatchWriteItem", "batch", (PUTS,), lambda notes: _count("c")(notes) // 30),
    Call("transact", "TransactWriteItems", "transact", (BOTH,), _views),
    Call(
        *("a write pattern", "TransactWriteItems", "append", ("a",), lambda notes: _note(notes, "a", 0).views),
        result=lambda note: note.number,
        expected=1,
    ),
)
