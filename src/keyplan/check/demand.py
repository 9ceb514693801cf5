"""Units a second that the design's patterns take of the table and of each index, at their peak, with the arithmetic.

A planning model: typical items, documented rules of counting, and the rates of the traffic file. What a call takes
exactly is metered by the store; money is counted in ``keyplan.cost``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from keyplan.check.subject import Query, Subject, counted, number, plans_in
from keyplan.check.writing import Action, WrittenCode
from keyplan.design.entity import CompiledEntity
from keyplan.design.keys import CompiledKey
from keyplan.design.model import WritePattern
from keyplan.design.plans import ClaimPlan, GetPlan, QueryPlan, ReadPattern
from keyplan.design.table import Index
from keyplan.wire.capacity import entry_units, read_units, write_units

__all__ = ["Demand", "demands"]


@dataclass(frozen=True, slots=True)
class Demand:
    """What one pattern takes of one key, at its peak: ``per_second`` units of ``kind`` in all, and ``hottest`` of the
    busiest partition key (None where that isn't known). ``line`` is the arithmetic.
    """

    pattern: ReadPattern | WritePattern
    entity: CompiledEntity
    key: CompiledKey
    kind: str
    per_second: float
    hottest: float | None
    line: str
    updates: bool = False
    """Whether it changes items that are there: those of one key are one item."""

    @property
    def place(self) -> str:
        """The table, or the index."""
        return self.key.place


def demands(subject: Subject) -> Iterator[Demand]:
    """What every pattern with a known rate takes, key by key."""
    for pattern in subject.design.reads.values():
        yield from _of_read(subject, pattern)
    for written in subject.writes:
        yield from _of_write(subject, written)


def _of_read(subject: Subject, pattern: ReadPattern) -> Iterator[Demand]:
    peak = subject.load(pattern).peak
    if not peak:
        return
    for plan in plans_in(pattern.plan):
        if isinstance(plan, GetPlan | ClaimPlan):
            sizes = subject.sizes(plan.entity)
            if sizes is not None:
                units = read_units(sizes.item_bytes, consistent=plan.consistent)
                key = plan.entity.primary
                what = f"{counted(units, 'read unit')} ({sizes.item_bytes:,} bytes)"
                yield _demand(subject, pattern, plan.entity, key, "read", units, what)
        elif isinstance(plan, QueryPlan):
            query = Query(pattern, plan, plan.matches[0])
            items, why = subject.items_read(query)
            size, of = subject.bytes_of(query)
            if items is not None and size is not None:
                units = read_units(int(items * size), consistent=plan.consistent)
                what = f"{counted(units, 'read unit')} ({why} × {of})"
                yield _demand(subject, pattern, query.match.entity, query.key, "read", units, what)


def _of_write(subject: Subject, written: WrittenCode) -> Iterator[Demand]:
    if not subject.load(written.pattern).peak:
        return
    count = sum(not one.batched for one in written.actions)
    for action in written.actions:
        entity = action.entity
        sizes = None if entity is None else subject.sizes(entity)
        if entity is None or sizes is None:
            continue
        transactional = not action.batched and (count > 1 or action.looped or bool(entity.claims))
        times = subject.load(written.pattern).items if action.looped else None
        units = write_units(sizes.item_bytes, transactional=transactional) * (times or 1)
        more = f"{', in a transaction' if transactional else ''}{f', {number(times)} times' if times else ''}"
        what = f"{counted(units, 'write unit')} ({action.kind} {entity.name}, {sizes.item_bytes:,} bytes{more})"
        demand = _demand(subject, written.pattern, entity, entity.primary, "write", units, what)
        yield replace(demand, updates=action.kind == "Update")
        for key, writes in entries_written(entity, action).items():
            size = sizes.entries.get(key.place)
            if size is not None and writes:
                units = entry_units(size) * writes * (times or 1)
                moved = ", the old entry removed and the new one written" if writes == 2 else ""
                what = f"{counted(units, 'write unit')} ({action.kind} {entity.name}, {size:,} bytes{moved})"
                yield _demand(subject, written.pattern, entity, key, "write", units, what)


def entries_written(entity: CompiledEntity, action: Action) -> Mapping[CompiledKey, int]:
    """How often an action writes the item's entry under each index key: 0 when nothing of it changes, 1, or 2 when it
    moves. Source: "Read and write operations" in the developer guide, on secondary indexes.
    """
    found: dict[CompiledKey, int] = {}
    for key in entity.index_keys:
        if action.kind in {"Put", "Create", "Delete"}:
            found[key] = 1
        elif action.kind == "Update" and key.index is not None:
            moved = not entity.inputs_of(key).isdisjoint(action.changes)
            found[key] = 2 if moved else int(_holds(entity, key.index, action))
    return found


def _holds(entity: CompiledEntity, index: Index, action: Action) -> bool:
    """Whether an index holds a field that the update changes."""
    if index.projection == "ALL":
        return True
    names = {entity.fields[name].attribute for name in action.changes if name in entity.fields}
    return isinstance(index.projection, tuple) and not names.isdisjoint(index.projection)


def _demand(
    subject: Subject,
    pattern: ReadPattern | WritePattern,
    entity: CompiledEntity,
    key: CompiledKey,
    kind: str,
    units: float,
    what: str,
) -> Demand:
    load = subject.load(pattern)
    peak = load.peak or 0
    # Each shard answers every read of its partition, and takes its part of the writes.
    shards = key.shards if kind == "write" else 1
    total = peak * units * (key.shards if kind == "read" else 1)
    line = f"{pattern.name}: {number(peak)} calls/s × {what}"
    count = subject.partitions(entity, key)
    share = load.hottest if load.hottest is not None else 1.0 if count is not None else None
    if share is None:
        return Demand(pattern, entity, key, kind, total, None, line)
    if share != 1:
        line += f" × {share:.0%} on the busiest key"
    elif count is not None and count > 1:
        line += f", all on the busiest of {count} partition keys"
    if shards > 1:
        line += f" ÷ {shards} shards"
    hottest = peak * units * share / shards
    return Demand(pattern, entity, key, kind, total, hottest, f"{line} = {number(hottest)} units/s")
