# mypy: disable-error-code="empty-body"
"""Wrong calls. Lines that type checkers must reject are marked; a mark can except a checker. Other lines must pass.

- pyrefly 1.4 infers the type Unknown for a ``yield from`` whose iterable isn't a generator.
- ty 0.0.105 has no rule for a coroutine that isn't awaited.

This module is never run, and the repository's own type checks exclude this file.
"""

from __future__ import annotations

from keyplan import Create, Delete, Design, Page, Put, Range, Update, Writes, read, transact, write
from tests.typing.library import GSI1, Book, BookTitle, Copy, Library, Reader


def arguments(library: Library, book: Book) -> None:
    library.book(bookid="1")  # refused: all
    library.book()  # refused: all
    library.book(1)  # refused: all
    library.book("1", "2")  # refused: all
    library.book(book_id=None)  # refused: all
    library.find_book(book_id=b"1")  # refused: all
    library.books_by("Ada", limit="10")  # refused: all
    library.books_by("Ada", cursor="page 2")  # refused: all
    library.books_by("Ada", newest_first=True)  # refused: all
    library.copies(book)  # refused: all
    library.all_copies(number=1)  # refused: all
    library.whole(book_id=1)  # refused: all
    library.of_years("Ada", 1843)  # refused: all
    library.of_years("Ada", Range(ge="1843"))  # refused: all
    library.of_years("Ada", Range(from_=1843))  # refused: all
    library.visits("north", Range(ge=2026, lt=2027))  # refused: all
    library.visits("north", (1, 2))  # refused: all
    library.wishes("2026-01-01")  # refused: all
    library.wishes_for(["1"], [2])  # refused: all
    print(library.count_loan("1").loan)  # refused: all
    library.titled("Ada", 1843, 5)  # refused: all
    library.update(Update(Book, book_id="2").set(lent=4).previous(), lent=5)  # refused: all
    library.titled("Ada", "1843", "Notes")  # refused: all
    library.books(1)  # refused: all
    print([copy.number for copy in library.readable_copies("1")])  # refused: all
    library.books_in_turn("Ada", newest_first="yes")  # refused: all
    read("X3", key="by_author")  # refused: all
    read("X4", key=Book.by_authors)  # refused: all
    library.books([1, 2])  # refused: all
    library.buy(1)  # refused: all
    library.buy("1", shelve="B2")  # refused: all
    library.throw_away()  # refused: all
    library.throw_away(book)  # refused: all


def views(library: Library, row: BookTitle) -> None:
    print(row.year)  # refused: all
    print(library.title("1").title)  # refused: all
    library.how_many("1").bit_size()  # refused: all
    library.how_many(1)  # refused: all
    library.put(row)  # refused: all
    GSI1.projected_for(Book)  # refused: all
    read("X1", scan_index="GSI1")  # refused: all
    read("X2", entity="Book")  # refused: all


def names(library: Library) -> None:
    library.bok("1")  # refused: all
    library.books_by_author("Ada")  # refused: all
    library.aio.book("1")  # refused: all
    library.book.later("1")  # refused: all
    Library.open(":memory:").books_off("Ada")  # refused: all


def results(library: Library) -> None:
    print(library.books_by("Ada").title)  # refused: all
    print(library.books_by("Ada")[0])  # refused: all
    print(library.books_by("Ada").items[0].titel)  # refused: all
    print(library.find_book("1").title)  # refused: all
    print(library.book("1").titel)  # refused: all
    print(library.copies("1").shelf)  # refused: all
    print(library.copies("1").cursor)  # refused: all
    print(library.whole("1").copies)  # refused: all
    print(library.all_copies("1")[0])  # refused: all
    print([part.title for part in library.parts("1")])  # refused: all
    print([copy.title for copy in library.all_copies("1")])  # refused: all
    title: int = library.book("1").title  # refused: all
    books: list[Book] = library.books_by("Ada")  # refused: all
    copies: Page[Copy] = library.books_by("Ada")  # refused: all
    book: Book = library.find_book("1")  # refused: all
    print(title, books, copies, book)


def writes(library: Library, book: Book) -> None:
    version: str = library.buy("1")  # refused: all
    bought: Book = library.buy("1")  # refused: all
    print(library.buy("1").title)  # refused: all
    nothing: Copy = library.throw_away(Copy(book_id="1", number=1))  # refused: all
    print(version, bought, nothing)


def verbs(library: Library, book: Book) -> None:
    library.put("book")  # refused: all
    library.create({"book_id": "1"})  # refused: all
    print(library.get(Book, book_id="1").title)  # refused: all
    print(library.get("Book", book_id="1"))  # refused: all
    print(library.get_many(Book, [{"book_id": "1"}])[0].title)  # refused: all
    print(library.update(book, title="A").titel)  # refused: all
    copy: Copy = library.put(book)  # refused: all
    library.batch([Update(book, title="A")])  # refused: all
    library.transact([book])  # refused: all
    print(library.update(Book, book_id="1", title="A").titel)  # refused: all
    print(library.delete(book).title)  # refused: all
    library.update("Book", title="A")  # refused: all
    print(copy, Book(book_id="1", author="Ada", title="Notes"))  # refused: all
    print(Book(book_id=1, author="Ada", year=1843, title="Notes"))  # refused: all


