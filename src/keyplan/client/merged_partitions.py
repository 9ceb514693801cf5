"""Reads several partitions in parallel, and merges the items in order, with one cursor.

A position in the merged order is one entry's sort key, partition and primary key, for any number of partitions, and
each partition resumes after this position. Therefore cursors are small, and concurrent writes don't invalidate cursors.

``Shares`` determines how much to read from each partition in a round.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from keyplan.client.batches import batch_get
from keyplan.client.conversations import Conversation, Request, Target, together
from keyplan.client.cursors import Position
from keyplan.client.key_conditions import (
    ORDERS,
    AnswerFilter,
    answer_filter_of,
    order_of,
    partition_texts,
    text_of,
    value_sets,
)
from keyplan.client.read_plans import (
    Chunk,
    Entry,
    Item,
    QueryReader,
    ScanReader,
    asked_of_table,
    gather_entries,
    own_item,
)
from keyplan.model.compiled.plans import QueryPlan, ScanPlan
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.stored_entity import CompiledEntity


class _Candidate(NamedTuple):
    """An item with its place, and its instance or the entity that will convert the item."""

    place: Place
    item: Item
    whose: CompiledEntity
    instance: Entity | None


@dataclass
class _Stream:
    values: Mapping[str, Any]
    partition: list[str]
    answer_filter: AnswerFilter | None
    behind: bool
    """Whether the position is in this partition, which then resumes directly after the position."""
    cut: str | None
    """The first sort key to read, or None to read from the start."""
    start: Item | None
    """The exclusive start key."""


class MergeReader:
    """Queries of several partitions: shards of a partition, the values of ``Each``, or the ends of a junction."""

    def __init__(self, plan: QueryPlan, target: Target) -> None:
        self.plan = plan
        self._reader = QueryReader(plan, target)
        table = target.table
        base = (table.partition,) if table.sort is None else (table.partition, table.sort)
        partition = tuple(attribute for attribute, _ in plan.key.partition)
        sort = tuple(attribute for attribute, _ in plan.key.sort)
        self._order = (*sort, *partition, *(base if plan.index else ()))
        self._named = tuple((attribute.name, attribute.type) for attribute in self._order)
        self._ordered = tuple((attribute.name, attribute.type, ORDERS[attribute.type]) for attribute in self._order)
        self._sorts = len(sort)
        self._texts = all(value.type == "S" for value in self._order)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next entries of all partitions for the values of a call."""
        return (yield from self.merge(value_sets(self.plan.each, values), size, position))

    def first(self, values: Mapping[str, Any]) -> Conversation[Entity | None]:
        """The first item of all partitions for the values of a call."""
        chunk = yield from self.chunk(values, 1, None)
        return chunk.entries[0].instance if chunk.entries else None

    def merge(
        self, value_sets: Iterable[Mapping[str, Any]], size: int | None, position: Position | None
    ) -> Conversation[Chunk]:
        """The next entries of the partitions for ``value_sets``."""
        after = None if position is None else self.place_of(position)
        streams = self._streams(value_sets, position)
        sifted = self.plan.filter is not None
        wanted = None if size is None else size + 1
        even = len(streams) == self.plan.shards  # a hash distributes items evenly over the shards of one value
        bounded = self._sorts == 1
        shares = Shares(len(streams), wanted, forward=self.plan.forward, bounded=bounded, sifted=sifted, even=even)
        result: list[_Candidate] = []
        while True:
            while asks := shares.asks():
                requests = [(ask, self._request(streams[ask.partition], ask)) for ask in asks]
                asked = [request for _, request in requests if request is not None]
                responses = iter((yield asked) if asked else ())
                for ask, request in requests:
                    response = {"Items": []} if request is None else next(responses)
                    result += self._take(streams[ask.partition], response, after, shares, ask)
            # Entries of one partition with equal sort keys keep the order in which the index returns them
            behind = self._sorts + len(self.plan.key.partition)
            result.sort(key=lambda candidate: candidate.place[:behind], reverse=not self.plan.forward)
            entries = [self._entry(candidate) for candidate in result[:size]]
            if None not in entries:
                break
            shares.drop([candidate.place for candidate, entry in zip(result, entries, strict=False) if entry is None])
            kept = [candidate for candidate, entry in zip(result, entries, strict=False) if entry is not None]
            result[: len(entries)] = kept
        out = [entry for entry in entries if entry is not None]
        return Chunk(out, None if len(out) == len(result) else self.position(out[-1].item))

    def _entry(self, candidate: _Candidate) -> Entry | None:
        """The candidate as an instance, which is created only for a result page. None for an item of another entity."""
        instance = candidate.instance
        if instance is None:
            instance = own_item(candidate.whose, candidate.item, self._reader.target)
        return None if instance is None else Entry(instance, candidate.item)

    def position(self, item: Item) -> Position:
        return [item[name][kind] for name, kind in self._named]

    def _streams(self, value_sets: Iterable[Mapping[str, Any]], position: Position | None) -> list[_Stream]:
        streams: dict[tuple[str, ...], _Stream] = {}
        key = self.plan.key
        for values in value_sets:
            answer_filter = answer_filter_of(self.plan, values)
            for shard in range(key.shards):
                partition = partition_texts(self.plan.matches[0], values, key.suffix(shard))
                if tuple(partition) not in streams:
                    streams[tuple(partition)] = self._stream(values, partition, answer_filter, position)
        return list(streams.values())

    def _stream(
        self,
        values: Mapping[str, Any],
        partition: list[str],
        answer_filter: AnswerFilter | None,
        position: Position | None,
    ) -> _Stream:
        """A partition before reading. The position's partition resumes after the position; others with the same sort
        key may contain returned entries, which are dropped by place.
        """
        sorts = self._sorts
        if position is None:
            return _Stream(values, partition, answer_filter, behind=False, cut=None, start=None)
        if position[sorts : sorts + len(partition)] == partition:
            base = position[sorts + len(partition) :] if self.plan.index else []
            start = self._reader.start_key(partition, [*position[:sorts], *base])
            return _Stream(values, partition, answer_filter, behind=True, cut=None, start=start)
        return _Stream(
            values, partition, answer_filter, behind=False, cut=position[0] if sorts == 1 else None, start=None
        )

    def _request(self, stream: _Stream, ask: Ask) -> Request | None:
        """The next request of a partition; None if the partition was already read up to the request's end."""
        end = None if ask.end is None else text_of(ask.end[0], self._order[0].type)
        if end is not None and stream.start is not None:
            sort = self._order[0]
            begins, ends = (order_of(text, sort.type) for text in (stream.start[sort.name][sort.type], end))
            if begins == ends:  # index items can follow, but DynamoDB rejects a start key at the end of the range
                end = None
            elif (begins > ends) is self.plan.forward:
                return None
        parameters = self._reader.request(stream.values, stream.partition, stream.cut, end)
        if parameters is None:
            return None
        if ask.limit is not None:
            parameters["Limit"] = ask.limit
        if stream.start is not None:
            parameters["ExclusiveStartKey"] = stream.start
        return Request("Query", parameters)

    def _take(
        self, stream: _Stream, response: dict[str, Any], after: Place | None, shares: Shares, ask: Ask
    ) -> list[_Candidate]:
        """The entries of a response. Also records them in ``shares``."""
        result: list[_Candidate] = []
        items = response["Items"]
        given_before = 0
        for item in items:
            place = self._place_of_item(item)
            if after is not None and not stream.behind and not self.before(after, place):
                given_before += 1
                continue
            whose = self._reader.entity_of(item)
            if whose is None:
                continue
            instance = None
            if stream.answer_filter is not None:
                instance = own_item(whose, item, self._reader.target)
                if instance is None or not stream.answer_filter.passes(instance, item):
                    continue
            result.append(_Candidate(place, item, whose, instance))
        following = response.get("LastEvaluatedKey")
        if following is not None:
            stream.start = following
        elif items:
            stream.start = self._reader.start_key(stream.partition, self._reader.position(items[-1]))
        last = None if following is None else self._place_of_item(following)
        shares.took(ask, [candidate.place for candidate in result], len(items) - given_before, last)
        return result

    def place_of(self, texts: Position) -> Place:
        return tuple(order(text) for (_, _, order), text in zip(self._ordered, texts, strict=True))

    def _place_of_item(self, item: Item) -> Place:
        if self._texts:
            return tuple([item[name][kind] for name, kind in self._named])
        return tuple([order(item[name][kind]) for name, kind, order in self._ordered])

    def before(self, place: Place, other: Place) -> bool:
        """Whether ``place`` precedes ``other`` in the result."""
        return place < other if self.plan.forward else place > other


