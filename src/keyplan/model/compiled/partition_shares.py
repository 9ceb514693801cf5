"""How partitions that are merged into one order are read: which of them, how much of each, and up to where.

A page of merged partitions takes its share of each. What a partition has of the page isn't known before it is read:
asking each for a whole page reads most of it for nothing, and asking for one item at a time takes a request each. So
each is asked for a little less than its expected share, and those that had more are asked again, no further than
the page is expected to reach. Nothing is read here: the client asks, and the cost model says what it would ask.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

__all__ = ["PARALLEL_MAX", "Ask", "Place", "Shares"]

PARALLEL_MAX = 20
"""How many partitions are read in parallel."""
LOOKED_AT_MIN = 100
"""How many items are asked to be looked at, at the least, where items of others stand between."""
WASTED_FIRST, WASTED_LATER, WASTED_MAX = 1.5, 0.2, 0.6
"""How many entries a partition may give too many, on average, when it is asked first; later without an end, at the
least; and in all, as far as can be seen. A request costs as much as 4 KB of entries, even where it gives none.
"""
WASTED_UNEVEN = 2.0
"""How many when it is asked first, where each has one of the page on average, and nothing says that all have about the
same number: those that have more have much more.
"""
KNOWN_MIN = 0.25
"""A page's end is estimated only where so large a share of all is known: else a few entries would stand for many."""
LATE, LATE_MAX, EARLY = 2.0, 0.3, 1.4
"""By how many standard deviations the end is taken to be later than expected, since a page that isn't whole takes a
further request of each partition; by how many entries a partition at the most, since these may be too many; and by how
many deviations it is taken to be earlier, where the most is less than half a deviation.
"""
UNEVEN_MAX, UNEVEN_GROWTH = 8, 5
"""Where nothing says that all partitions have about the same number: how many entries are asked of each at first, and
how many times what it gave so far later.
"""
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
    entries: list[Place] = field(default_factory=list[Place])
    """What it gave, in the order of places; kept only where partitions aren't taken to be alike."""
    weight: float = 0.0
    """Its expected share of what isn't read yet."""


