"""Reading apart: narrower queries whose answers follow each other, where one query would read what lies between.

``keyplan.model.compiled.split_reads`` decides which queries to split. The result has one order, that of the sort key,
and a position in it belongs to one of the narrower queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.client.conversations import Conversation, together
from keyplan.client.cursors import Position
from keyplan.client.merged_partitions import MergeReader
from keyplan.client.read_plans import Chunk, Entry, Item, QueryReader
from keyplan.client.target import Target
from keyplan.model.compiled.plans import QueryPlan
from keyplan.model.declared.entity import Entity

__all__ = ["PartedReader", "entries_reader"]


def entries_reader(plan: QueryPlan, target: Target) -> QueryReader | MergeReader | PartedReader:
    """The reader of one query, of several merged, or of narrower ones."""
    if plan.apart:
        return PartedReader(plan, target)
    return MergeReader(plan, target) if plan.merged else QueryReader(plan, target)


class PartedReader:
    """Narrower queries, in the order of the answer; of several partitions each is merged by itself."""

    def __init__(self, plan: QueryPlan, target: Target) -> None:
        self.plan = plan
        self.readers = [MergeReader(part, target) if part.merged else QueryReader(part, target) for part in plan.apart]

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next entries: all of them at once, or of one query after the other, until there are enough."""
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
        """The first item."""
        for reader in self.readers:
            entity = yield from reader.first(values)
            if entity is not None:
                return entity
        return None

    def position(self, item: Item) -> Position:
        """Where an item stands in the answer's order."""
        return self.readers[0].position(item)

    def _part_of(self, values: Mapping[str, Any], position: Position) -> int:
        """Which of the queries a position lies in: of those that begin before it, the one that begins last."""
        starts = [min(match.sort[0].start(values) for match in part.matches) for part in self.plan.apart]
        return max((at for at, text in enumerate(starts) if text <= position[0]), key=lambda at: starts[at], default=0)
