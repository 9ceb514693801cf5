# mypy: disable-error-code="empty-body"
"""Wrong calls. Each line that a type checker must refuse says by which; every other line must pass.

Nothing here is run, and the repository's own type checks leave the file out.
"""

from __future__ import annotations

from keyplan import Create, Delete, Design, Page, Put, Range, Update, Writes, read, transact, write
from tests.typing.library import GSI1, Book, BookTitle, Copy, Library, Reader


def arguments(library: Library, book: Book) -> None:
    library.book(bookid="1")  # refused: mypy pyright
    library.book()  # refused: mypy pyright
    library.book(1)  # refused: mypy pyright
    library.book("1", "2")  # refused: mypy pyright
    library.book(book_id=None)  # refused: mypy pyright
    library.find_book(book_id=b"1")  # refused: mypy pyright
    library.books_by("Ada", limit="10")  # refused: mypy pyright
    library.books_by("Ada", cursor="page 2")  # refused: mypy pyright
    library.books_by("Ada", newest_first=True)  # refused: mypy pyright
    library.copies(book)  # refused: mypy pyright
    library.all_copies(number=1)  # refused: mypy pyright
    library.whole(book_id=1)  # refused: mypy pyright
    library.of_years("Ada", 1843)  # refused: mypy pyright
    library.of_years("Ada", Range(ge="1843"))  # refused: mypy pyright
    library.of_years("Ada", Range(from_=1843))  # refused: mypy pyright
    library.titled("Ada", 1843, 5)  # refused: mypy pyright
    library.titled("Ada", "1843", "Notes")  # refused: mypy pyright
    library.books(1)  # refused: mypy pyright
    library.books_in_turn("Ada", newest_first="yes")  # refused: mypy pyright
    read("X3", key="by_author")  # refused: mypy pyright
    read("X4", key=Book.by_authors)  # refused: mypy pyright
    library.books([1, 2])  # refused: mypy pyright
    library.buy(1)  # refused: mypy pyright
    library.buy("1", shelve="B2")  # refused: mypy pyright
    library.throw_away()  # refused: mypy pyright
    library.throw_away(book)  # refused: mypy pyright


def views(library: Library, row: BookTitle) -> None:
    print(row.year)  # refused: mypy pyright
    print(library.title("1").title)  # refused: mypy pyright
    library.how_many("1").bit_size()  # refused: mypy pyright
    library.how_many(1)  # refused: mypy pyright
    library.put(row)  # refused: mypy pyright
    GSI1.projected_for(Book)  # refused: mypy pyright
    read("X1", all_of="GSI1")  # refused: mypy pyright
    read("X2", of="Book")  # refused: mypy pyright


def names(library: Library) -> None:
    library.bok("1")  # refused: mypy pyright
    library.books_by_author("Ada")  # refused: mypy pyright
    library.aio.book("1")  # refused: mypy pyright
    library.book.later("1")  # refused: mypy pyright
    Library.open(":memory:").books_off("Ada")  # refused: mypy pyright


def results(library: Library) -> None:
    print(library.books_by("Ada").title)  # refused: mypy pyright
    print(library.books_by("Ada")[0])  # refused: mypy pyright
    print(library.books_by("Ada").items[0].titel)  # refused: mypy pyright
    print(library.find_book("1").title)  # refused: mypy pyright
    print(library.book("1").titel)  # refused: mypy pyright
    print(library.copies("1").shelf)  # refused: mypy pyright
    print(library.copies("1").cursor)  # refused: mypy pyright
    print(library.whole("1").copies)  # refused: mypy pyright
    print(library.all_copies("1")[0])  # refused: mypy pyright
    print([one.title for one in library.parts("1")])  # refused: mypy pyright
    print([copy.title for copy in library.all_copies("1")])  # refused: mypy pyright
    title: int = library.book("1").title  # refused: mypy pyright
    books: list[Book] = library.books_by("Ada")  # refused: mypy pyright
    copies: Page[Copy] = library.books_by("Ada")  # refused: mypy pyright
    book: Book = library.find_book("1")  # refused: mypy pyright
    print(title, books, copies, book)


def writes(library: Library, book: Book) -> None:
    version: str = library.buy("1")  # refused: mypy pyright
    bought: Book = library.buy("1")  # refused: mypy pyright
    print(library.buy("1").title)  # refused: mypy pyright
    nothing: Copy = library.throw_away(Copy(book_id="1", number=1))  # refused: mypy pyright
    print(version, bought, nothing)


def verbs(library: Library, book: Book) -> None:
    library.put("book")  # refused: mypy pyright
    library.create({"book_id": "1"})  # refused: mypy pyright
    print(library.get(Book, book_id="1").title)  # refused: mypy pyright
    print(library.get("Book", book_id="1"))  # refused: mypy pyright
    print(library.get_many(Book, [{"book_id": "1"}])[0].title)  # refused: mypy pyright
    print(library.update(book, title="A").titel)  # refused: mypy pyright
    copy: Copy = library.put(book)  # refused: mypy pyright
    library.batch([Update(book, title="A")])  # refused: mypy pyright
    library.transact([book])  # refused: mypy pyright
    print(library.update(Book, book_id="1", title="A").titel)  # refused: mypy pyright
    print(library.delete(book).title)  # refused: mypy pyright
    library.update("Book", title="A")  # refused: mypy pyright
    print(copy, Book(book_id="1", author="Ada", title="Notes"))  # refused: mypy pyright
    print(Book(book_id=1, author="Ada", year=1843, title="Notes"))  # refused: mypy pyright