class Shares:
    """Decides what is read next. ``wanted``: so many entries in all (None: all of them). ``bounded``: whether reading
    can be ended at a place. ``sifted``: a filter leaves items out after they are read. ``even``: all partitions have
    about the same number, since items are spread over them by a hash.
    """

    def __init__(
        self, partitions: int, wanted: int | None, *, forward: bool, bounded: bool, sifted: bool, even: bool
    ) -> None:
        self._partitions = [_Partition(mixed=sifted, weight=1 / partitions) for _ in range(partitions)]
        self._even = even
        self._sifted = sifted
        self._wanted = wanted
        self._forward = forward
        self._bounded = bounded
        self._found: list[Place] = []
        self._found_before = 0
        """How many were found when partitions were asked again last."""

    def asks(self) -> list[Ask]:
        """What may be asked in parallel now; nothing when the page is whole."""
        reach = self._reach()
        fresh = [at for at, partition in enumerate(self._partitions) if not partition.asked][:PARALLEL_MAX]
        if fresh:
            limit = None if self._wanted is None else self._first_share(self._wanted)
            return [self._ask(at, limit, reach) for at in fresh]
        opened = [
            at
            for at, partition in enumerate(self._partitions)
            if not partition.ended and self._is_before(partition.known, reach)
        ]
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
        if self._wanted is None:  # all of them are read, wherever they stand
            return
        self._found += entries
        self._found.sort()
        if not self._even:
            partition.entries += entries
            partition.entries.sort()

    def lost(self, places: Sequence[Place]) -> None:
        """What stands at these places turned out to be no entries of the answer."""
        for place in places if self._wanted is not None else ():
            self._found.remove(place)
            for partition in self._partitions:
                partition.mixed = True
                if place in partition.entries:
                    partition.entries.remove(place)

    def _first_share(self, wanted: int) -> int:
        if len(self._partitions) == 1 and not self._sifted:
            return wanted
        expected = wanted / len(self._partitions)
        if self._even:
            limit = _share(expected, WASTED_FIRST)
        else:
            limit = min(_share(expected, WASTED_FIRST if expected < 1 else WASTED_UNEVEN), UNEVEN_MAX)
        return max(2 * limit, LOOKED_AT_MIN) if self._sifted else limit

    def _ask(self, at: int, limit: int | None, end: Place | None) -> Ask:
        self._partitions[at].asked = True
        return Ask(at, limit, end if self._bounded else None)

    def _refills(self, wanted: int, opened: Sequence[int], reach: Place | None) -> list[Ask]:
        """What is asked of partitions that were read before. The page's end is estimated by what is known: where some
        partitions aren't read so far, the others stand for them.
        """
        if not self._even:
            self._weigh(opened)
        counts, end = self._estimate(wanted, opened)
        if len(self._found) - self._found_before < len(opened) / 2:
            end = None  # reading up to an end gave next to nothing: the page goes on behind it
        if reach is not None and self._count_before(reach, counts) - wanted < len(opened):
            end = reach  # another round costs a request each: more than the few entries that may be too many
        elif end is None or (reach is not None and self._is_before(reach, end)):
            end = reach or end
        if end is None and not self._even:
            end = self._furthest(opened)
        # fsum: since Python 3.12 sum adds more exactly, and what is asked is the same in all versions
        going_on = math.fsum(partition.weight for partition in self._partitions if not partition.ended)
        beyond = len(self._found) - bisect_right(counts, wanted)
        wasted = max(WASTED_LATER, round(WASTED_MAX - beyond / len(self._partitions), 1))
        asks: list[Ask] = []
        for at in opened:
            partition = self._partitions[at]
            if end is not None and not self._is_before(partition.known, end):
                continue
            missing = max(0.0, wanted - self._count_before(partition.known, counts)) * partition.weight / going_on
            if end is None or not self._bounded:
                limit = _share(missing, wasted)
            else:
                limit = max(
                    math.ceil(missing + 2 * math.sqrt(missing)) + 2, 2 * partition.refill if partition.filled else 0
                )
                partition.refill = limit
            if not self._even:
                limit = min(limit, max(UNEVEN_MAX, UNEVEN_GROWTH * len(partition.entries)))
            asks.append(self._ask(at, self._at_most(partition, limit, wanted), end))
        self._found_before = len(self._found)
        return asks

    def _weigh(self, opened: Sequence[int]) -> None:
        """Expect of each partition as large a share as it has of what is known of all."""
        known = [self._partitions[at].known for at in opened]
        least = min(known, key=self._rank)
        counts = [self._rank(least, partition.entries) for partition in self._partitions]
        whole = sum(counts) + len(counts)
        for partition, count in zip(self._partitions, counts, strict=True):
            partition.weight = (count + 1) / whole

    def _furthest(self, opened: Sequence[int]) -> Place | None:
        """The place up to which one of the partitions is known, where others aren't: these are read up to there first,
        since they may have all that is missing.
        """
        known = [self._partitions[at].known for at in opened]
        least, most = min(known, key=self._rank), max(known, key=self._rank)
        return most if self._bounded and self._is_before(least, most) else None

    def _at_most(self, partition: _Partition, limit: int, wanted: int) -> int:
        """The limit where items of others stand between; else at most what the page takes."""
        if partition.mixed:
            return max(2 * limit, LOOKED_AT_MIN)
        return max(1, min(limit, wanted - self._rank(partition.known)))

    def _estimate(self, wanted: int, opened: Sequence[int]) -> tuple[list[float], Place | None]:
        """How many entries all partitions are expected to have up to each place that was found, and the place with
        which the page is expected to end.
        """
        in_order = self._found if self._forward else self._found[::-1]
        known = sorted((self._rank(self._partitions[at].known), self._partitions[at].weight) for at in opened)
        counts: list[float] = []
        total, behind = 0.0, 0
        rest = 1.0  # of all, the share of the partitions that are known as far as this
        allowed = LATE_MAX * len(self._partitions)
        end: Place | None = None
        for number, place in enumerate(in_order):
            while behind < len(known) and known[behind][0] <= number:
                rest -= known[behind][1]
                behind += 1
            total += 1 / max(rest, known[-1][1])
            counts.append(total)
            deviation = math.sqrt(max(0.0, total - number - 1))
            late = min(allowed, LATE * deviation) if deviation / 2 <= allowed else -EARLY * deviation
            if end is None and rest >= KNOWN_MIN and total - late >= wanted:
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

    def _rank(self, place: Place | None, given: Sequence[Place] | None = None) -> int:
        """How many entries were found up to a place, it included; or how many of those that one partition gave."""
        if place is None:
            return 0
        entries = self._found if given is None else given
        return bisect_right(entries, place) if self._forward else len(entries) - bisect_left(entries, place)

    def _is_before(self, place: Place | None, other: Place | None) -> bool:
        if place is None or other is None:
            return True
        return place < other if self._forward else place > other


@lru_cache(maxsize=1024)
def _share(expected: float, wasted: float) -> int:
    """How much to ask of a partition that is expected to have so much: as much as can be without getting, on average,
    more than ``wasted`` entries too many. Partitions fill by chance, so their numbers are Poisson's.
    """
    if expected > LARGE:
        return max(1, int(expected - 1.3 * math.sqrt(expected)))
    chance = math.exp(-expected)
    below, loss, number = 0.0, 0.0, 0
    while True:
        below += chance
        if loss + below > wasted:
            return max(1, number)
        loss += below
        number += 1
        chance *= expected / number
