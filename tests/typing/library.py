# mypy: disable-error-code="empty-body"
"""The design for the correct and the wrong calls, with all kinds of results and parameters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import date, datetime
from typing import Annotated, Literal, NamedTuple, assert_type

from pydantic import AwareDatetime, BaseModel
from typing_extensions import TypeAliasType

from keyplan import (
    Add,
    CounterShards,
    Create,
    Cursor,
    Delete,
    Design,
    Discriminator,
    Each,
    Entity,
    Field,
    IdempotencyTokens,
    IfNotExists,
    Index,
    InvalidItem,
    Key,
    KeyStyle,
    Page,
    Prefix,
    Put,
    Range,
    StoredAs,
    Table,
    Update,
    View,
    Writes,
    read,
    write,
)

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
BY_DAY = Index("BY_DAY", "day", "branch", projection="KEYS_ONLY")


class Book(Entity):
    """A book, read by ID, and by author, year and title."""

    book_id: str
    author: str
    year: int
    title: str
    lent: int | None = None

    primary = Key("BOOK#{book_id}", "#HEAD")
    by_author = Key("AUTHOR#{author}", "{year:04d}#{title}", index=GSI1)


class Copy(Entity):
    """A copy of a book, in the partition of the book."""

    book_id: str
    number: int
    shelf: str = "A1"

    primary = Key("BOOK#{book_id}", "COPY#{number:04d}")


Branch = TypeAliasType("Branch", str)
"""Like ``type Branch = str`` in Python 3.12."""


class Visit(Entity):
    """A visit, stored in a partition per month."""

    branch: Branch
    at: AwareDatetime

    primary = Key("VISITS#{branch}#{at:%Y%m}", "{at}")


class Wish(Entity, extra="allow"):
    """A reader's wish for a book, in an index while the wish is open."""

    book_id: str
    branch: str
    day: date
    haste: Literal["today", "some day"] = "some day"
    state: Literal["open", "met"] = "open"

    primary = Key("WISH#{book_id}#{branch}", "{haste:rank}")
    by_day = Key("{day}", "{branch}", index=BY_DAY)
    waiting = Key("WAITING#{branch}", "{day}", index=GSI1, when={"state": "open"})


class BookTitle(View[Book]):
    """A view of a book, for lists."""

    book_id: str
    title: str


class Room(BaseModel):
    """A reading room."""

    floor: int
    name: str | None = None


class Reader(Entity):
    """A reader, stored in the format of another program."""

    reader_id: str
    since: Annotated[float, StoredAs("text")] = 0
    room: Room
    seats: list[Room] = Field(default_factory=list[Room])
    marks: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])

    applied: IdempotencyTokens = Field(default_factory=set)
    kind = Discriminator("type", "reader")
    primary = Key("READER:{reader_id}", "HEAD", style=KeyStyle(raw=True, case="lower"))


class Loans(Entity):
    """The number of loans of a book, in a sharded counter."""

    book_id: str
    slot: int = CounterShards(4)
    loans: int = 0

    primary = Key("LOANS#{book_id}#{slot:d}", "SUM")


class BookWithCopies(NamedTuple):
    """A book and all its copies."""

    book: Book
    copies: list[Copy]