async def awaiting(library: Library, book: Book) -> None:
    await library.book("1")  # refused: mypy pyright
    await library.copies("1")  # refused: mypy pyright
    await library.put(book)  # refused: mypy pyright
    library.book_later("1")  # refused: mypy pyright
    library.book.aio("1")  # refused: mypy pyright
    library.aio.put(book)  # refused: mypy pyright
    library.throw_away.aio(Copy(book_id="1", number=1))  # refused: mypy pyright
    print(library.book_later("1").title)  # refused: mypy pyright
    print((await library.book_later("1")).title)  # refused: mypy pyright
    print(library.book.aio("1").title)  # refused: mypy pyright
    print((await library.book.aio(1)).title)  # refused: mypy pyright
    print(await library.book_later.aio("1"))  # refused: mypy pyright
    print(list(library.copies_later("1")))  # refused: mypy pyright
    print([copy async for copy in library.all_copies("1")])  # refused: mypy pyright
    print([copy.title async for copy in library.copies_later("1")])  # refused: mypy pyright
    await library.all_copies.aio("1")  # refused: mypy pyright


class Wrong(Library):
    @write("X1")
    def wrong_argument(self, book_id: str) -> Writes[Book]:
        book = yield from self.book.ask(bookid=book_id)  # refused: mypy pyright
        yield Create(book)
        return book

    @write("X2")
    def wrong_result(self, book_id: str) -> Writes[Copy]:
        book = yield from self.book.ask(book_id)
        yield Create(book)
        return book  # refused: mypy pyright

    @write("X3")
    def missing_check(self, book_id: str) -> Writes:
        book = yield from self.find_book.ask(book_id)
        yield Update(book, title="A")  # refused: mypy pyright

    @write("X4")
    def not_an_action(self, book: Book) -> Writes:
        yield book  # refused: mypy pyright

    @write("X5")
    def not_asked(self, book_id: str) -> Writes:
        book = self.book.ask(book_id)
        yield Create(Copy(book_id=book.book_id, number=1))  # refused: mypy pyright

    @write("X7")
    def other_created(self, book: Book) -> Writes:
        copy: Copy = yield from Create(book)  # refused: mypy pyright
        print(copy)

    @write("X8")
    def other_updated(self, book: Book) -> Writes[Copy]:
        return (yield from Update(book, title="A"))  # refused: mypy pyright

    @write("X9")
    def misspelt(self, book_id: str) -> Writes[str]:
        after = yield from Update(Book, book_id=book_id).set(title="A").only_if(title="B").or_create()
        return after.titel  # refused: mypy pyright

    @write("X10")
    def maybe_gone(self, book_id: str) -> Writes[str]:
        removed = yield from Delete(Book, book_id=book_id)
        return removed.title  # refused: mypy pyright

    @write("X11")
    def misspelt_path(self, reader: Reader) -> Writes:
        yield Update(reader).at(lambda reader: reader.room.flor).set(1)  # refused: mypy pyright

    @write("X12")
    def other_value(self, reader: Reader) -> Writes:
        yield Update(reader).at(lambda reader: reader.room.floor).set("one")  # refused: mypy pyright

    @write("X13")
    def no_list(self, reader: Reader) -> Writes:
        yield Update(reader).at(lambda reader: reader.room.floor).append([1])  # refused: mypy pyright

    @write("X14")
    def other_join(self, library: Library) -> Writes:
        yield from library.lend.join(1)  # refused: mypy pyright

    @write("X6")  # refused: mypy pyright
    def not_a_generator(self, book: Book) -> Book:
        return book


class Options(Design):
    @read("X1", newest=True)  # refused: mypy pyright
    def one(self, book_id: str) -> Book: ...

    @read()  # refused: mypy pyright
    def two(self, book_id: str) -> Book: ...


def together(library: Library, other: Library) -> None:
    transact(library.buy, other.lend.join("1"))  # refused: mypy pyright
    transact(library.buy.join(1), other.lend.join("1"))  # refused: mypy pyright
    bought, _ = transact(library.buy.join("1"), other.lend.join("1"))
    print(bought.title)  # refused: mypy pyright


class Before(Design):
    @write("Z1")
    def dropped(self, copy: Copy) -> Writes:
        yield Put(copy).previous()  # refused: mypy pyright

    @write("Z2")
    def sure(self, copy: Copy) -> Writes[Copy]:
        return (yield from Put(copy).previous())  # refused: mypy pyright

    @write("Z3")
    def other(self, copy: Copy) -> Writes:
        before = yield from Update(copy, shelf="B").previous()
        print(before.shelf)  # refused: mypy pyright
        yield from Create(copy).previous()  # refused: mypy pyright
        yield Update(copy).once(1)  # refused: mypy pyright
