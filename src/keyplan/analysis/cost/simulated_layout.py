"""The partitions and items of one read, with strings as keys in the order of their positions.

The client compares the strings, puts them into cursors and continues after them. They don't depend on the keys of
the design, which can have any type.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from keyplan.analysis.cost.placeholder_reads import MET, StandIns, mark, query_plans
from keyplan.analysis.cost.read_ranges import End, ExpectedItem, ExpectedRange, Found
from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    Plan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.table import Table

__all__ = ["Layout", "Partition"]

Item = dict[str, dict[str, Any]]
_FIXED = "-"


@dataclass(frozen=True)
class Keyed:
    """An item that is read by its key: its bytes (None if it doesn't exist), its name and its contents."""

    size_bytes: int | None
    what: str
    stands_for: Mapping[str, Any] = field(default_factory=dict[str, Any])
    claim_of: Item | None = None
    """Of a claim: the key of the item that has it."""

    def item(self, key: Item) -> Item:
        """The item."""
        result = {**key, MET: {**self.stands_for}}
        return result if self.claim_of is None else {**result, "claim_of": {"M": self.claim_of}}


@dataclass(frozen=True)
class Partition:
    """The items of one partition of the table or of an index; for a scan, all items."""

    name: str
    index: Index | None
    stretch: ExpectedRange
    sorts: Sequence[str]
    """The sort keys, in order."""
    ids: Sequence[str]
    """The identities of the items, in order."""
    leads: Mapping[Any, str]
    """The names of what they lead to, by its identity."""
    is_sorted: bool
    """Whether items have sort keys."""
    scanned: bool = False

    @property
    def met(self) -> Sequence[ExpectedItem]:
        """The items, in order."""
        return self.stretch.met

    @property
    def closed(self) -> bool:
        """Whether nothing can follow the last one."""
        return self.stretch.closed

    def item(self, at: int) -> Item:
        """One of the items: its keys, and what it represents."""
        met = self.met[at]
        held: dict[str, Any] = {"met": met}
        if met.end is not None and met.end.identity in self.leads:
            held["leads"] = self.leads[met.end.identity]
        return {**self.key(at), MET: held}

    def key(self, at: int) -> Item:
        """The keys of one of the items, as a place to read on from."""
        own = self.ids[at]
        if self.index is None:
            texts = {"pk": own, "sk": _FIXED} if self.scanned else {"pk": self.name, "sk": self.sorts[at]}
            if not self.is_sorted:
                del texts["sk"]
        elif self.index.local:
            texts = {"pk": self.name, "sk": own}
        else:
            texts = {"pk": own, "sk": _FIXED, "index_pk": self.name}
        if self.index is not None:
            texts |= {f"index_sk{number}": _FIXED for number in range(1, len(self.index.sort))}
            if self.index.sort:
                texts["index_sk0"] = self.sorts[at]
        return {name: {"S": text} for name, text in texts.items()}

    def behind(self, start: Item) -> int:
        """The position after a start key."""
        if self.index is None and not self.scanned:
            return bisect_right(self.sorts, start["sk"]["S"]) if self.is_sorted else len(self.met)
        own = "sk" if self.index is not None and self.index.local else "pk"
        return bisect_right(self.ids, start[own]["S"])


class _Places:
    """Strings for positions, in order: for sort keys, and for the items."""

    def __init__(self, places: Iterable[tuple[Any, ...]]) -> None:
        self.sorts: dict[tuple[Any, ...], str] = {}
        self.ids: dict[tuple[Any, ...], str] = {}
        number, before = -1, object()
        for at, place in enumerate(sorted(set(places))):
            if place[0] != before:
                number, before = number + 1, place[0]
            self.sorts[place] = f"{number:09d}"
            self.ids[place] = f"{at:09d}"


class Layout:
    """The partitions and items of one read, and its placeholders."""

    def __init__(self, pattern: ReadPattern, result: Found) -> None:
        plan = pattern.plan
        self.partitions: dict[str, Partition] = {}
        self.indexes = {element.index.name: element.index for element in _pages_of(plan) if element.index is not None}
        self._keyed: dict[str, Keyed] = {}
        self._suffixes: tuple[str, ...] = ()
        self._ends: dict[Any, str] = {}
        """The names of what junctions lead to, by its identity."""
        self._is_sorted = all(
            query_plan.index is not None or bool(query_plan.key.sort) for query_plan in query_plans(plan)
        )
        self._last = _last_kinds(plan, result)
        ways = list(_ways(plan, result))
        linked = [end for way, stretches in ways for end in _ends_of(way, stretches)]
        if result.link is not None and isinstance(plan, ThroughPlan):
            linked.append((plan, result.link))
        answer = _answer_places(ways, linked)
        self._name_ends(linked, answer)
        items = self._items(plan, result)
        names = [self._lay_way(number, way, stretches, answer) for number, (way, stretches) in enumerate(ways)]
        self.standins = StandIns(pattern, names, items, self._last, is_sorted=self._is_sorted, suffixes=self._suffixes)

    @property
    def table(self) -> Table:
        """The table that replaces the design's."""
        return self.standins.table

    @property
    def scanned(self) -> Partition:
        """What a scan reads."""
        return next(iter(self.partitions.values()))

    def by_key(self, key: Item) -> Keyed:
        """The item with a primary key."""
        names = (element["S"] for element in key.values())
        return next((self._keyed[name] for name in names if name in self._keyed), Keyed(None, "item"))

    # Items that are read by key

    def _items(self, plan: Plan, result: Found) -> list[str]:
        """The names of the items that the read begins with."""
        first = plan.junction if isinstance(plan, ThroughPlan) else plan
        leads = {"leads": self._ends[result.link.identity]} if result.link is not None else {}
        sizes: tuple[int | None, ...] = (*result.items, None, None)
        match first:
            case GetPlan():
                kept = [Keyed(sizes[0], first.entity.name, leads)]
            case ClaimPlan():
                claim = Keyed(sizes[0], f"claim {first.claim.name}", claim_of=self._primary("item 1"))
                kept = [claim, Keyed(sizes[1], first.entity.name, leads)]
            case BatchGetPlan():
                kept = [Keyed(size, first.entity.name) for size in result.items]
            case _:
                kept = []
        named = {f"item {at}": keyed for at, keyed in enumerate(kept)}
        self._keyed.update(named)
        return list(named)

    def _primary(self, name: str) -> Item:
        return {"pk": {"S": name}, "sk": {"S": _FIXED}} if self._is_sorted else {"pk": {"S": name}}

    # What junctions lead to

    def _name_ends(self, linked: Sequence[tuple[ThroughPlan, End]], answer: _Places) -> None:
        """Name each end, in the order of its partitions, and store its items."""
        distinct = {end.identity: (way, end) for way, end in linked}
        known = {element.partition for _, end in linked for element in end.stretches if element.partition is not None}
        ranks = {partition: at for at, partition in enumerate(sorted(known))}
        for at, (identity, (way, end)) in enumerate(distinct.items()):
            rank = ranks.get(end.stretches[0].partition, at) if end.stretches else at
            name = self._ends[identity] = f"end {rank:09d}" if isinstance(way.end, QueryPlan) else f"item at {at:09d}"
            if isinstance(way.end, GetPlan):
                self._keyed[name] = Keyed(end.size_bytes, way.end.entity.name)
        for way, end in distinct.values():
            if isinstance(way.end, QueryPlan):
                for shard, stretch in enumerate(end.stretches):
                    self._lay(way.end, self._ends[end.identity] + way.end.key.suffix(shard), stretch, answer)

    # Partitions

    def _lay_way(
        self, number: int, way: QueryPlan | ScanPlan | ThroughPlan, stretches: Sequence[ExpectedRange], answer: _Places
    ) -> list[list[str]]:
        """Create the partitions that a way starts with. Returns their names per bucket."""
        plan, places = way, answer
        if isinstance(way, ThroughPlan):
            if not isinstance(way.junction, QueryPlan):
                return []
            plan = way.junction
            if isinstance(way.end, QueryPlan):
                places = _Places(met.place for stretch in stretches for met in stretch.met)
            else:
                self._keep_keys(stretches, answer)
        assert isinstance(plan, QueryPlan | ScanPlan)  # noqa: S101 - what remains
        shards = plan.shards if isinstance(plan, QueryPlan) else 1
        groups = [stretches[start : start + shards] for start in range(0, len(stretches), shards)]
        ranks = _ranks([group[0] for group in groups])
        names = [f"way {number} {rank:09d}" for rank in ranks]
        if shards > 1 and groups:
            self._suffixes = tuple(f" {rank:09d}" for rank in _ranks(groups[0]))
        for name, group in zip(names, groups, strict=True):
            for shard, stretch in enumerate(group):
                self._lay(plan, name + (self._suffixes[shard] if shards > 1 else ""), stretch, places, number)
        buckets: dict[int, list[str]] = {}
        for name, group in zip(names, groups, strict=True):
            buckets.setdefault(group[0].bucket, []).append(name)
        return list(buckets.values())

    def _keep_keys(self, stretches: Sequence[ExpectedRange], answer: _Places) -> None:
        """Set the position in the result of items that several junctions can lead to."""
        for stretch in stretches:
            for met in stretch.met:
                if met.end is None:
                    continue
                name = self._ends[met.end.identity]
                place = met.end.place or met.place
                same = self._standing.get(place)
                key = same or {"sort": answer.sorts[met.place], "partition": f"of {name}", "id": name}
                self._keyed[name] = replace(self._keyed[name], stands_for={"key": key})

    @cached_property
    def _standing(self) -> dict[tuple[Any, ...], dict[str, str]]:
        """The keys of items that partitions have which junctions lead to, by their places."""
        return {
            met.place: {"sort": sort, "partition": partition.name, "id": own}
            for partition in self.partitions.values()
            for met, sort, own in zip(partition.met, partition.sorts, partition.ids, strict=True)
        }

    def _lay(
        self, plan: QueryPlan | ScanPlan, name: str, stretch: ExpectedRange, places: _Places, way: int = 0
    ) -> None:
        sorts = [places.sorts[met.place] for met in stretch.met]
        ids = [places.ids[met.place] for met in stretch.met]
        if self._last:
            sorts = _marked(stretch.met, sorts, way, self._last[way])
        if plan.completed:
            what = plan.completed[0].name
            for met, own in zip(stretch.met, ids, strict=True):
                self._keyed[own] = Keyed(None if met.end is None else met.end.size_bytes, what)
        scanned = isinstance(plan, ScanPlan)
        self.partitions[name] = Partition(
            name, plan.index, stretch, sorts, ids, self._ends, self._is_sorted, scanned=scanned
        )


def _ranks(stretches: Sequence[ExpectedRange]) -> list[int]:
    """The order of partitions, if known."""
    known = sorted(stretch.partition for stretch in stretches if stretch.partition is not None)
    ranks = {partition: at for at, partition in enumerate(known)}
    return [ranks.get(stretch.partition, at) for at, stretch in enumerate(stretches)]


def _marked(met: Sequence[ExpectedItem], sorts: Sequence[str], way: int, last: str | None) -> list[str]:
    """Sort keys that show the number of the query, and where the items of the last entity start."""
    first = len(met) if last is None else next((at for at, item in enumerate(met) if item.kind == last), len(met))
    return [mark(way, last, None if at < first else last) + text for at, text in enumerate(sorts)]


def _last_kinds(plan: Plan, result: Found) -> list[str | None]:
    """For each query of a read, the last entity of the collection; empty if no sort key needs to show it."""
    if not isinstance(plan, QueryPlan):
        return []
    known = (result.stretches, *result.also)
    lasts = [None if plan.merged or not stretches else stretches[0].last_kind for stretches in known]
    return lasts if plan.apart or any(lasts) else []


def _ways(plan: Plan, result: Found) -> Iterator[tuple[QueryPlan | ScanPlan | ThroughPlan, Sequence[ExpectedRange]]]:
    """Each way to the result, with the ranges that it starts with."""
    match plan:
        case ThroughPlan():
            known = (result.stretches, *result.also)
            yield from ((way, known[at] if at < len(known) else (ExpectedRange(),)) for at, way in enumerate(plan.ways))
        case QueryPlan(apart=(_, *_)):
            yield from zip(plan.apart, (result.stretches, *result.also), strict=True)
        case QueryPlan() | ScanPlan():
            yield plan, result.stretches
        case _:
            return


def _ends_of(
    way: QueryPlan | ScanPlan | ThroughPlan, stretches: Sequence[ExpectedRange]
) -> Iterator[tuple[ThroughPlan, End]]:
    if isinstance(way, ThroughPlan):
        yield from ((way, met.end) for stretch in stretches for met in stretch.met if met.end is not None)


def _answer_places(
    ways: Sequence[tuple[QueryPlan | ScanPlan | ThroughPlan, Sequence[ExpectedRange]]],
    linked: Sequence[tuple[ThroughPlan, End]],
) -> _Places:
    """The positions in the order of the result."""
    result = [met.place for _, end in linked for stretch in end.stretches for met in stretch.met]
    for way, stretches in ways:
        if not (isinstance(way, ThroughPlan) and isinstance(way.end, QueryPlan)):
            result += [met.place for stretch in stretches for met in stretch.met]
    return _Places(result)


def _pages_of(plan: Plan) -> Iterator[QueryPlan | ScanPlan]:
    """What of a plan is read page by page."""
    if isinstance(plan, ScanPlan):
        yield plan
    yield from query_plans(plan)
