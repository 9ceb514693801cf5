"""The requests of a read, by what lies where it looks: paging, merging of partitions, joins.

It is given what is there (a ``Stretch`` of bytes for each partition) and says which requests the client makes for it.
It makes none, and knows no values; ``facts.py`` thinks of what is there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from keyplan.cost.units import Request, batch_get, get_item, page_read
from keyplan.design.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.design.compiled.shapes import ShapeKind
from keyplan.design.compiled.shares import Shares
from keyplan.design.declared.indexes import Index
from keyplan.wire.limits import BATCH_GET_KEYS_MAX, PAGE_BYTES_MAX

__all__ = ["End", "Found", "Met", "Stretch", "requests_of"]

STREAM_CHUNK = 100
"""How many items an iterator takes at a time, and a page without a limit."""
FILTERED_PAGE = 100
"""How many items the client asks to be looked at, at the least, where a filter may drop some."""


class End(NamedTuple):
    """What a junction's item leads to: one item (``identity`` tells it from others), or partitions to be read."""

    identity: Hashable
    size_bytes: int | None = None
    stretches: tuple[Stretch, ...] = ()


class Met(NamedTuple):
    """One item (or index entry) that a Query looks at: its bytes; its entity's name, or None for what the client passes
    over; its place in the order of the answer, which begins with its sort key's; and where it leads to, if it is a
    junction's. Places ascend in the direction of the read.
    """

    size_bytes: int
    kind: str | None
    place: tuple[Any, ...]
    end: End | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """What lies in one partition between the bounds of a Query, in the order in which it is read.

    ``last_kind``: the entity that no other follows, if that is known (it ends the reading of a collection).
    ``closed``: whether the last one lies on the bound itself; then a page that ends with it is known to be the last.
    """

    met: Sequence[Met] = ()
    last_kind: str | None = None
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What is there for one call of a read.

    ``items``: the bytes of items read by key, None where there is none (a claim, then its owner; a batch's items);
    ``stretches``: for queries and scans, one a partition; none where nothing can lie between the bounds, since then
    nothing is asked.
    """

    items: tuple[int | None, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    also: tuple[tuple[Stretch, ...], ...] = ()
    """The stretches of further junctions, in the order of the plan's."""
    link: End | None = None
    """Where a junction's item that is read by key leads to."""


_Taking = Generator[Request, None, list[Met]]


def requests_of(pattern: ReadPattern, found: Found, limit: int | None, *, strongly: bool = False) -> list[Request]:
    """The requests of one call (of a page: the first) with their units. ``limit`` in items; ``strongly``: asked within
    a write, where reads are strongly consistent wherever their key allows it.
    """
    return list(_Reading(pattern, found, limit, strongly=strongly).requests())


@dataclass
class _Stream:
    """One of several partitions being read, and where to read on."""

    met: Sequence[Met]
    at: int = 0
    closed: bool = False

    def within(self, last: Any) -> Sequence[Met]:
        """What lies up to a sort key; all of it where there is no bound, or where it was read up to the bound already:
        then the end can't be named.
        """
        if last is None or (self.at > 0 and self.met[self.at - 1].place[0] == last):
            return self.met
        return self.met[: bisect_right(self.met, last, key=lambda one: one.place[0])]

    def beyond(self, last: Any) -> bool:
        """Whether it was read beyond a sort key already."""
        return last is not None and self.at > 0 and self.met[self.at - 1].place[0] > last


class _Reading:
    def __init__(self, pattern: ReadPattern, found: Found, limit: int | None, *, strongly: bool) -> None:
        self.pattern = pattern
        self.found = found
        self.limit = limit
        self.strongly = strongly

    def requests(self) -> Iterator[Request]:
        kind = self.pattern.shape.kind
        match self.pattern.plan:
            case GetPlan() as plan:
                yield get_item(self._item(0), consistent=self._strong(plan), what=plan.entity.name)
            case ClaimPlan() as plan if kind is ShapeKind.EXISTS:
                yield get_item(self._item(0), consistent=self._strong(plan), what=f"claim {plan.claim.name}")
            case ClaimPlan() as plan:
                yield from self._claimed(plan)
            case BatchGetPlan() as plan:
                yield from batches(self.found.items, consistent=self._strong(plan), what=plan.entity.name)
            case ThroughPlan() as plan if kind is ShapeKind.ONE:
                yield from self._through_one(plan)
            case QueryPlan() as plan if kind is ShapeKind.COLLECTION:
                yield from self._collection(plan)
            case QueryPlan() as plan if kind is ShapeKind.ONE and plan.completed:
                yield from self._completed(plan, self.found.stretches, 1, one_by_one=True)
            case QueryPlan() as plan if kind in {ShapeKind.ONE, ShapeKind.EXISTS}:
                yield from self._first(plan, self.found.stretches)
            case _ if kind is ShapeKind.EXISTS:
                yield from self._many(1, None)
            case _ if kind is ShapeKind.ITERATOR:
                yield from self._parts()
            case _:
                yield from self._many(self._size(), None)

    def _strong(self, plan: Any) -> bool:
        return plan.consistent or self.strongly

    def _item(self, position: int) -> int | None:
        return self.found.items[position] if position < len(self.found.items) else None

    def _size(self) -> int | None:
        """How many items are wanted; None: all."""
        if self.pattern.shape.kind is ShapeKind.PAGE and self.limit is None:
            return STREAM_CHUNK
        return self.limit

    # By key

    def _claimed(self, plan: ClaimPlan) -> Iterator[Request]:
        strong = self._strong(plan)
        yield get_item(self._item(0), consistent=strong, what=f"claim {plan.claim.name}")
        if self._item(0) is not None:
            yield get_item(self._item(1), consistent=strong, what=plan.entity.name)

    # By a query

    def _parts(self) -> Iterator[Request]:
        """An iterator's items, taken to their end: each part is read anew from behind the last one given."""
        given, after = 0, None
        while True:
            part = STREAM_CHUNK if self.limit is None else min(STREAM_CHUNK, self.limit - given)
            taken = yield from self._many(part, after)
            given += part
            if len(taken) <= part or given == self.limit:
                return
            after = taken[part - 1].place

    def _many(self, size: int | None, after: Any) -> _Taking:
        """One chunk of an answer of many items, from behind the place ``after``."""
        plan = self.pattern.plan
        if isinstance(plan, ThroughPlan):
            return (yield from self._ways(plan, size, after))
        stretches = _behind(self.found.stretches, after)
        assert isinstance(plan, QueryPlan | ScanPlan)  # noqa: S101 - the others give one item, or a batch
        if plan.completed:
            return (yield from self._completed(plan, stretches, size))
        return (yield from self._chunk(plan, stretches, size))

    def _chunk(self, plan: QueryPlan | ScanPlan, stretches: Sequence[Stretch], size: int | None) -> _Taking:
        """Read entries, one more than wanted: it tells whether anything follows. Gives what was taken."""
        if isinstance(plan, ScanPlan):
            return (yield from self._scan(plan, stretches, size))
        if plan.merged:
            return (yield from self._merge(plan, stretches, size))
        stretch = stretches[0] if stretches else None
        return [] if stretch is None else (yield from self._one_partition(plan, stretch, size))

    def _one_partition(self, plan: QueryPlan, stretch: Stretch, size: int | None) -> _Taking:
        wanted = None if size is None else size + 1
        taken: list[Met] = []
        at, ended = 0, False
        first = True
        while not ended and (wanted is None or len(taken) < wanted):
            ask = None if wanted is None else self._page_size(plan, wanted - len(taken), first=first)
            read, ended = page(stretch.met, at, ask, closed=stretch.closed)
            yield self._page(plan.index, plan, read)
            taken += [met for met in read if met.kind is not None]
            at += len(read)
            first = False
        return taken[:wanted]

    def _merge(self, plan: QueryPlan, stretches: Sequence[Stretch], size: int | None) -> _Taking:
        """Partitions merged in order, each by its share."""
        wanted = None if size is None else size + 1
        streams = [_Stream(one.met, closed=one.closed) for one in stretches]
        bounded = len(plan.key.sort) == 1
        shares = Shares(len(streams), wanted, forward=True, bounded=bounded, sifted=plan.filter is not None)
        taken: list[Met] = []
        while asks := shares.asks():
            for ask in asks:
                stream, end = streams[ask.partition], None if ask.end is None else ask.end[0]
                if stream.beyond(end):
                    shares.took(ask, (), 0, None)
                    continue
                within = stream.within(end)
                closed = stream.closed and len(within) == len(stream.met)
                read, ended = page(within, stream.at, ask.limit, closed=closed)
                yield self._page(plan.index, plan, read)
                stream.at += len(read)
                kept = [met for met in read if met.kind is not None]
                taken += kept
                shares.took(ask, [met.place for met in kept], len(read), None if ended else read[-1].place)
        return sorted(taken, key=lambda met: met.place)[:wanted]

    def _first(self, plan: QueryPlan, stretches: Sequence[Stretch]) -> _Taking:
        """The first item: one is asked for."""
        if plan.merged:
            return (yield from self._merge(plan, stretches, 1))
        if not stretches:
            return []
        stretch = stretches[0]
        at, ended, first = 0, False, True
        while not ended:
            read, ended = page(stretch.met, at, self._page_size(plan, 1, first=first), closed=stretch.closed)
            yield self._page(plan.index, plan, read)
            kept = [one for one in read if one.kind is not None]
            if kept:
                return kept[:1]
            at += len(read)
            first = False
        return []

    def _collection(self, plan: QueryPlan) -> Iterator[Request]:
        if plan.completed:
            yield from self._completed(plan, self.found.stretches, None)
            return
        if plan.merged or any(member.many for member in self.pattern.shape.members):
            yield from self._chunk(plan, self.found.stretches, None)
            return
        if not self.found.stretches:
            return
        stretch = self.found.stretches[0]
        kinds: set[str] = set()
        at, ended, first = 0, False, True
        while not ended:
            size = self._page_size(plan, len(plan.matches), first=first)
            read, ended = page(stretch.met, at, size, closed=stretch.closed)
            yield self._page(plan.index, plan, read)
            kinds |= {met.kind for met in read if met.kind is not None}
            if len(kinds) == len(plan.matches) or stretch.last_kind in kinds:
                return
            at += len(read)
            first = False

    def _page(self, index: Index | None, plan: QueryPlan | ScanPlan, read: Sequence[Met]) -> Request:
        sizes = [met.size_bytes for met in read]
        what = "item" if index is None else "entry"
        operation = "Query" if isinstance(plan, QueryPlan) else "Scan"
        return page_read(operation, index, sizes, consistent=self._strong(plan), what=what)

    @staticmethod
    def _page_size(plan: QueryPlan, missing: int, *, first: bool) -> int:
        return missing if first and plan.filter is None else max(missing * 2, FILTERED_PAGE)

    def _scan(self, plan: ScanPlan, stretches: Sequence[Stretch], size: int | None) -> _Taking:
        met = stretches[0].met if stretches else ()
        wanted = None if size is None else size + 1
        taken: list[Met] = []
        at, ended = 0, False
        while not ended and (wanted is None or len(taken) < wanted):
            ask = None if wanted is None else max(wanted - len(taken), FILTERED_PAGE)
            read, ended = page(met, at, ask)
            yield self._page(plan.index, plan, read)
            taken += [one for one in read if one.kind is not None]
            at += len(read)
        return taken[:wanted]

    # Through a junction

    def _through_one(self, plan: ThroughPlan) -> Iterator[Request]:
        end = self.found.link
        match plan.junction:
            case QueryPlan() as junction:
                links = yield from self._first(junction, self.found.stretches)
                end = links[0].end if links else None
            case ClaimPlan() as junction:
                yield from self._claimed(junction)
            case GetPlan() as junction:
                yield get_item(self._item(0), consistent=self._strong(junction), what=junction.entity.name)
        if end is None:
            return
        if isinstance(plan.end, GetPlan):
            yield get_item(end.size_bytes, consistent=self._strong(plan.end), what=plan.end.entity.name)
        else:
            yield from self._first(plan.end, end.stretches)

    def _ways(self, plan: ThroughPlan, size: int | None, after: Any) -> _Taking:
        """Every junction that leads to the answer, each as if it were the only one."""
        taken: list[Met] = []
        for way, stretches in zip(plan.ways, (self.found.stretches, *self.found.also), strict=True):
            taken += yield from self._through(way, stretches, size, after)
        return sorted(taken, key=lambda met: met.place) if plan.also else taken

    def _through(self, plan: ThroughPlan, stretches: Sequence[Stretch], size: int | None, after: Any) -> _Taking:
        """A junction's items, and the ends that they name: until there is one more than wanted."""
        junction = plan.junction
        assert isinstance(junction, QueryPlan)  # noqa: S101 - many ends come from many links
        if isinstance(plan.end, QueryPlan):
            links = yield from self._chunk(junction, stretches, None)
            named = {link.end.identity: link.end.stretches for link in links if link.end is not None}
            ends = [stretch for of_link in named.values() for stretch in of_link]
            return (yield from self._merge(plan.end, _behind(ends, after), size))
        strong, what = self._strong(plan.end), plan.end.entity.name
        return (yield from self._ends(junction, _behind(stretches, after), size, consistent=strong, what=what))

    def _completed(
        self, plan: QueryPlan | ScanPlan, stretches: Sequence[Stretch], size: int | None, *, one_by_one: bool = False
    ) -> _Taking:
        """An index's entries, and their items from the table."""
        what = plan.completed[0].name
        ends = self._ends(plan, stretches, size, consistent=self.strongly, what=what, one_by_one=one_by_one)
        return (yield from ends)

    def _ends(
        self,
        links_of: QueryPlan | ScanPlan,
        stretches: Sequence[Stretch],
        size: int | None,
        *,
        consistent: bool,
        what: str,
        one_by_one: bool = False,
    ) -> _Taking:
        """Entries, and the items that they name, read by their keys: until there is one more than wanted, or, one by
        one, the first.
        """
        taken: list[Met] = []
        while True:
            wanted = None if size is None else 1 if one_by_one else size + 1 - len(taken)
            links = yield from self._chunk(links_of, stretches, wanted)
            more = wanted is not None and len(links) > wanted
            links = links[:wanted]
            keys = {link.end.identity: link.end.size_bytes for link in links if link.end is not None}
            yield from batches(list(keys.values()), consistent=consistent, what=what)
            taken += [link for link in links if link.end is not None and link.end.size_bytes is not None]
            if not more or (size is not None and len(taken) >= size + (not one_by_one)):
                return taken
            stretches = _behind(stretches, links[-1].place)


def _behind(stretches: Sequence[Stretch], place: Any) -> Sequence[Stretch]:
    """What lies behind a place of the answer's order."""
    if place is None:
        return stretches
    return [replace(one, met=[met for met in one.met if met.place > place]) for one in stretches]


def page(met: Sequence[Met], at: int, limit: int | None, *, closed: bool = False) -> tuple[Sequence[Met], bool]:
    """What one request looks at from ``at`` on, and whether the end was reached: up to ``limit`` items, and not beyond
    the one with which 1 MB is full. ``closed``: behind the last one nothing can lie.
    """
    size = 0
    position = at
    while position < len(met):
        size += met[position].size_bytes
        position += 1
        if position - at == limit or size >= PAGE_BYTES_MAX:
            return met[at:position], closed and position == len(met)
    return met[at:position], True


def batches(sizes: Sequence[int | None], *, consistent: bool, what: str) -> Iterator[Request]:
    """BatchGetItem requests of a hundred keys each."""
    for start in range(0, len(sizes), BATCH_GET_KEYS_MAX):
        yield batch_get(sizes[start : start + BATCH_GET_KEYS_MAX], consistent=consistent, what=what)
