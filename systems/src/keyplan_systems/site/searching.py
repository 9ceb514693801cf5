"""Search of texts: an interface, and one that needs nothing else, SQLite's FTS5 in a file beside the store.

Whoever has another engine (OpenSearch, say) gives an object with the same four methods. What is put in is the system's
matter: only what everybody may read. The index can be thrown away and made anew from the store.
"""

from __future__ import annotations

import math
import re
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any, Protocol

import apsw

from keyplan.errors import StoreError

__all__ = ["Document", "FtsSearch", "Search", "refill_beside", "search_beside"]

QUERY_WORDS_MAX = 12
WORD_CHARACTERS_MAX = 60
TEXT_CHARACTERS_MAX = 400_000
BUSY_MS = 5_000
BUSY_PAUSE_S = 0.005
CACHE_KIB = 32_768
RANKED_MAX = 60
"""How many documents are ranked at most: ranking all that have a common word would hold the site up."""
WEIGHTS = (10.0, 6.0, 4.0, 1.0)
"""Of a word in the title, the tags, the authors, the text."""
SATURATION, SHORTNESS = 1.2, 0.75
"""BM25's k1 and b: how soon a further mention adds little, and how much a long text must mention a word more often."""
RARITY_MIN = 1e-6
"""Of a word that half of the documents have, or more."""
COMMON_FROM = 1_000
"""From so many documents on, such a word isn't asked for beside others: it says nothing of a document, and to look it
up in all of them takes longer than all else.
"""
RARITIES_MAX = 10_000
COUNTED_MAX = 100
"""How many documents with a word are counted at most."""
GROWN = 1.2
"""How many times as large the index is when words are counted anew."""
ANSWERS_MAX = 1_000
"""Answers that are kept until the index changes: what is asked as somebody types is asked by many."""
FORMAT = 1
"""Of the file. One of another format is emptied, and filled anew as any empty one is."""
_TEXTS = """
DROP TABLE IF EXISTS documents; DROP TABLE IF EXISTS titles; DROP TABLE IF EXISTS ids;
CREATE TABLE ids (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE documents USING fts5(
  title, tags, authors, text, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3');
CREATE VIRTUAL TABLE titles USING fts5(
  title, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3');
"""
"""Titles stand by themselves, too: to look common words up in the titles alone takes as long as to look them up in all
texts, where both are in one table.
"""
_SCORES = {"documents": "score", "titles": "title_score"}


@dataclass(frozen=True, slots=True)
class Document:
    """What can be found: by the words of its title, its tags, its authors and its text, in this order of weight."""

    id: str
    title: str
    tags: str
    authors: str
    text: str


