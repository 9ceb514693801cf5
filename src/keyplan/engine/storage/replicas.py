"""The part of the storage port that knows, of a global table, which region wrote each key last, and when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from keyplan.engine.storage.port import KeyText

Version = tuple[int, str]
"""When something was written, in microseconds since the epoch, and the region that did: the greater one wins."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A key that was written: ``seq`` grows with each write of the table."""

    seq: int
    key: tuple[KeyText, KeyText]
    version: Version


class Replicas(Protocol):
    """The last write of each key, as a transaction sees it. Those who only read call only what reads."""

    def begin(self, table_id: int) -> None:
        """Begin to note the writes of a table."""
        ...

    def end(self, table_id: int) -> None:
        """Forget what was noted of a table. There may be nothing."""
        ...

    def note(self, table_id: int, key: tuple[KeyText, KeyText], version: Version) -> None:
        """Note the write of a key, in the place of the one before."""
        ...

    def note_own(self, table_id: int, key: tuple[KeyText, KeyText], version: Version) -> None:
        """Note a write made here: if what it replaces is of a later time, it is later than that."""
        ...

    def version(self, table_id: int, key: tuple[KeyText, KeyText]) -> Version | None:
        """The last write of a key; None while none was noted."""
        ...

    def since(self, table_id: int, seq: int) -> Iterator[Noted]:
        """The keys written after one of that number, in the order of their last writes."""
        ...

    def last(self, table_id: int) -> int:
        """The number of the last write; 0 while there is none."""
        ...
