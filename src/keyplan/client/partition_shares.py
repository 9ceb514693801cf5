"""How many items to read from each partition for a page of merged partitions, and up to which key.

First, each partition is asked for its share of the page, rounded up. Once the page is full, partitions that could have
earlier items are read up to the page's end. A partition that had more than its share is asked for twice as much. This
module reads nothing: the reader and the cost model share it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

__all__ = ["PARALLEL_MAX", "Ask", "Place", "Shares"]

PARALLEL_MAX = 20
"""Maximum number of partitions to read in parallel."""
UNEVEN_MAX = 8
"""Initial number of items per partition if the partitions' sizes can differ greatly."""
LOOKED_AT_MIN = 100
"""Minimum number of items to read per request if other items can be among them."""

Place: TypeAlias = tuple[Any, ...]
"""An entry's sort value."""


class Ask(NamedTuple):
    """A request for a partition: at most ``limit`` items (None: all), up to ``end`` (None: to the partition's end)."""

    partition: int
    limit: int | None
    end: Place | None


@dataclass(slots=True)
class _Partition:
    """How far a partition was read: up to ``known`` (None: not at all), or to its end."""

    limit: int | None = None
    """The number of items to read next."""
    asked: bool = False
    ended: bool = False
    known: Place | None = None
    mixed: bool = False
    """Whether it contains other items."""


class Shares:
    """Plans the next reads. ``wanted``: the total number of entries (None: all). ``bounded``: whether a read can stop
    at a place. ``sifted``: whether a filter removes items after reading. ``even``: whether a hash distributes items
    evenly over the partitions.
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
        """The reads to make in parallel now; empty when the page is complete."""
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
        """Record the result of an ask: the places of its entries, the number of items read, and the last item's place;
        None if nothing more precedes the end of the ask.
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
        """Record that the items at these places aren't entries of the result."""
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
        """The place of the page's last entry, once enough entries are found."""
        if self._wanted is None or len(self._found) < self._wanted:
            return None
        return self._found[self._wanted - 1 if self._forward else -self._wanted]

    def _precedes(self, place: Place | None, other: Place | None) -> bool:
        if place is None or other is None:
            return True
        return place < other if self._forward else place > other