@dataclass(frozen=True, slots=True)
class _Counted:
    """How rare a word was among so many documents."""

    documents: int
    rarity: float


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
        self._rarities: dict[str, _Counted] = {}
        self._answers: OrderedDict[tuple[str, int], Sequence[str]] = OrderedDict()
        self._version = -1
        """Of the file's content, as of ``_answers``."""
        self._bm25 = {table: _Bm25() for table in _SCORES}
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
        """Documents by BM25, a word in the title weighing most. Those that have the last word whole come first.

        Of more than ``RANKED_MAX`` documents the latest put in are ranked, and of those with the words in their titles.
        In a large index, words that most documents have aren't asked for.
        """
        ids: Sequence[str] = ()
        with self._lock:
            try:
                with self._connection:  # all statements see the index as it is at the first
                    ids = self._answer(query, limit)
            except apsw.Error as error:
                raise self._failed(error) from None
        return ids

    def _answer(self, query: str, limit: int) -> Sequence[str]:
        """What was answered before, where nobody has written since; else what is found now."""
        version = int(self._value("PRAGMA data_version"))  # another where another connection has written
        if version != self._version:
            self._answers.clear()
            self._count_anew()
            self._version = version
        known = self._answers.get((query, limit))
        if known is None:
            known = self._answers[query, limit] = self._best(query, limit)
            if len(self._answers) > ANSWERS_MAX:
                self._answers.popitem(last=False)
        else:
            self._answers.move_to_end((query, limit))
        return known

    def _best(self, query: str, limit: int) -> Sequence[str]:
        scores: dict[int, float] = {}
        ids: list[str] = []
        documents = int(self._value("SELECT coalesce(max(number), 0) FROM ids"))  # at most
        for words in readings_of(query):
            more = self._scores(words, documents)
            best = sorted(more.keys() - scores, key=lambda number: (more[number], number), reverse=True)
            ids += map(self._id_of, best[: limit - len(ids)])
            scores |= more
            if len(ids) >= limit:
                break
        return ids

    def _scores(self, words: Sequence[str], documents: int) -> dict[int, float]:
        """The latest documents that have all the words, each with its score; the highest is the best."""
        rarities = {word: self._rarity(word, documents) for word in words}
        telling = [word for word in words if rarities[word] > RARITY_MIN]
        if telling and documents >= COMMON_FROM:
            words = telling
        asked = " ".join(words)
        weights = [rarities[word] for word in words]
        scores = self._latest(asked, weights)
        return scores if len(scores) < RANKED_MAX else self._latest(asked, weights, "titles") | scores

    def _latest(self, match: str, rarities: Sequence[float], table: str = "documents") -> dict[int, float]:
        score = f"{_SCORES[table]}({table}{', ?' * len(rarities)})"
        rows = self._connection.execute(
            f"SELECT rowid, {score} FROM {table} WHERE {table} MATCH ? ORDER BY rowid DESC LIMIT ?",  # noqa: S608
            (*rarities, match, RANKED_MAX),
        )
        return {int(number): float(score) for number, score in rows}

    def _rarity(self, word: str, documents: int) -> float:
        """BM25's weight of a word: how few of the documents have it. What was counted serves until the index is much
        larger.
        """
        counted = self._rarities.get(word)
        if counted is None or documents > counted.documents * GROWN:
            having = self._having(word, documents)
            rarity = max(RARITY_MIN, math.log((documents - having + 0.5) / (having + 0.5)))
            if len(self._rarities) >= RARITIES_MAX:
                self._rarities.clear()
            self._rarities[word] = counted = _Counted(documents, rarity)
        return counted.rarity

    def _having(self, word: str, documents: int) -> float:
        """How many documents have a word; of a common one as many as its latest let expect, since to count all takes
        milliseconds.
        """
        ((count, first),) = self._connection.execute(
            "SELECT count(*), min(rowid) FROM "
            "(SELECT rowid FROM documents WHERE documents MATCH ? ORDER BY rowid DESC LIMIT ?)",
            (word, COUNTED_MAX),
        )
        if int(count) < COUNTED_MAX:
            return int(count)
        return min(documents, COUNTED_MAX * documents / (documents - int(first) + 1))

    def _id_of(self, number: int) -> str:
        return str(self._value("SELECT id FROM ids WHERE number = ?", number))

    def _value(self, statement: str, *given: str | int) -> Any:
        (row,) = self._connection.execute(statement, given)
        return row[0]

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
            made.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            _use_wal(made)
            made.execute("PRAGMA synchronous = NORMAL")  # it can be made anew
            if made.pragma("user_version") != FORMAT:
                _make_anew(made)
            for table, name in _SCORES.items():  # last: it reads the file, and fails where another is changing its form
                made.register_fts5_function(name, self._bm25[table].score)
        except apsw.Error as error:
            raise self._failed(error) from None
        return made

    def _write(self, documents: Iterable[Document], removed: Sequence[str] | None) -> int:
        count = 0
        with self._lock:
            self._answers.clear()
            self._count_anew()
            try:
                with self._connection:
                    if removed is None:
                        self._connection.execute(_TEXTS)
                    for text in removed or ():
                        self._forget(text)
                    for document in documents:
                        self._add(document)
                        count += 1
            except apsw.Error as error:
                raise self._failed(error) from None
        return count

    def _count_anew(self) -> None:
        for bm25 in self._bm25.values():
            bm25.average = None

    def _forget(self, document_id: str) -> None:
        row = self._connection.execute("SELECT number FROM ids WHERE id = ?", (document_id,)).fetchone()
        if row is not None:
            self._connection.execute("DELETE FROM documents WHERE rowid = ?", row)
            self._connection.execute("DELETE FROM titles WHERE rowid = ?", row)
            self._connection.execute("DELETE FROM ids WHERE number = ?", row)

    def _add(self, document: Document) -> None:
        self._connection.execute("INSERT INTO ids (id) VALUES (?)", (document.id,))
        number = self._connection.last_insert_rowid()
        text = document.text[:TEXT_CHARACTERS_MAX]
        row = (number, document.title, document.tags, document.authors, text)
        self._connection.execute(
            "INSERT INTO documents (rowid, title, tags, authors, text) VALUES (?, ?, ?, ?, ?)", row
        )
        self._connection.execute("INSERT INTO titles (rowid, title) VALUES (?, ?)", row[:2])

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


def _use_wal(connection: apsw.Connection) -> None:
    """Bring the file into the mode in which others read while one writes. SQLite doesn't wait for that by itself."""
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


def _make_anew(connection: apsw.Connection) -> None:
    """Make the tables of this format, unless another process did so just before."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.pragma("user_version") != FORMAT:
            connection.execute(_TEXTS)
            connection.pragma("user_version", FORMAT)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def readings_of(query: str) -> Sequence[Sequence[str]]:
    """What was typed, as words of an FTS5 query that are all wanted: with the last word whole, then as a beginning.

    Every word stands in quotes, so nothing that is typed is an operator. A letter alone begins too many words.
    """
    plain = unicodedata.normalize("NFC", query)
    words = [word[:WORD_CHARACTERS_MAX] for word in re.findall(r"[^\W_]+", plain)][:QUERY_WORDS_MAX]
    if not words:
        return ()
    quoted = [f'"{word}"' for word in words]
    is_ended = re.search(r"\w$", plain) is None or (len(words[-1]) == 1 and words[-1].isascii())
    return (quoted,) if is_ended else (quoted, [*quoted[:-1], f"{quoted[-1]}*"])


class _Bm25:
    """BM25 of documents: FTS5's own counts every word anew in each query, however common it is."""

    def __init__(self) -> None:
        self.average: float | None = None
        """The words of a document, on average; None when the index has changed since they were counted."""

    def score(self, api: apsw.FTS5ExtensionApi, *rarities: Any) -> float:
        """That of the document that is looked at, for the rarities of the words."""
        if self.average is None:
            self.average = api.column_total_size(-1) / api.row_count
        length = 1 - SHORTNESS + SHORTNESS * api.column_size(-1) / self.average
        score = 0.0
        for phrase, rarity in zip(range(api.phrase_count), rarities, strict=False):  # a word of unknown letters is none
            weight = sum(map(mul, WEIGHTS, map(len, api.phrase_locations(phrase))))
            score += rarity * weight * (SATURATION + 1) / (weight + SATURATION * length)
        return score
