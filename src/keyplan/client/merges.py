"""Several partitions read in parallel and merged in order, under one cursor.

A position in the merged order is one entry's sort key, partition and primary key, however many partitions there are:
each is taken up behind it. So a cursor stays small, and items written meanwhile disturb nothing.

Partitions are read in rounds of some in parallel. Once as many entries are found as are wanted, the last of them is
how far the others are read at all: a partition whose newest item is older costs one request, and no item.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.client.bounds import order_of, partition_texts
from keyplan.client.conversations import Conversation, Request
from keyplan.client.cursors import Position
from keyplan.client.reads import Chunk, Entry, Item, QueryReader, Target
from keyplan.client.sieve import Sieve, sieve_of
from keyplan.design.plans import QueryPlan

__all__ = ["MergeReader", "Place"]

PARALLEL_MAX = 20

Place = tuple[Any, ...]


@dataclass
class _Stream:
    """One partition: what was read and not yet given, and where to read on."""

    values: Mapping[str, Any]
    partition: list[str]
    sieve: Sieve | None
    behind: bool
    """Whether it is the position's own partition, whose reading begins right behind it."""
    cut: str | None
    """The sort key that its reading begins with, where that isn't its beginning."""
    start: Item | None
    """The key that its reading begins behind."""
    ended: bool = False
    entries: deque[tuple[Place, Entry]] = field(default_factory=deque[tuple[Place, Entry]])

    @property
    def dry(self) -> bool:
        """Whether it must be read before anything can be given."""
        return not self.entries and not self.ended


class _Reach:
    """How far partitions need be read: up to the last of the entries wanted, once so many have been found."""

    def __init__(self, wanted: int | None, *, forward: bool) -> None:
        self._wanted = wanted
        self._forward = forward
        self._best: list[tuple[Place, str]] = []

    def found(self, place: Place, sort: str) -> None:
        """Take an entry into account."""
        if self._wanted is None:
            return
        insort(self._best, (place, sort))
        if len(self._best) > self._wanted:
            del self._best[-1 if self._forward else 0]

    @property
    def sort(self) -> str | None:
        """The sort key behind which nothing can be wanted; None as long as too few are found."""
        if self._wanted is None or len(self._best) < self._wanted:
            return None
        return self._best[-1 if self._forward else 0][1]


