"""Reads of an index with partial projections, completed from the table by the keys of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.client.batches import batch_get
from keyplan.client.conversations import Conversation
from keyplan.client.cursors import Position
from keyplan.client.merged_partitions import entries_reader
from keyplan.client.read_plans import Chunk, Entry, Item, ScanReader, asked_of_table, own_item
from keyplan.client.target import Target
from keyplan.model.compiled.plans import QueryPlan, ScanPlan
from keyplan.model.declared.entity import Entity

__all__ = ["CompletingReader"]


class CompletingReader:
    """Queries or a scan of an index, with whole items read from the table in batches."""

    def __init__(self, plan: QueryPlan | ScanPlan, target: Target) -> None:
        self.plan = plan
        self.target = target
        self._entries = ScanReader(plan, target) if isinstance(plan, ScanPlan) else entries_reader(plan, target)
        self._asked = asked_of_table(target, plan.completed)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next items in index order; an entry whose item is missing is skipped. Reads one additional item, because
        a further entry doesn't prove that its item exists.
        """
        result: list[Entry] = []
        while True:
            wanted = None if size is None else size + 1 - len(result)
            entries = yield from self._entries.chunk(values, wanted, position)
            result.extend((yield from self._items(entries.entries)))
            position = entries.position
            if position is None or (size is not None and len(result) > size):
                break
        if size is None or len(result) <= size:
            return Chunk(result, None)
        del result[size:]
        return Chunk(result, self._entries.position(result[-1].item))

    def position(self, item: Item) -> Position:
        """The position of an entry in index order."""
        return self._entries.position(item)

    def first(self, values: Mapping[str, Any]) -> Conversation[Entity | None]:
        """The first item."""
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
