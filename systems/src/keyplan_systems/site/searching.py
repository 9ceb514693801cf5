"""Search of texts: an interface, and one that needs nothing else, SQLite's FTS5 in a file beside the store.

Whoever has another engine (OpenSearch, say) gives an object with the same four methods. What is put in is the system's
matter: only what everybody may read. The index can be thrown away and made anew from the store.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import apsw

from keyplan.errors import StoreError

__all__ = ["Document", "FtsSearch", "Search", "found_items", "refill_beside", "search_beside"]

T = TypeVar("T")

QUERY_WORDS_MAX = 12
WORD_CHARACTERS_MAX = 60
TEXT_CHARACTERS_MAX = 400_000
BUSY_MS = 5_000
RANKED_MAX = 2_000
"""How many documents are ranked at most: ranking all that have a common word would hold the site up."""


@dataclass(frozen=True, slots=True)
class Document:
    """What can be found: by the words of its title, its tags, its authors and its text, in this order of weight."""

    id: str
    title: str
    tags: str
    authors: str
    text: str


class Search(Protocol):
    """An index of documents by their words."""

    def put(self, document: Document) -> None:
        """Let a document be found, as it is now. Raises StoreError."""
        ...

    def remove(self, document_id: str) -> None:
        """Let a document be found no longer. Raises StoreError."""
        ...

    def replace_all(self, documents: Iterable[Document]) -> int:
        """Let these documents be found and no others; gives how many. Raises StoreError."""
        ...

    def find(self, query: str, limit: int) -> Sequence[str]:
        """The ids of the documents that have all words of a query, the best first; the last word may be a beginning.

        Raises StoreError.
        """
        ...


class FtsSearch:
    """An index in a file of SQLite, or in memory. Several processes may use one file."""

    def __init__(self, place: Path | None) -> None:
        self.place = place
        self._lock = threading.Lock()
        self._connection = self._opened()

    def put(self, document: Document) -> None:
        """Replace the document."""
        self._write([document], [document.id])

    def remove(self, document_id: str) -> None:
        """Remove the document."""
        self._write([], [document_id])

    def replace_all(self, documents: Iterable[Document]) -> int:
        """Empty the index and fill it, in one transaction: others find the old one until then."""
        return self._write(documents, None)

    def find(self, query: str, limit: int) -> Sequence[str]:
        """Documents by FTS5's bm25, a word in the title weighing most.

        Of more than ``RANKED_MAX`` documents the latest put in are ranked, and of those with the words in their titles.
        """
        asked = match_of(query)
        if asked is None:
            return []
        ids: list[str] = []
        with self._lock:
            try:
                with self._connection:  # all statements see the index as it is at the first
                    scores = self._scores(f"{{title}} : ({asked})", limit) | self._scores(asked, limit)
                    best = sorted(scores, key=lambda number: (scores[number], -number))[:limit]
                    ids = [self._id_of(number) for number in best]
            except apsw.Error as error:
                raise self._failed(error) from None
        return ids

    def _scores(self, asked: str, limit: int) -> dict[int, float]:
        """The best of the latest documents, each with its score; the lowest is the best."""
        last = self._connection.execute(
            "SELECT rowid FROM documents WHERE documents MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?",
            (asked, RANKED_MAX - 1),
        ).fetchone()
        rows = self._connection.execute(
            "SELECT rowid, bm25(documents, 10, 6, 4, 1) AS score FROM documents "
            "WHERE documents MATCH ? AND rowid >= ? ORDER BY score LIMIT ?",
            (asked, last[0] if last else 0, limit),
        )
        return {int(number): float(score) for number, score in rows}

    def _id_of(self, number: int) -> str:
        (row,) = self._connection.execute("SELECT id FROM ids WHERE number = ?", (number,))
        return str(row[0])

    def is_empty(self) -> bool:
        """Whether nothing can be found."""
        with self._lock:
            return self._connection.execute("SELECT 1 FROM ids LIMIT 1").fetchone() is None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _opened(self) -> apsw.Connection:
        try:
            made = apsw.Connection(":memory:" if self.place is None else str(self.place))
            made.set_busy_timeout(BUSY_MS)
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA synchronous = NORMAL")  # it can be made anew
            made.execute("CREATE TABLE IF NOT EXISTS ids (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)")
            made.execute(
                "CREATE VIRTUAL TABLE IF NOT EXISTS documents USING fts5(title, tags, authors, text, "
                "tokenize = \"unicode61 remove_diacritics 2\", prefix = '2 3')"
            )
        except apsw.Error as error:
            raise self._failed(error) from None
        return made

    def _write(self, documents: Iterable[Document], removed: Sequence[str] | None) -> int:
        count = 0
        with self._lock:
            try:
                with self._connection:
                    if removed is None:
                        self._connection.execute("DELETE FROM documents; DELETE FROM ids")
                    for text in removed or ():
                        self._forget(text)
                    for document in documents:
                        self._add(document)
                        count += 1
            except apsw.Error as error:
                raise self._failed(error) from None
        return count

    def _forget(self, document_id: str) -> None:
        row = self._connection.execute("SELECT number FROM ids WHERE id = ?", (document_id,)).fetchone()
        if row is not None:
            self._connection.execute("DELETE FROM documents WHERE rowid = ?", row)
            self._connection.execute("DELETE FROM ids WHERE number = ?", row)

    def _add(self, document: Document) -> None:
        self._connection.execute("INSERT INTO ids (id) VALUES (?)", (document.id,))
        number = self._connection.last_insert_rowid()
        text = document.text[:TEXT_CHARACTERS_MAX]
        row = (number, document.title, document.tags, document.authors, text)
        self._connection.execute(
            "INSERT INTO documents (rowid, title, tags, authors, text) VALUES (?, ?, ?, ?, ?)", row
        )

    def _failed(self, error: Exception) -> StoreError:
        return StoreError(f"the search can't be used: {error}", place=str(self.place), hint="make it anew")


def search_beside(url: str, fill: Callable[[FtsSearch], object], place: str | None = None) -> FtsSearch:
    """The index of a store: in a file of its own beside the store's file (``shop.search`` beside ``shop.db``), and in
    memory for a store elsewhere. An empty one is filled. Raises StoreError.
    """
    is_file = place is not None or not (url == ":memory:" or "://" in url)
    search = FtsSearch(Path(place or url).with_suffix(".search") if is_file else None)
    if search.is_empty():
        fill(search)
    return search


def found_items(ids: Sequence[str], read: Callable[[list[str]], Iterable[T]], id_of: Callable[[T], str]) -> list[T]:
    """What was found, in the order in which it was: read from the store, since the index may lag behind it."""
    there = {id_of(item): item for item in read(list(ids))} if ids else {}
    return [there[item_id] for item_id in ids if item_id in there]


def refill_beside(url: str, fill: Callable[[FtsSearch], object]) -> None:
    """Fill the index of a store anew, after something wrote past the site. One that isn't there yet is filled by the
    site when it begins.
    """
    path = Path(url).with_suffix(".search")
    if url == ":memory:" or "://" in url or not path.exists():
        return
    search = FtsSearch(path)
    try:
        fill(search)
    finally:
        search.close()


def match_of(query: str) -> str | None:
    """What was typed as a query of FTS5: all of its words, the last as a beginning; None without a word.

    Every word stands in quotes, so nothing that is typed is an operator.
    """
    plain = unicodedata.normalize("NFC", query)
    words = [word[:WORD_CHARACTERS_MAX] for word in re.findall(r"\w+", plain)][:QUERY_WORDS_MAX]
    if not words:
        return None
    begun = "*" if re.search(r"\w$", plain) else ""
    return " ".join([*(f'"{word}"' for word in words[:-1]), f'"{words[-1]}"{begun}'])