class Library(Design):
    """Books and their copies, visits, wishes and readers."""

    table = Table("library", indexes=[GSI1, BY_DAY])

    @read("L1")
    def book(self, book_id: str) -> Book: ...

    @read("L2")
    def find_book(self, book_id: str) -> Book | None: ...

    @read("L3")
    def books_by(self, author: str, limit: int = 2, cursor: Cursor | None = None) -> Page[Book]: ...

    @read("L4")
    def copies(self, book_id: str) -> list[Copy]: ...

    @read("L5")
    def all_copies(self, book_id: str) -> Iterator[Copy]: ...

    @read("L6")
    def whole(self, book_id: str) -> BookWithCopies | None: ...

    @read("L7")
    def parts(self, book_id: str, limit: int = 10) -> Page[Book | Copy]: ...

    @read("L8")
    def of_years(self, author: str, year: Range[int] | None = None) -> list[Book]: ...

    @read("L9")
    def titled(self, author: str, year: int, title: Prefix) -> list[Book]: ...

    @read("L10")
    def books(self, book_id: Each[str]) -> list[Book]: ...

    @read("L11")
    async def book_later(self, book_id: str) -> Book | None: ...

    @read("L12")
    def copies_later(self, book_id: str) -> AsyncIterator[Copy]: ...

    @read("L13")
    def titles_by(self, author: str, limit: int = 10, cursor: Cursor | None = None) -> Page[BookTitle]: ...

    @read("L20", key=Book.by_author)
    def books_in_turn(self, author: str, newest_first: bool = False) -> Iterator[Book]: ...

    @read("L21")
    def readable_copies(self, book_id: str) -> list[Copy | InvalidItem]: ...

    @read("L22")
    def visits(
        self,
        branch: str,
        at: Range[datetime],
        newest_first: bool = False,
        limit: int = 10,
        cursor: Cursor | None = None,
    ) -> Page[Visit]: ...

    @read("L23", complete=True)
    def wishes(self, day: date) -> list[Wish]: ...

    @read("L24")
    def wishes_for(self, book_id: Each[str], branch: Each[str], limit: int = 10) -> Page[Wish]: ...

    @read("L25", scan=True, segments=2)
    def all_wishes(self) -> Iterator[Wish]: ...

    @read("L27", scan=True, segments=2)
    def some_wishes(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Wish]: ...

    @write("L26")
    def count_loan(self, book_id: str) -> Writes[Loans]:
        return (yield from Update(Loans, book_id=book_id, slot=1).set(loans=Add(1)).or_create())

    @read("L14")
    def title(self, book_id: str) -> BookTitle | None: ...

    @read("L15", entity=Copy)
    def how_many(self, book_id: str) -> int: ...

    @read("L16", entity=[Book, Copy])
    def is_there(self, book_id: str) -> bool: ...

    @read("L18", entity=Loans, total="loans")
    def loans(self, book_id: str) -> int: ...

    @read("L17", scan_index=GSI1)
    def all_titles(self) -> Iterator[BookTitle]: ...

    @write("W1")
    def buy(self, book_id: str, shelf: str = "A1") -> Writes[Copy]:
        book = yield from self.book.read(book_id)
        assert_type(book, Book)
        perhaps = yield from self.find_book.read(book_id)
        assert_type(perhaps, Book | None)
        page = yield from self.books_by.read(book.author, limit=1)
        assert_type(page, Page[Book])
        there = yield from self.all_copies.read(book_id)
        assert_type(there, list[Copy])
        later = yield from self.book_later.read(book_id)
        assert_type(later, Book | None)
        copy = Copy(book_id=book_id, number=len(there) + 1, shelf=shelf)
        yield Create(copy)
        yield Update(book, lent=0).only_if(lent=book.lent)
        return copy

    @write("W2", in_transaction=True)
    def throw_away(self, copy: Copy) -> Writes:
        yield Delete(copy)

    @write("W3")
    def lend(self, book_id: str) -> Writes[int]:
        after = yield from Update(Book, book_id=book_id).set(lent=Add(1))
        assert_type(after, Book)
        return after.lent or 0

    @write("W20")
    def sit(self, reader: Reader, floor: int) -> Writes[int]:
        count = yield from self.lend.in_transaction("1")
        assert_type(count, int)
        yield Update(reader).at(lambda reader: reader.room.floor).set(floor)
        after = yield from (
            Update(Reader, reader_id="2")
            .at(lambda reader: reader.seats[0].floor)
            .add(1)
            .at(lambda reader: reader.marks["a"])
            .append(["b"])
            .set(since=IfNotExists(1.5))
        )
        assert_type(after, Reader)
        return after.room.floor

    @write("W4")
    def replace(self, copy: Copy) -> Writes[Copy]:
        put = yield from Put(copy)
        assert_type(put, Copy)
        made = yield from Create(Book(book_id="9", author="Ada", title="Notes", year=1843)).final()
        assert_type(made, Book)
        before = yield from Put(copy).previous()
        assert_type(before, Copy | None)
        earlier = (
            yield from Update(Reader, reader_id="1").set(since=2.0).idempotent("visit 1").only_if(since=1.0).previous()
        )
        assert_type(earlier, Reader | None)
        removed = yield from Delete(Copy, book_id="9", number=1)
        assert_type(removed, Copy | None)
        return put
