"""Correct calls: type checkers accept each line and infer the asserted types. The tests also run the calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, date, datetime
from typing import assert_type

from keyplan import Cursor, Delete, Index, Page, Put, Range, Update, transact
from tests.typing.library import GSI1, Book, BookTitle, BookWithCopies, Copy, Library, Loans, Visit, Wish


def reads(library: Library) -> None:
    """Reads with all kinds of results."""
    assert_type(library.book("1"), Book)
    assert_type(library.book(book_id="1").title, str)
    assert_type(library.find_book("1"), Book | None)
    assert_type(library.books_by("Ada"), Page[Book])
    assert_type(library.copies("1"), list[Copy])
    assert_type(library.all_copies("1"), Iterator[Copy])
    assert_type(library.whole("1"), BookWithCopies | None)
    assert_type(library.parts("1"), Page[Book | Copy])
    page = library.books_by("Ada", 1)
    assert_type(page.items, list[Book])
    assert_type(page.items[0].year, int)
    assert_type(page.cursor, Cursor | None)
    assert_type([book.title for book in page], list[str])
    assert_type(library.books_by("Ada", limit=1, cursor=page.cursor), Page[Book])
    for part in library.parts("1", limit=5):
        assert_type(part.shelf if isinstance(part, Copy) else part.title, str)
    for copy in library.all_copies("1"):
        assert_type(copy.number, int)
    whole = library.whole("1")
    if whole is not None:
        assert_type(whole.book, Book)
        assert_type(whole.copies, list[Copy])


def parameters(library: Library) -> None:
    """Reads with Range, Prefix and Each parameters."""
    assert_type(library.of_years("Ada"), list[Book])
    assert_type(library.of_years("Ada", Range(ge=1840, lt=1850)), list[Book])
    assert_type(library.of_years("Ada", year=None), list[Book])
    assert_type(library.titled("Ada", 1843, "Notes"), list[Book])
    assert_type(library.books(["1", "2"]), list[Book])
    assert_type(library.books(("1", "2")), list[Book])
    assert_type([copy.number for copy in library.readable_copies("1") if isinstance(copy, Copy)], list[int])
    assert_type([book.year for book in library.books_in_turn("Ada", newest_first=True)], list[int])
    asked = Range(ge=datetime(2026, 1, 1, tzinfo=UTC), lt=datetime(2026, 3, 1, tzinfo=UTC))
    assert_type(library.visits("north", asked), Page[Visit])
    assert_type(library.wishes(date(2026, 1, 1)), list[Wish])
    assert_type(library.wishes_for(["1", "2"], ["north"]), Page[Wish])
    assert_type(list(library.all_wishes()), list[Wish])


def views(library: Library) -> None:
    """Reads that return views or counts, or that scan an index."""
    assert_type(library.titles_by("Ada"), Page[BookTitle])
    assert_type([row.title for row in library.titles_by("Ada")], list[str])
    assert_type(library.title("1"), BookTitle | None)
    assert_type(library.how_many("1"), int)
    assert_type(library.is_there("1"), bool)
    assert_type(library.loans("1"), int)
    assert_type(Loans(book_id="1").slot, int)
    assert_type(list(library.all_titles()), list[BookTitle])
    assert_type(BookTitle(book_id="1", title="Notes").title, str)
    assert_type(GSI1.projected_for(BookTitle), Index)


def writes(library: Library) -> None:
    """Patterns that write, and the methods put, create, update and delete."""
    copy = library.buy("1", shelf="B2")
    assert_type(copy, Copy)
    library.throw_away(copy)
    book = library.put(Book(book_id="2", author="Grace", year=1952, title="Compilers"))
    assert_type(book, Book)
    assert_type(library.create(Copy(book_id="2", number=1)), Copy)
    assert_type(library.get(Book, book_id="2"), Book | None)
    assert_type(library.get_many(Book, [{"book_id": "2"}]), list[Book | None])
    assert_type(library.update(book, title="A-0"), Book)
    library.batch([Put(book), Delete(Copy, book_id="2", number=1)])
    library.transact([Update(book, lent=1), Put(copy)])
    assert_type(library.update(Book, book_id="2", lent=2), Book)
    assert_type(library.update(Update(Book, book_id="2").set(lent=3).only_if(lent=2)), Book)
    assert_type(library.put(Put(book).previous()), Book | None)
    assert_type(library.update(Update(Book, book_id="2").set(lent=4).previous()), Book | None)
    assert_type(library.delete(book), Book | None)
    assert_type(library.delete(Copy, book_id="1", number=copy.number), Copy | None)
    assert_type(library.lend("1"), int)
    assert_type(library.count_loan("1").loans, int)


def together(library: Library, other: Library) -> None:
    """Transactions of several designs."""
    assert_type(transact(library.buy.in_transaction("1"), other.lend.in_transaction("1")), tuple[Copy, int])
    both = library.throw_away.in_transaction(Copy(book_id="1", number=1)), other.lend.in_transaction("1")
    assert_type(transact(*both, library.buy.in_transaction("1")), tuple[None, int, Copy])


async def awaited(library: Library) -> None:
    """Calls of an open design in asynchronous code, with await."""
    assert_type(await library.titles_by.aio("Ada"), Page[BookTitle])
    assert_type(await library.how_many.aio("1"), int)
    assert_type(await library.is_there.aio("1"), bool)
    assert_type([row async for row in library.all_titles.aio()], list[BookTitle])
    assert_type(await library.book.aio("1"), Book)
    assert_type(await library.find_book.aio(book_id="1"), Book | None)
    assert_type(await library.books_by.aio("Ada", limit=1), Page[Book])
    assert_type(await library.copies.aio("1"), list[Copy])
    assert_type(await library.whole.aio("1"), BookWithCopies | None)
    assert_type(library.all_copies.aio("1"), AsyncIterator[Copy])
    assert_type([copy async for copy in library.all_copies.aio("1")], list[Copy])
    assert_type(await library.book_later("1"), Book | None)
    assert_type(library.copies_later("1"), AsyncIterator[Copy])
    assert_type([copy.number async for copy in library.copies_later("1")], list[int])
    assert_type(await library.buy.aio("1"), Copy)
    assert_type(await library.aio.put(Book(book_id="3", author="Jean", year=1960, title="FLOW-MATIC")), Book)
    assert_type(await library.aio.get(Book, book_id="3"), Book | None)
    assert_type(await library.aio.get_many(Book, [{"book_id": "3"}]), list[Book | None])
    assert_type(await library.aio.update(await library.book.aio("3"), title="B-0"), Book)
    assert_type(await library.aio.update(Update(Book, book_id="3").set(lent=4).previous()), Book | None)
    await library.throw_away.aio(Copy(book_id="1", number=1))
    await library.aio.delete(Book, book_id="3")


def opened() -> Library:
    """Return an open library that contains one book."""
    library = Library.open(":memory:")
    assert_type(library, Library)
    library.put(Book(book_id="1", author="Ada", year=1843, title="Notes"))
    library.put(Copy(book_id="1", number=1))
    return library
