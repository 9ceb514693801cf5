"""Several partitions read in parallel and merged in order, under one cursor.

A position in the merged order is one entry's sort key, partition and primary key, however many partitions there are:
each is taken up behind it. So a cursor stays small, and items written meanwhile disturb nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keyplan.client.bounds import order_of, partition_texts
from keyplan.client.conversations import Conversation, Request
from keyplan.client.cursors import Position
from keyplan.client.reads import Chunk, Entry, Item, QueryReader, Target
from keyplan.client.sieve import Sieve, sieve_of
from keyplan.design.plans import QueryPlan

__all__ = ["MergeReader"]

PARALLEL_MAX = 20

Place = tuple[Any, ...]


@dataclass
class _Stream:
    """One partition: what was read and not yet given, and where to read on."""

    sieve: Sieve | None
    request: dict[str, Any] | None
    behind: bool
    """Whether it is the position's own partition, whose reading begins right behind it."""
    entries: list[tuple[Place, Entry]] = field(default_factory=list[tuple[Place, Entry]])

    @property
    def dry(self) -> bool:
        """Whether it must be read before anything can be given."""
        return not self.entries and self.request is not None


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
        streams = self._streams(value_sets, position)
        after = None if position is None else self._place_of(position)
        wanted = None if size is None else size + 1
        out: list[Entry] = []
        while wanted is None or len(out) < wanted:
            yield from self._fill(streams, wanted, after)
            best: _Stream | None = None
            for stream in streams:
                if stream.entries and (best is None or self._before(stream.entries[0][0], best.entries[0][0])):
                    best = stream
            if best is None:
                break
            out.append(best.entries.pop(0)[1])
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
                    request = self._begin(values, partition, position)
                    behind = position is not None and self._holds(partition, position)
                    streams[tuple(partition)] = _Stream(sieve, request, behind)
        return list(streams.values())

    def _begin(
        self, values: Mapping[str, Any], partition: list[str], position: Position | None
    ) -> dict[str, Any] | None:
        """The first request of a partition. In the position's own partition it begins right behind the position; in the
        others with the same sort key, whose entries may have been given already: they are dropped by their place.
        """
        if position is None:
            return self._reader.request(values, partition)
        sorts = self._sorts
        if self._holds(partition, position):
            request = self._reader.request(values, partition)
            if request is not None:
                base = position[sorts + len(partition) :] if self.plan.index else []
                request["ExclusiveStartKey"] = self._reader.start_key(partition, [*position[:sorts], *base])
            return request
        return self._reader.request(values, partition, cut=position[0] if sorts == 1 else None)

    def _holds(self, partition: list[str], position: Position) -> bool:
        return position[self._sorts : self._sorts + len(partition)] == partition

    def _fill(self, streams: list[_Stream], wanted: int | None, after: Place | None) -> Conversation[None]:
        """Read every stream that must be read, in parallel, until each has an entry or its end."""
        while dry := [stream for stream in streams if stream.dry]:
            for start in range(0, len(dry), PARALLEL_MAX):
                batch = dry[start : start + PARALLEL_MAX]
                requests: list[Request] = []
                for stream in batch:
                    request = dict(stream.request or {})
                    if wanted is not None:
                        request["Limit"] = self._reader.page_size(request, wanted)
                    requests.append(Request("Query", request))
                responses = yield requests
                for stream, response in zip(batch, responses, strict=True):
                    self._take(stream, response, after)

    def _take(self, stream: _Stream, response: dict[str, Any], after: Place | None) -> None:
        for item in response["Items"]:
            place = self._place_of(self.position(item))
            if after is not None and not stream.behind and not self._before(after, place):
                continue
            instance = self._reader.instance(item)
            if instance is not None and (stream.sieve is None or stream.sieve.passes(instance, item)):
                stream.entries.append((place, Entry(instance, item)))
        last: Item | None = response.get("LastEvaluatedKey")
        if last is None:
            stream.request = None
        elif stream.request is not None:
            stream.request = {**stream.request, "ExclusiveStartKey": last}

    def _place_of(self, texts: Position) -> Place:
        pairs = zip(self._order, texts, strict=True)
        return tuple(order_of(text, one.type) for one, text in pairs)

    def _before(self, one: Place, other: Place) -> bool:
        return one < other if self.plan.forward else one > other