class MergeReader:
    """Queries of many partitions: shards of one, ``Each`` value of a field, or those that a junction names."""

    def __init__(self, plan: QueryPlan, target: Target) -> None:
        self.plan = plan
        self._reader = QueryReader(plan, target)
        table = target.table
        base = (table.partition,) if table.sort is None else (table.partition, table.sort)
        partition = tuple(attribute for attribute, _ in plan.key.partition)
        sort = tuple(attribute for attribute, _ in plan.key.sort)
        self._order = (*sort, *partition, *(base if plan.index else ()))
        self._sorts = len(sort)
        self._texts = all(one.type == "S" for one in self._order)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next entries of all partitions that the values name."""
        return (yield from self.merge(self._value_sets(values), size, position))

    def _value_sets(self, values: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        each = self.plan.each
        if each is None:
            return [values]
        return [{**values, each: value} for value in dict.fromkeys(values[each])]

    def merge(
        self, value_sets: Iterable[Mapping[str, Any]], size: int | None, position: Position | None
    ) -> Conversation[Chunk]:
        """The next entries of the partitions that each of ``value_sets`` names."""
        after = None if position is None else self.place_of(position)
        wanted = None if size is None else size + 1
        reach = _Reach(wanted, forward=self.plan.forward)
        streams = self._streams(value_sets, position)
        yield from self._fill(streams, wanted, after, reach)
        live = [stream for stream in streams if stream.entries]
        out: list[Entry] = []
        while live and (wanted is None or len(out) < wanted):
            best = live[0]
            for stream in live:
                if self.before(stream.entries[0][0], best.entries[0][0]):
                    best = stream
            out.append(best.entries.popleft()[1])
            if best.dry and (wanted is None or len(out) < wanted):
                yield from self._fill([best], wanted, after, reach)
            if not best.entries:
                live.remove(best)
        if size is None or len(out) <= size:
            return Chunk(out, None)
        del out[size:]
        return Chunk(out, self.position(out[-1].item))

    def position(self, item: Item) -> Position:
        """Where an item stands in the merged order."""
        return [item[one.name][one.type] for one in self._order]

    def _streams(self, value_sets: Iterable[Mapping[str, Any]], position: Position | None) -> list[_Stream]:
        streams: dict[tuple[str, ...], _Stream] = {}
        key = self.plan.key
        for values in value_sets:
            sieve = sieve_of(self.plan, values)
            for shard in range(key.shards):
                partition = partition_texts(self.plan.matches[0], values, key.suffix(shard))
                if tuple(partition) not in streams:
                    streams[tuple(partition)] = self._stream(values, partition, sieve, position)
        return list(streams.values())

    def _stream(
        self, values: Mapping[str, Any], partition: list[str], sieve: Sieve | None, position: Position | None
    ) -> _Stream:
        """A partition before it is read. The position's own begins right behind the position; the others with the same
        sort key, whose entries may have been given already: they are dropped by their place.
        """
        sorts = self._sorts
        if position is None:
            return _Stream(values, partition, sieve, behind=False, cut=None, start=None)
        if position[sorts : sorts + len(partition)] == partition:
            base = position[sorts + len(partition) :] if self.plan.index else []
            start = self._reader.start_key(partition, [*position[:sorts], *base])
            return _Stream(values, partition, sieve, behind=True, cut=None, start=start)
        return _Stream(values, partition, sieve, behind=False, cut=position[0] if sorts == 1 else None, start=None)

    def _request(self, stream: _Stream, wanted: int | None, reach: _Reach) -> Request | None:
        """The next request of a partition; None when nothing in it can be wanted any more."""
        last = reach.sort if self._sorts == 1 else None
        if last is not None and stream.start is not None:
            order = self._compare(stream.start, last)
            if order > 0:
                return None
            if order == 0:  # DynamoDB refuses to begin at the end; others with the same sort key may follow in an index
                last = None
        parameters = self._reader.request(stream.values, stream.partition, stream.cut, last)
        if parameters is None:
            return None
        if wanted is not None:
            parameters["Limit"] = self._reader.page_size(parameters, wanted)
        if stream.start is not None:
            parameters["ExclusiveStartKey"] = stream.start
        return Request("Query", parameters)

    def _fill(
        self, streams: Sequence[_Stream], wanted: int | None, after: Place | None, reach: _Reach
    ) -> Conversation[None]:
        """Read every stream that must be read, in parallel, until each has an entry or its end."""
        while dry := [stream for stream in streams if stream.dry]:
            for start in range(0, len(dry), PARALLEL_MAX):
                asked: list[tuple[_Stream, Request]] = []
                for stream in dry[start : start + PARALLEL_MAX]:
                    request = self._request(stream, wanted, reach)
                    if request is None:
                        stream.ended = True
                    else:
                        asked.append((stream, request))
                if not asked:
                    continue
                responses = yield [request for _, request in asked]
                for (stream, _), response in zip(asked, responses, strict=True):
                    self._take(stream, response, after, reach)

    def _take(self, stream: _Stream, response: dict[str, Any], after: Place | None, reach: _Reach) -> None:
        for item in response["Items"]:
            position = self.position(item)
            place = self.place_of(position)
            if after is not None and not stream.behind and not self.before(after, place):
                continue
            instance = self._reader.instance(item)
            if instance is not None and (stream.sieve is None or stream.sieve.passes(instance, item)):
                stream.entries.append((place, Entry(instance, item)))
                if self._sorts == 1:
                    reach.found(place, position[0])
        stream.start = response.get("LastEvaluatedKey")
        stream.ended = stream.start is None

    def _compare(self, start: Item, last: str) -> int:
        """Where a key's sort key is in the direction of the reading: before ``last`` (-1), at it, or behind it (1)."""
        sort = self._order[0]
        one, other = order_of(start[sort.name][sort.type], sort.type), order_of(last, sort.type)
        if one == other:
            return 0
        return 1 if (one > other) is self.plan.forward else -1

    def place_of(self, texts: Position) -> Place:
        """A position as what it is ordered by."""
        if self._texts:
            return tuple(texts)
        pairs = zip(self._order, texts, strict=True)
        return tuple(order_of(text, one.type) for one, text in pairs)

    def before(self, one: Place, other: Place) -> bool:
        """Whether one place comes before another in the answer."""
        return one < other if self.plan.forward else one > other