async def awaiting(library: Library, book: Book) -> None:
    await library.book("1")  # refused: all
    await library.copies("1")  # refused: all
    await library.put(book)  # refused: all
    library.book_later("1")  # refused: all but ty
    library.book.aio("1")  # refused: all but ty
    library.aio.put(book)  # refused: all but ty
    library.throw_away.aio(Copy(book_id="1", number=1))  # refused: all but ty
    print(library.book_later("1").title)  # refused: all
    print((await library.book_later("1")).title)  # refused: all
    print(library.book.aio("1").title)  # refused: all
    print((await library.book.aio(1)).title)  # refused: all
    print(await library.book_later.aio("1"))  # refused: all
    print(list(library.copies_later("1")))  # refused: all
    print([copy async for copy in library.all_copies("1")])  # refused: all
    print([copy.title async for copy in library.copies_later("1")])  # refused: all
    await library.all_copies.aio("1")  # refused: all


class Wrong(Library):
    @write("X1")
    def wrong_argument(self, book_id: str) -> Writes[Book]:
        book = yield from self.book.read(bookid=book_id)  # refused: all
        yield Create(book)
        return book

    @write("X2")
    def wrong_result(self, book_id: str) -> Writes[Copy]:
        book = yield from self.book.read(book_id)
        yield Create(book)
        return book  # refused: all

    @write("X3")
    def missing_check(self, book_id: str) -> Writes:
        book = yield from self.find_book.read(book_id)
        yield Update(book, title="A")  # refused: all

    @write("X4")
    def not_an_action(self, book: Book) -> Writes:
        yield book  # refused: all

    @write("X5")
    def not_asked(self, book_id: str) -> Writes:
        book = self.book.read(book_id)
        yield Create(Copy(book_id=book.book_id, number=1))  # refused: all

    @write("X7")
    def other_created(self, book: Book) -> Writes:
        copy: Copy = yield from Create(book)  # refused: all but pyrefly
        print(copy)

    @write("X8")
    def other_updated(self, book: Book) -> Writes[Copy]:
        return (yield from Update(book, title="A"))  # refused: all but pyrefly

    @write("X9")
    def misspelt(self, book_id: str) -> Writes[str]:
        after = yield from Update(Book, book_id=book_id).set(title="A").only_if(title="B").or_create()
        return after.titel  # refused: all but pyrefly

    @write("X10")
    def maybe_gone(self, book_id: str) -> Writes[str]:
        removed = yield from Delete(Book, book_id=book_id)
        return removed.title  # refused: all but pyrefly

    @write("X11")
    def misspelt_path(self, reader: Reader) -> Writes:
        yield Update(reader).at(lambda reader: reader.room.flor).set(1)  # refused: all

    @write("X12")
    def other_value(self, reader: Reader) -> Writes:
        yield Update(reader).at(lambda reader: reader.room.floor).set("one")  # refused: all

    @write("X13")
    def no_list(self, reader: Reader) -> Writes:
        yield Update(reader).at(lambda reader: reader.room.floor).append([1])  # refused: all

    @write("X14")
    def other_join(self, library: Library) -> Writes:
        yield from library.lend.join(1)  # refused: all

    @write("X6")  # refused: all
    def not_a_generator(self, book: Book) -> Book:
        return book


class Options(Design):
    @read("X1", newest=True)  # refused: all
    def one(self, book_id: str) -> Book: ...

    @read()  # refused: all
    def two(self, book_id: str) -> Book: ...


def together(library: Library, other: Library) -> None:
    transact(library.buy, other.lend.in_transaction("1"))  # refused: all
    transact(library.buy.in_transaction(1), other.lend.in_transaction("1"))  # refused: all
    bought, _ = transact(library.buy.in_transaction("1"), other.lend.in_transaction("1"))
    print(bought.title)  # refused: all


class Before(Design):
    @write("Z1")
    def dropped(self, copy: Copy) -> Writes:
        yield Put(copy).previous()  # refused: all

    @write("Z2")
    def sure(self, copy: Copy) -> Writes[Copy]:
        return (yield from Put(copy).previous())  # refused: all but pyrefly

    @write("Z3")
    def other(self, copy: Copy) -> Writes:
        before = yield from Update(copy, shelf="B").previous()
        print(before.shelf)  # refused: all but pyrefly
        yield from Create(copy).previous()  # refused: all
        yield Update(copy).idempotent(1)  # refused: all
