"""Peak load on the table, on each index, and on the busiest partition of a key, in units per second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from keyplan.analysis.check.check_subject import Demand, Demands, Subject, counted, fields_in, numbers_in
from keyplan.analysis.cost.cost_wording import number
from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.unit_counts import TABLE, Line, Request, total_units
from keyplan.analysis.cost.write_costs import WriteCost, estimate_write, lines_of
from keyplan.analysis.write_analysis.dry_run import Mutation
from keyplan.model.compiled.compiled_design import WritePattern, entities_in
from keyplan.model.compiled.item_sizes import entry_of
from keyplan.model.compiled.plans import ClaimPlan, GetPlan, QueryPlan, ReadPattern, plans_in
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey


@dataclass(frozen=True, slots=True)
class _Touched:
    """One item that a call reads or writes, by one of its keys. ``updates``: it exists before and after the call."""

    entity: CompiledEntity
    key: CompiledKey
    partition: tuple[Any, ...]
    line: Line
    updates: bool = False


def demands(subject: Subject) -> Demands:
    """Return the load of a design's patterns. The load is calculated once per subject."""
    if subject.demands is None:
        subject.demands = _demands_of(subject)
    return subject.demands


def _demands_of(subject: Subject) -> Demands:
    result = Demands()
    facts = Facts(subject.typical, subject.traffic)
    for pattern in subject.design.patterns.values():
        if not subject.load(pattern).peak:
            continue
        try:
            requests, touched = _call(subject, facts, pattern)
        except Problem:
            continue
        peak = subject.load(pattern).peak or 0
        for kind in ("read", "write"):
            for target, units in total_units(requests, kind).items():
                place = "the table" if target == TABLE else target
                result.totals.setdefault((place, kind), []).append((pattern.name, units * peak))
        result.partitions.extend(_busiest(subject, pattern, touched))
    return result


def _call(subject: Subject, facts: Facts, pattern: ReadPattern | WritePattern) -> tuple[list[Request], list[_Touched]]:
    """Return the requests of a typical call, and the items that it reads or writes. Raises Problem if it can't run."""
    if isinstance(pattern, ReadPattern):
        requests = facts.read(pattern).requests
        return requests, list(_read(pattern, requests))
    if subject.owner is None:
        return [], []
    cost = estimate_write(subject.analyzer, pattern, facts)
    touched = [
        touch if weight == 1 else replace(touch, line=_multiplied(touch.line, weight, "share of items of this size"))
        for weight, call in cost.calls
        for touch in _touched_by(subject, call)
    ]
    return cost.requests, touched


def _touched_by(subject: Subject, cost: WriteCost) -> list[_Touched]:
    alone = any(request.operation in {"PutItem", "UpdateItem", "DeleteItem"} for request in cost.requests)
    touched = [touch for mutation in cost.mutations for touch in _written(subject, mutation, transactional=not alone)]
    batched = [touch for mutation in cost.batched for touch in _written(subject, mutation, transactional=False)]
    if cost.fails:
        # A call whose conditions fail is charged on the table, but writes no index entries and sends no batches
        touched = [touch if touch.line.target == TABLE else _gone_through(touch, cost.fails) for touch in touched]
        batched = [_gone_through(touch, cost.fails) for touch in batched]
    return touched + batched


def _gone_through(touch: _Touched, fails: float) -> _Touched:
    return replace(touch, line=_multiplied(touch.line, 1 - fails, "the share of calls whose conditions are true"))


def _multiplied(line: Line, times: float, why: str) -> Line:
    return replace(line, units=line.units * times, why=f"{line.why}; × {times:g}, {why}")


def _read(pattern: ReadPattern, requests: list[Request]) -> Iterator[_Touched]:
    """Yield the load of a read's first plan on one partition. Keys of later plans depend on the result."""
    plan = next(plans_in(pattern.plan))
    first = requests[: len(plan.parts) if isinstance(plan, QueryPlan) and not plan.merged else 1]
    lines = [line_read for request in first for line_read in request.lines if line_read.direction == "read"]
    line = replace(lines[0], units=sum(line_read.units for line_read in lines)) if lines else None
    if line is None:
        return
    match plan:
        case GetPlan():
            yield _Touched(plan.entity, plan.entity.primary, (), line)
        case ClaimPlan():
            yield _Touched(plan.entity, plan.claim, (), line)
        case QueryPlan():
            yield _Touched(plan.matches[0].entity, plan.key, (), line)
        case _:
            pass


