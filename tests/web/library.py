# mypy: disable-error-code="empty-body"
"""A design with access patterns for every kind of parameter and return type."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Literal, NamedTuple

from pydantic import Field as PydanticField
from pydantic import computed_field

from keyplan import (
    Add,
    Create,
    Cursor,
    Delete,
    Design,
    Each,
    Entity,
    Field,
    Index,
    Key,
    Number,
    Page,
    Prefix,
    Put,
    Range,
    Table,
    Through,
    Ttl,
    Unique,
    Update,
    Writes,
    read,
    write,
)
from keyplan.errors import ItemNotFound, Refused

BY_SHELF = Index("BY_SHELF", "shelf_pk", "shelf_sk")
BY_PRICE = Index("BY_PRICE", "price_pk", Number("price_sk"))


class Kind(Enum):
    NOVEL = "novel"
    ESSAY = "essay"


class Size(Entity):
    """A nested value, never stored alone."""

    pages: int
    weight: Decimal | None = None

    primary = Key("SIZE#{pages}", "META")


class Book(Entity):
    """A book."""

    isbn: str
    title: str
    shelf: str = "none"
    kind: Kind = Kind.NOVEL
    price_cents: int = Field(default=0, ge=0)
    weight: Decimal | None = None
    cover: bytes | None = None
    topics: set[str] = Field(default_factory=set)
    bought_at: datetime | None = None
    secret: str = PydanticField(default="hidden", exclude=True)

    primary = Key("BOOK#{isbn}", "#META")
    by_shelf = Key("SHELF#{shelf}", "{title}#{isbn}", index=BY_SHELF)
    by_price = Key("KIND#{kind}", "{price_cents}", index=BY_PRICE)


class Copy(Entity):
    """One copy of a book."""

    isbn: str
    number: int = Field(ge=1)
    lent_to: str | None = None

    primary = Key("BOOK#{isbn}", "COPY#{number:04d:desc}")


class BookWithCopies(NamedTuple):
    book: Book
    copies: list[Copy]


class BookWithNewest(NamedTuple):
    book: Book
    newest: Copy | None


class Reader(Entity):
    """A reader with a unique email."""

    reader_id: str
    email: str
    name: str = ""

    primary = Key("READER#{reader_id}", "META")
    by_email = Unique("EMAIL#{email}")


class Loan(Entity):
    """A loan, sorted by time, with a TTL."""

    reader_id: str
    isbn: str
    at: datetime
    expires_at: Ttl | None = None

    primary = Key("READER#{reader_id}#LOANS", "{at}#{isbn}")


class Event(Entity):
    """An event of a day, in a sharded partition."""

    event_id: str
    at: datetime
    text: str = ""

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def day(self) -> date:
        return self.at.date()

    primary = Key("EVENTS#{day}", "{at}#{event_id}", shards=4)


class Library(Design):
    """A library, with every kind of parameter and return type."""

    table = Table("library", indexes=[BY_SHELF, BY_PRICE])

    @read("L1")
    def book(self, isbn: str) -> Book | None:
        """A book."""
        ...

    @read("L2")
    def book_there(self, isbn: str) -> Book:
        """An existing book."""
        ...

    @read("L3")
    def books(self, isbn: Each[str]) -> list[Book]:
        """Several books at once."""
        ...

    @read("L4")
    def on_shelf(
        self, shelf: str, title: Prefix | None = None, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Book]:
        """The books on a shelf, by title."""
        ...

    @read("L5")
    def on_shelves(self, shelf: Each[str], limit: int = 10, cursor: Cursor | None = None) -> Page[Book]:
        """The books on several shelves, merged."""
        ...

    @read("L6", order_by="price_cents")
    def priced(self, kind: Kind, price_cents: Range[int] | None = None, limit: int = 10) -> list[Book]:
        """Books of a kind by their price."""
        ...

    @read("L7")
    def with_copies(self, isbn: str) -> BookWithCopies | None:
        """A book with all copies."""
        ...

    @read("L8", newest_first=True)
    def with_newest(self, isbn: str) -> BookWithNewest | None:
        """A book with its newest copy."""
        ...

    @read("L9", newest_first=True)
    def loans(
        self, reader_id: str, at: Range[datetime] | None = None, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Loan]:
        """A reader's loans, newest first."""
        ...

    @read("L10", consistent=True)
    def reader_by_email(self, email: str) -> Reader | None:
        """A reader by email."""
        ...

    @read("L11", through=Loan, newest_first=True)
    def books_lent(self, reader_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Book]:
        """The books that a reader has borrowed."""
        ...

    @read("L12")
    def events(self, day: date, limit: int = 10, cursor: Cursor | None = None) -> Page[Event]:
        """The events of a day."""
        ...

    @read("L13")
    def all_events(self, day: date) -> Iterator[Event]:
        """All events of a day, as an iterator."""
        ...

    @read("L14", scan=True, where="price_cents > :least")
    def expensive(self, least: int, limit: int = 10, cursor: Cursor | None = None) -> Page[Book]:
        """Books above a price, by a scan."""
        ...

    @read("L15", through=Through(Loan, isbn="isbn"))
    def copies_lent(self, reader_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Copy]:
        """The copies of the books that a reader has borrowed."""
        ...

    @read("L16")
    def copy(self, isbn: str, number: int) -> Copy | None:
        """One copy."""
        ...

    @write("W1")
    def add_book(self, book: Book) -> Writes[Book]:
        """Add a book.

        The book must not exist yet.
        """
        yield Create(book)
        return book

    @write("W2")
    def add_copies(self, isbn: str, numbers: list[int], lent_to: str | None = None) -> Writes[list[Copy]]:
        """Add copies."""
        copies = [Copy(isbn=isbn, number=number, lent_to=lent_to) for number in numbers]
        for copy in copies:
            yield Put(copy)
        return copies

    @write("W3")
    def remove_book(self, isbn: str) -> Writes:
        """Remove a book, if it exists."""
        yield Delete(Book, isbn=isbn)

    @write("W4")
    def register(self, reader: Reader) -> Writes[Reader]:
        """Register a reader with a unique email."""
        yield Create(reader)
        return reader

    @write("W5", attempts=3)
    def lend(self, isbn: str, reader_id: str, at: datetime) -> Writes[Loan]:
        """Lend a book."""
        book = yield from self.book.read(isbn)
        if book is None:
            raise ItemNotFound(f"there is no book {isbn!r}", place="Library.book")
        if book.shelf == "locked":
            raise Refused("locked books aren't lent", place="Library.lend", hint="ask the librarian")
        loan = Loan(reader_id=reader_id, isbn=isbn, at=at)
        yield Put(loan)
        return loan

    @write("W6")
    def reprice(self, isbn: str, price_cents: int, expected: int) -> Writes[Book]:
        """Change a price if it is as expected."""
        changed = yield Update(Book(isbn=isbn, title="T")).set(price_cents=price_cents).only_if(price_cents=expected)
        return Book.model_validate(changed)

    @write("W7")
    def count_pages(self, sizes: dict[str, Literal["big", "small"]], ratio: float = 1.0) -> Writes[dict[str, int]]:
        """Compute numbers from strings, and write nothing."""
        yield from ()
        return {name: round(len(text) * ratio) for name, text in sizes.items()}

    @write("W8")
    def log(self, event: Event) -> Writes[BookWithNewest | None]:
        """Add an event."""
        yield Put(event)
        return None

    @write("W9")
    def broken(self, title: str) -> Writes:
        """A write with a bug."""
        yield Put(Book(isbn="broken", title=title))
        raise RuntimeError("secret")

    @write("W10")
    def add_copy(self, isbn: str, number: int) -> Writes[Copy]:
        """Add a copy; the entity validates its number."""
        copy = Copy(isbn=isbn, number=number)
        yield Create(copy)
        yield Update(Book, isbn=isbn).set(weight=Add(Decimal("0.1")))
        return copy
