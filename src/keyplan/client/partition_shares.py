"""How much of each partition is read for a page of merged partitions, and up to where.

Each partition is first asked for its share of the page, rounded up. Once the page is full, partitions that could
have items before its end are read up to there. A partition that had more than it was asked for is asked for twice as
much. Nothing is read here: the reader and the cost model ask as this says.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

__all__ = ["PARALLEL_MAX", "Ask", "Place", "Shares"]

PARALLEL_MAX = 20
"""How many partitions are read in parallel."""
UNEVEN_MAX = 8
"""How many items a partition is asked for at first, where partitions may hold very different numbers."""
LOOKED_AT_MIN = 100
"""How many items are asked for at least where other items may be among them."""

Place: TypeAlias = tuple[Any, ...]
"""What an entry is ordered by."""


class Ask(NamedTuple):
    """One partition to be read on: at most ``limit`` items (None: all), up to ``end`` (None: as far as it goes)."""

    partition: int
    limit: int | None
    end: Place | None


@dataclass(slots=True)
class _Partition:
    """How far one partition was read: up to ``known`` (None: not at all), or to its end."""

    limit: int | None = None
    """What it is asked for next."""
    asked: bool = False
    ended: bool = False
    known: Place | None = None
    mixed: bool = False
    """Whether it holds items that are no entries of the result."""


class Shares:
    """Decides what is read next. ``wanted``: so many entries in all (None: all of them). ``bounded``: whether reading
    can be ended at a place. ``sifted``: a filter leaves items out after they are read. ``even``: all partitions have
    about the same number, since items are spread over them by a hash.
    """

    def __init__(
        self, partitions: int, wanted: int | None, *, forward: bool, bounded: bool, sifted: bool, even: bool
    ) -> None:
        share = None
        if wanted is not None:
            share = wanted if partitions == 1 else wanted // max(partitions, 1) + 1
            share = share if even or partitions == 1 else min(share, UNEVEN_MAX)
        self._partitions = [_Partition(limit=share, mixed=sifted) for _ in range(partitions)]
        self._wanted = wanted
        self._forward = forward
        self._bounded = bounded
        self._found: list[Place] = []

    def asks(self) -> list[Ask]:
        """What may be asked in parallel now; nothing when the page is whole."""
        end = self._end()
        open_now = [
            at
            for at, partition in enumerate(self._partitions)
            if not (partition.asked or partition.ended)
            or (not partition.ended and self._precedes(partition.known, end))
        ]
        fresh = [at for at in open_now if not self._partitions[at].asked]
        return [self._ask(at, end) for at in (fresh or open_now)[:PARALLEL_MAX]]

    def took(self, ask: Ask, entries: Sequence[Place], looked_at: int, last: Place | None) -> None:
        """What an ask gave: the places of its entries, of how many items that were looked at, and the place of the last
        one of these; None where nothing more lies before the ask's end.
        """
        partition = self._partitions[ask.partition]
        partition.mixed = partition.mixed or looked_at > len(entries)
        if last is not None:
            partition.known = last
        elif ask.end is None:
            partition.ended = True
        elif self._precedes(partition.known, ask.end):
            partition.known = ask.end
        for place in entries if self._wanted is not None else ():
            insort(self._found, place)

    def lost(self, places: Sequence[Place]) -> None:
        """What stands at these places turned out to be no entries of the result."""
        for place in places if self._wanted is not None else ():
            self._found.remove(place)
            for partition in self._partitions:
                partition.mixed = True

    def _ask(self, at: int, end: Place | None) -> Ask:
        partition = self._partitions[at]
        limit = partition.limit
        if limit is not None:
            partition.limit = 2 * limit
            limit = max(2 * limit, LOOKED_AT_MIN) if partition.mixed else min(limit, self._wanted or limit)
        partition.asked = True
        return Ask(at, limit, end if self._bounded else None)

    def _end(self) -> Place | None:
        """The last place of the page, once as many entries as wanted are found."""
        if self._wanted is None or len(self._found) < self._wanted:
            return None
        return self._found[self._wanted - 1 if self._forward else -self._wanted]

    def _precedes(self, place: Place | None, other: Place | None) -> bool:
        if place is None or other is None:
            return True
        return place < other if self._forward else place > other
