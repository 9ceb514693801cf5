"""How partitions that are merged into one order are read: which of them, how much of each, and up to where.

A page of merged partitions takes its share of each. What a partition has of the page isn't known before it is read:
asking each for a whole page reads most of it for nothing, and asking for one item at a time takes a request each. So
each is asked for a little less than its expected share, and those that had more are asked again, no further than
the page is expected to reach. Nothing is read here: the client asks, and the cost model says what it would ask.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

__all__ = ["PARALLEL_MAX", "Ask", "Place", "Shares"]

PARALLEL_MAX = 20
"""How many partitions are read in parallel."""
LOOKED_AT_MIN = 100
"""How many items are asked to be looked at, at the least, where items of others stand between."""
WASTED_FIRST, WASTED_LATER = 0.8, 0.4
"""How many entries a partition may give too many, on average, when it is asked first, and later without an end."""
LONG, WASTED_LONG = 5, 0.35
"""Of a page that takes more than so many entries of each, less: another request is cheap then."""
LARGE = 400

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

    asked: bool = False
    ended: bool = False
    known: Place | None = None
    refill: int = 0
    """What was asked of it last, up to an end: where it had more than expected, twice as much is asked."""
    filled: bool = False
    mixed: bool = False
    """Whether items were looked at that are no entries of the answer."""


class Shares:
    """Decides what is read next. ``wanted``: so many entries in all (None: all of them). ``bounded``: whether reading
    can be ended at a place. ``sifted``: a filter leaves items out after they are read.
    """

    def __init__(self, partitions: int, wanted: int | None, *, forward: bool, bounded: bool, sifted: bool) -> None:
        self._partitions = [_Partition(mixed=sifted) for _ in range(partitions)]
        self._sifted = sifted
        self._wanted = wanted
        self._forward = forward
        self._bounded = bounded
        self._found: list[Place] = []

    def asks(self) -> list[Ask]:
        """What may be asked in parallel now; nothing when the page is whole."""
        reach = self._reach()
        fresh = [at for at, one in enumerate(self._partitions) if not one.asked][:PARALLEL_MAX]
        if fresh:
            limit = None if self._wanted is None else self._first_share(self._wanted)
            return [self._ask(at, limit, reach) for at in fresh]
        opened = [at for at, one in enumerate(self._partitions) if not one.ended and self._is_before(one.known, reach)]
        if self._wanted is None:
            return [self._ask(at, None, None) for at in opened[:PARALLEL_MAX]]
        return self._refills(self._wanted, opened, reach)[:PARALLEL_MAX] if opened else []

    def took(self, ask: Ask, entries: Sequence[Place], looked_at: int, last: Place | None) -> None:
        """What an ask gave: the places of its entries, of how many items that were looked at, and the place of the last
        one of these; None where nothing more lies before the ask's end.
        """
        partition = self._partitions[ask.partition]
        partition.filled = last is not None
        partition.mixed = partition.mixed or looked_at > len(entries)
        if last is not None:
            partition.known = last
        elif ask.end is None:
            partition.ended = True
        elif self._is_before(partition.known, ask.end):
            partition.known = ask.end
        for place in entries:
            insort(self._found, place)

    def _first_share(self, wanted: int) -> int:
        if len(self._partitions) == 1 and not self._sifted:
            return wanted
        expected = wanted / len(self._partitions)
        limit = _share(expected, WASTED_LONG if expected > LONG + 1 else WASTED_FIRST)
        return max(2 * limit, LOOKED_AT_MIN) if self._sifted else limit

    def _ask(self, at: int, limit: int | None, end: Place | None) -> Ask:
        self._partitions[at].asked = True
        return Ask(at, limit, end if self._bounded else None)

    def _refills(self, wanted: int, opened: Sequence[int], reach: Place | None) -> list[Ask]:
        """What is asked of partitions that were read before. The page's end is estimated by what is known: where some
        partitions aren't read so far, the others stand for them.
        """
        counts, end = self._estimate(wanted, opened)
        if reach is not None and self._count_before(reach, counts) - wanted < len(opened):
            end = reach  # another round costs a request each: more than the few entries that may be too many
        elif end is None or (reach is not None and self._is_before(reach, end)):
            end = reach or end
        going_on = sum(not one.ended for one in self._partitions)
        asks: list[Ask] = []
        for at in opened:
            one = self._partitions[at]
            if end is not None and not self._is_before(one.known, end):
                continue
            missing = max(0.0, wanted - self._count_before(one.known, counts)) / going_on
            if end is None or not self._bounded:
                limit = _share(missing, WASTED_LATER)
            else:
                limit = max(math.ceil(missing + 2 * math.sqrt(missing)) + 2, 2 * one.refill if one.filled else 0)
                one.refill = limit
            asks.append(self._ask(at, self._at_most(one, limit, wanted), end))
        return asks

    def _at_most(self, one: _Partition, limit: int, wanted: int) -> int:
        """The limit where items of others stand between; else at most what the page takes."""
        if one.mixed:
            return max(2 * limit, LOOKED_AT_MIN)
        return max(1, min(limit, wanted - self._rank(one.known)))

    def _estimate(self, wanted: int, opened: Sequence[int]) -> tuple[list[float], Place | None]:
        """How many entries all partitions are expected to have up to each place that was found, and the place with
        which the page is expected to end.
        """
        in_order = self._found if self._forward else self._found[::-1]
        known = [self._rank(self._partitions[at].known) for at in opened]
        known.sort()
        counts: list[float] = []
        total = 0.0
        end: Place | None = None
        for number, place in enumerate(in_order):
            behind = bisect_right(known, number)  # partitions that aren't known as far as this
            total += len(self._partitions) / max(1, len(self._partitions) - behind)
            counts.append(total)
            # What is only expected may be less: of a long page rather read on than read too much
            early = math.sqrt(max(0.0, total - number - 1)) if wanted > LONG * len(self._partitions) else 0.0
            if end is None and total + early >= wanted:
                end = place
            if number + 1 == wanted:
                break
        return counts, end

    def _count_before(self, place: Place | None, counts: Sequence[float]) -> float:
        rank = min(self._rank(place), len(counts))
        return counts[rank - 1] if rank else 0.0

    def _reach(self) -> Place | None:
        """The place behind which nothing is wanted, once as many entries as wanted are found."""
        if self._wanted is None or len(self._found) < self._wanted:
            return None
        return self._found[self._wanted - 1 if self._forward else -self._wanted]

    def _rank(self, place: Place | None) -> int:
        """How many entries were found up to a place, it included."""
        if place is None:
            return 0
        return bisect_right(self._found, place) if self._forward else len(self._found) - bisect_left(self._found, place)

    def _is_before(self, one: Place | None, other: Place | None) -> bool:
        if one is None or other is None:
            return True
        return one < other if self._forward else one > other


@lru_cache(maxsize=1024)
def _share(expected: float, wasted: float) -> int:
    """How much to ask of a partition that is expected to have so much: as much as can be without getting, on average,
    more than ``wasted`` entries too many. Partitions fill by chance, so their numbers are Poisson's.
    """
    if expected > LARGE:
        return max(1, int(expected - 1.3 * math.sqrt(expected)))
    chance = math.exp(-expected)
    below, loss, found = 0.0, 0.0, 0
    while True:
        below += chance
        if loss + below > wasted:
            return max(1, found)
        loss += below
        found += 1
        chance *= expected / found