def _written(subject: Subject, mutation: Mutation, *, transactional: bool) -> Iterator[_Touched]:
    item = mutation.after or mutation.before
    entity = None if item is None else subject.design.entity_of(item)
    if item is None or entity is None:
        return
    table = subject.design.table
    updates = mutation.before is not None and mutation.after is not None
    for line in lines_of(mutation, table, transactional=transactional):
        if line.target == TABLE:
            partition = tuple(item[table.partition.name].values())
            yield _Touched(entity, entity.primary, _without_shard(entity.primary, partition), line, updates)
            continue
        index = next(candidate for candidate in table.indexes if candidate.name == line.target)
        key = entity.key_on(line.target, item)
        entry = entry_of(table, index, item)
        if key is not None:
            partition = () if entry is None else tuple(entry.key[: len(index.partition)])
            yield _Touched(entity, key, _without_shard(key, partition), line, updates)


def _without_shard(key: CompiledKey, partition: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a partition key without its shard suffix. The caller divides the load by the number of shards."""
    if key.shards == 1 or not partition:
        return partition
    return (str(partition[0]).rpartition("#")[0], *partition[1:])


def _busiest(subject: Subject, pattern: ReadPattern | WritePattern, touched: list[_Touched]) -> Iterator[Demand]:
    """Yield the load of a call on the busiest partition of each key."""
    partitions: dict[CompiledKey, dict[str, list[_Touched]]] = {}
    for touch in touched:
        partitions.setdefault(touch.key, {}).setdefault(str(touch.partition), []).append(touch)
    for groups in partitions.values():
        most = max(groups.values(), key=lambda group: sum(touch.line.units for touch in group))
        demand = _demand(subject, pattern, most)
        if demand is not None:
            yield demand


def _demand(subject: Subject, pattern: ReadPattern | WritePattern, group: list[_Touched]) -> Demand | None:
    """Return the load on the busiest partition in units per second; None if its share of the calls is unknown."""
    load = subject.load(pattern)
    peak = load.peak or 0
    touch = group[0]
    count = subject.partitions(touch.entity, touch.key)
    busiest = _share(subject, pattern, group, count)
    if busiest is None and count is None:
        return None
    units = sum(each.line.units for each in group)
    why = "; ".join(dict.fromkeys(each.line.why for each in group))
    if touch.line.target != TABLE:
        why = f"{touch.entity.name}, {why}"
    line = f"{pattern.name}: {number(peak)} calls/s × {counted(units, f'{touch.line.direction} unit')} ({why})"
    parts = _chosen(pattern, touch)
    line += "".join(f" ÷ {many} values of {name}" for name, many in parts.items())
    total = peak * units / prod(parts.values())
    # A read queries all shards. Writes are distributed over the shards, but all writes of one item use one shard
    shards = touch.key.shards if touch.line.direction == "write" else 1
    over = f" ÷ {shards} shards" if shards > 1 else ""
    item = total * busiest if touch.updates and busiest is not None else 0.0
    if item:
        rest = (total - item) / shards if count is not None else 0.0
        line += f" × {busiest:.0%} on the busiest item" + (f" + {number(total - item)}{over}" if rest else "")
        hottest = item + rest
    else:
        share = 1.0 if busiest is None or count == 1 else max(busiest, 1 / count) if count else busiest
        line += f" × {share:.0%} on the busiest key" if share != 1 else ""
        line += f", all on the busiest of {count} partition keys" if busiest is None and count != 1 else ""
        line += over
        hottest = total * share / shards
    return Demand(
        touch.entity,
        touch.key,
        touch.line.direction,
        hottest,
        f"{line} = {number(hottest)} units/s",
        item > hottest / 2,
    )


def _share(
    subject: Subject, pattern: ReadPattern | WritePattern, group: list[_Touched], count: int | None
) -> float | None:
    """Return the share of the calls on the busiest partition of one key, from ``hottest``.

    A single number in ``hottest`` applies to keys that a call chooses. A new item with a generated id has a separate
    partition. A new item whose partition key has few values, and isn't an argument, is always in the same partition.
    """
    touch, load = group[0], subject.load(pattern)
    if isinstance(load.hottest, dict):
        return load.hottest.get(f"{touch.entity.name}.{touch.key.name}")
    names = set(fields_in(touch.key.partition))
    made = touch.line.direction == "write" and not any(each.updates for each in group)
    given = names & pattern.signature.by_name.keys() or any(
        touch.entity.cls in entities_in(each.annotation) for each in pattern.signature.parameters
    )
    if made and count is not None and not given:
        return None
    return None if made and any(subject.generated(touch.entity, name) for name in names) else load.hottest


def _chosen(pattern: ReadPattern | WritePattern, touch: _Touched) -> dict[str, int]:
    """Return the number of values of each bounded integer in a partition key that isn't a parameter of the write."""
    names = set(fields_in(touch.key.partition)) - pattern.signature.by_name.keys()
    result = {name: numbers_in(touch.entity.fields[name].annotation) for name in sorted(names)}
    return {name: many for name, many in result.items() if many is not None and touch.line.direction == "write"}
