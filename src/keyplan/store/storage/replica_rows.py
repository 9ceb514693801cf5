"""The part of the storage that knows, of a global table, which region wrote each key last, and when.

What was written last, in SQLite: a table for each global table, made with its first replica.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import apsw

from keyplan.store.storage.dropped_tables import ThrowAway
from keyplan.store.storage.key_layouts import KeyText

Version = tuple[int, str]
"""When something was written, in microseconds since the epoch, and the region that did: the greater one wins."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A key that was written: ``seq`` grows with each write of the table."""

    seq: int
    key: tuple[KeyText, KeyText]
    version: Version


Run = Callable[[str, Sequence[object] | None], apsw.Cursor]


def _name(table_id: int) -> str:
    return f"replicated_{table_id}"


class Replicas:
    """The last write of each key, by a function that runs a statement in the transaction."""

    __slots__ = ("_run", "_throw_away")

    def __init__(self, run: Run, throw_away: ThrowAway) -> None:
        self._run = run
        self._throw_away = throw_away

    def begin(self, table_id: int) -> None:
        """Begin to note the writes of a table."""
        self._run(
            f"CREATE TABLE IF NOT EXISTS {_name(table_id)} (seq INTEGER PRIMARY KEY AUTOINCREMENT, "
            "pk NOT NULL, sk NOT NULL, at_us INTEGER NOT NULL, region TEXT NOT NULL, UNIQUE (pk, sk))",
            None,
        )

    def end(self, table_id: int) -> None:
        """Forget what was noted of a table. There may be nothing."""
        self._throw_away(_name(table_id))

    def note(self, table_id: int, key: tuple[KeyText, KeyText], version: Version) -> None:
        """Note the write of a key, in the place of the one before."""
        text = f"INSERT OR REPLACE INTO {_name(table_id)} (pk, sk, at_us, region) VALUES (?, ?, ?, ?)"  # noqa: S608
        self._run(text, (*key, *version))

    def note_own(self, table_id: int, key: tuple[KeyText, KeyText], version: Version) -> None:
        """Note a write made here: if what it replaces is of a later time, it is later than that."""
        name = _name(table_id)
        self._run(
            f"INSERT OR REPLACE INTO {name} (pk, sk, at_us, region) VALUES (?1, ?2, "  # noqa: S608 - our names
            f"max(?3, coalesce((SELECT at_us + 1 FROM {name} WHERE pk = ?1 AND sk = ?2), 0)), ?4)",
            (*key, *version),
        )

    def version(self, table_id: int, key: tuple[KeyText, KeyText]) -> Version | None:
        """The last write of a key; None while none was noted."""
        text = f"SELECT at_us, region FROM {_name(table_id)} WHERE pk = ? AND sk = ?"  # noqa: S608
        return cast("Version | None", self._run(text, key).fetchone())

    def since(self, table_id: int, seq: int) -> Iterator[Noted]:
        """The keys written after one of that number, in the order of their last writes."""
        text = f"SELECT seq, pk, sk, at_us, region FROM {_name(table_id)} WHERE seq > ? ORDER BY seq"  # noqa: S608
        rows = cast("Iterator[tuple[int, KeyText, KeyText, int, str]]", self._run(text, (seq,)))
        return (Noted(number, (pk, sk), (at_us, region)) for number, pk, sk, at_us, region in rows)

    def last(self, table_id: int) -> int:
        """The number of the last write; 0 while there is none."""
        row = self._run(f"SELECT coalesce(max(seq), 0) FROM {_name(table_id)}", None).fetchone()  # noqa: S608
        return cast("tuple[int]", row)[0]
