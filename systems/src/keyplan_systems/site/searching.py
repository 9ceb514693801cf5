"""Full-text search with SQLite's FTS5, in a file next to the store.

Systems decide what to index: only what every visitor can read. The index can be deleted and rebuilt from the store.
"""

from __future__ import annotations

import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from keyplan.errors import StoreError
from keyplan_systems.site.kept import Kept

QUERY_CHARACTERS_MAX = 500
QUERY_WORDS_MAX = 12
WORD_CHARACTERS_MAX = 60
TEXT_CHARACTERS_MAX = 400_000
BUSY_MS = 5_000
BUSY_PAUSE_S = 0.005
CACHE_KIB = 32_768
RANKED_MAX = 60
"""Maximum number of ranked documents: the latest with all words, and the latest with all words in the title."""
KEPT_SECONDS = 3600
"""Maximum age of cached results, which are valid until the index changes."""
FORMAT = 2
"""The version of the file format. A file of another version is emptied and filled again."""
_TABLES = """
DROP TABLE IF EXISTS documents; DROP TABLE IF EXISTS titles; DROP TABLE IF EXISTS ids;
CREATE TABLE ids (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE documents USING fts5(
  title, tags, authors, text, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3');
"""
_RANKED = """
SELECT rowid, bm25(documents, 10, 6, 4, 1) FROM documents WHERE documents MATCH ? ORDER BY rowid DESC LIMIT ?
"""
"""Weights: title, tags, authors, text."""


@dataclass(frozen=True, slots=True)
class Document:
    """A searchable document: title, tags, authors and text, in order of weight."""

    id: str
    title: str
    tags: str
    authors: str
    text: str


class Search:
    """An index in a SQLite file or in memory. Several processes can use one file."""

    def __init__(self, place: Path | None) -> None:
        self.place = place
        self._lock = threading.Lock()
        self._answers: Kept[tuple[int, str, int], Sequence[str]] = Kept(KEPT_SECONDS, time.monotonic)
        self._connection = self._opened()

    def put(self, document: Document) -> None:
        """Add or replace a document. Raises StoreError."""
        self._write([document], [document.id])

    def remove(self, document_id: str) -> None:
        """Remove a document. Raises StoreError."""
        self._write([], [document_id])

    def replace_all(self, documents: Iterable[Document]) -> int:
        """Replace all documents in one transaction; returns their number. Raises StoreError."""
        return self._write(documents, None)

    def find(self, query: str, limit: int) -> Sequence[str]:
        """The ids of the documents with all words of a query, best first by BM25; the last word can be a prefix.

        Raises StoreError.
        """
        ids: Sequence[str] = ()
        with self._lock:
            try:
                with self._connection:  # all statements read one snapshot
                    ids = self._answer(query[:QUERY_CHARACTERS_MAX], limit)
            except apsw.Error as error:
                raise self._failed(error) from None
        return ids

    def _answer(self, query: str, limit: int) -> Sequence[str]:
        """The cached result if no other connection has written since, else a new one."""
        version = int(self._value("PRAGMA data_version"))  # a write of another connection changes it
        return self._answers.get((version, query, limit), lambda: self._best(query, limit))

    def _best(self, query: str, limit: int) -> Sequence[str]:
        numbers: dict[int, None] = {}
        for words in readings_of(query):
            ranks = self._ranks(words)
            if len(ranks) >= RANKED_MAX:
                ranks |= self._ranks(f"title : ({words})")
            numbers |= dict.fromkeys(sorted(ranks, key=lambda number: (ranks[number], -number)))
            if len(numbers) >= limit:
                break
        return [self._id_of(number) for number in list(numbers)[:limit]]

    def _ranks(self, match: str) -> dict[int, float]:
        """The latest matching documents, each with its BM25 score, lowest is best."""
        return {int(number): float(rank) for number, rank in self._connection.execute(_RANKED, (match, RANKED_MAX))}

    def _id_of(self, number: int) -> str:
        return str(self._value("SELECT id FROM ids WHERE number = ?", number))

    def _value(self, statement: str, *given: str | int) -> Any:
        (row,) = self._connection.execute(statement, given)
        return row[0]

    def count(self) -> int:
        with self._lock:
            return int(self._value("SELECT count(*) FROM ids"))

    def is_empty(self) -> bool:
        with self._lock:
            return self._connection.execute("SELECT 1 FROM ids LIMIT 1").fetchone() is None

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _opened(self) -> apsw.Connection:
        try:
            made = apsw.Connection(":memory:" if self.place is None else str(self.place))
            made.set_busy_timeout(BUSY_MS)
            made.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            _use_wal(made)
            made.execute("PRAGMA synchronous = NORMAL")  # the index can be rebuilt after a lost write
            if made.pragma("user_version") != FORMAT:
                _create_tables(made)
        except apsw.Error as error:
            raise self._failed(error) from None
        return made

    def _write(self, documents: Iterable[Document], removed: Sequence[str] | None) -> int:
        count = 0
        with self._lock:
            self._answers.drop()
            try:
                with self._connection:
                    if removed is None:
                        self._connection.execute(_TABLES)
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
        return StoreError(
            f"the search index failed: {error}", place=str(self.place), hint="delete the file to rebuild the index"
        )


def search_beside(url: str, fill: Callable[[Search], object], place: str | None = None) -> Search:
    """The index of a store: a file next to the store's file (``shop.search`` next to ``shop.db``), or in memory for a
    remote store. An empty one is filled. Raises StoreError.
    """
    is_file = place is not None or not (url == ":memory:" or "://" in url)
    search = Search(Path(place or url).with_suffix(".search") if is_file else None)
    if search.is_empty():
        fill(search)
    return search


def refill_beside(url: str, fill: Callable[[Search], object]) -> None:
    """Rebuild the index of a store after an import. If there is none, the site builds it on start."""
    path = Path(url).with_suffix(".search")
    if url == ":memory:" or "://" in url or not path.exists():
        return
    search = Search(path)
    try:
        fill(search)
    finally:
        search.close()


def _use_wal(connection: apsw.Connection) -> None:
    """Enable WAL mode. SQLite doesn't wait for that lock itself."""
    until = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() >= until:
                raise
            time.sleep(BUSY_PAUSE_S)
        else:
            return


def _create_tables(connection: apsw.Connection) -> None:
    """Create the tables, unless another process just did."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.pragma("user_version") != FORMAT:
            connection.execute(_TABLES)
            connection.pragma("user_version", FORMAT)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def readings_of(query: str) -> Sequence[str]:
    """FTS5 queries for all words of a query: with the last word complete, then as a prefix.

    Every word is quoted, so no input is an operator. A single ASCII letter isn't treated as a prefix.
    """
    plain = unicodedata.normalize("NFC", query)
    words = "".join(letter if letter.isalnum() else " " for letter in plain).split()[:QUERY_WORDS_MAX]
    quoted = [f'"{word[:WORD_CHARACTERS_MAX]}"' for word in words]
    if not quoted:
        return ()
    is_ended = not plain[-1].isalnum() or (len(words[-1]) == 1 and words[-1].isascii())
    return (" ".join(quoted),) if is_ended else (" ".join(quoted), f"{' '.join(quoted)}*")