def entries_reader(plan: QueryPlan, target: Target) -> QueryReader | MergeReader | PartedReader:
    """The reader of a plan: one query, merged queries, or consecutive narrower queries."""
    if plan.apart:
        return PartedReader(plan, target)
    return MergeReader(plan, target) if plan.merged else QueryReader(plan, target)


class PartedReader:
    """Runs narrower queries in result order. The partitions of each query are merged."""

    def __init__(self, plan: QueryPlan, target: Target) -> None:
        self.plan = plan
        self.readers = [MergeReader(part, target) if part.merged else QueryReader(part, target) for part in plan.apart]

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """All remaining entries or, with ``size``, the entries of as many queries as necessary."""
        readers = self.readers if position is None else self.readers[self._part_of(values, position) :]
        starts = [position, *[None] * (len(readers) - 1)]
        if size is None:
            asking = [reader.chunk(values, None, start) for reader, start in zip(readers, starts, strict=True)]
            chunks = yield from together(asking)
            return Chunk([entry for chunk in chunks for entry in chunk.entries], None)
        entries: list[Entry] = []
        for reader, start in zip(readers, starts, strict=True):
            if len(entries) == size:
                if (yield from reader.first(values)) is not None:
                    return Chunk(entries, self.position(entries[-1].item))
                continue
            chunk = yield from reader.chunk(values, size - len(entries), start)
            entries.extend(chunk.entries)
            if chunk.position is not None:
                return Chunk(entries, chunk.position)
        return Chunk(entries, None)

    def first(self, values: Mapping[str, Any]) -> Conversation[Entity | None]:
        for reader in self.readers:
            entity = yield from reader.first(values)
            if entity is not None:
                return entity
        return None

    def position(self, item: Item) -> Position:
        return self.readers[0].position(item)

    def _part_of(self, values: Mapping[str, Any], position: Position) -> int:
        """The number of the query that contains a position: the last query that starts before the position."""
        starts = [min(match.sort[0].start(values) for match in part.matches) for part in self.plan.apart]
        return max((at for at, text in enumerate(starts) if text <= position[0]), key=lambda at: starts[at], default=0)


PARALLEL_MAX = 20
"""Maximum number of partitions to read in parallel."""
UNEVEN_MAX = 8
"""Initial number of items per partition if the partitions' sizes can differ greatly."""
LOOKED_AT_MIN = 100
"""Minimum number of items to read per request if some of them may not belong to the result."""

Place: TypeAlias = tuple[Any, ...]
"""The sort value of an entry."""


class Ask(NamedTuple):
    """A read of a partition: at most ``limit`` items (None: all) up to ``end`` (None: the partition's end)."""

    partition: int
    limit: int | None
    end: Place | None


@dataclass(slots=True)
class _Partition:
    """The progress of reading a partition: up to ``known`` (None: not started), or to the partition's end."""

    limit: int | None = None
    """The number of items to read next."""
    asked: bool = False
    ended: bool = False
    known: Place | None = None
    mixed: bool = False
    """Whether the partition also contains items that don't belong to the result."""


class Shares:
    """Plans how much to read next from each partition. ``wanted``: the number of entries to return (None: all).
    ``bounded``: whether a read can end at a given place. ``sifted``: whether a filter removes items after they are
    read. ``even``: whether a hash distributes items evenly over the partitions.
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
        """Record a response: its entries' places, the number of items read, and the last place (None at the end)."""
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

    def drop(self, places: Sequence[Place]) -> None:
        """Record that the items at these places don't belong to the result."""
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


class CompletingReader:
    """Queries or a scan of an index, with whole items read from the table in batches."""

    def __init__(self, plan: QueryPlan | ScanPlan, target: Target) -> None:
        self.plan = plan
        self.target = target
        self._entries = ScanReader(plan, target) if isinstance(plan, ScanPlan) else entries_reader(plan, target)
        self._asked = asked_of_table(target, plan.completed)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next items in index order; an entry whose item is missing is skipped."""

        def part(wanted: int | None, start: Position | None) -> Conversation[tuple[list[Entry], Position | None]]:
            entries = yield from self._entries.chunk(values, wanted, start)
            return (yield from self._items(entries.entries)), entries.position

        return (yield from gather_entries(part, size, position, self._entries.position))

    def position(self, item: Item) -> Position:
        return self._entries.position(item)

    def first(self, values: Mapping[str, Any]) -> Conversation[Entity | None]:
        position: Position | None = None
        while True:
            entries = yield from self._entries.chunk(values, 1, position)
            result = yield from self._items(entries.entries)
            position = entries.position
            if result or position is None:
                return result[0].instance if result else None

    def _items(self, entries: Sequence[Entry]) -> Conversation[list[Entry]]:
        names = self.target.table.key_names
        keys: list[Item] = [{name: entry.item[name] for name in names} for entry in entries]
        items = yield from batch_get(self.target.name, keys, consistent=self.target.consistent, projection=self._asked)
        result = ((self._instance(item), entry) for item, entry in zip(items, entries, strict=True) if item is not None)
        return [Entry(instance, entry.item) for instance, entry in result if instance is not None]

    def _instance(self, item: Item) -> Entity | None:
        entity = next(
            (compiled_entity for compiled_entity in self.plan.completed if compiled_entity.matches(item)), None
        )
        return None if entity is None else own_item(entity, item, self.target)
