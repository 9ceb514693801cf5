"""The cost of a write: the requests of its reads and of its actions, with the units of each changed item.

``keyplan.analysis.write_analysis`` finds the actions. Conditions add no cost. A changed item costs 0, 1 or 2 writes of
each index. Source: "Using Global Secondary Indexes", write throughput, in the DynamoDB Developer Guide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.unit_counts import TABLE, Line, Request, mixed
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.analysis.write_analysis.code import WrittenCode
from keyplan.analysis.write_analysis.dry_run import DryRun, Mutation
from keyplan.dynamodb.capacity import entry_units, write_units
from keyplan.dynamodb.limits import BATCH_WRITE_REQUESTS_MAX, WRITE_UNIT_BYTES
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.item_sizes import entry_of
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.pattern_load import Load
from keyplan.model.declared.table import Table

SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class WriteCost:
    """The requests of one typical call of a write.

    ``failure``: why the cost is unknown, which leaves ``requests`` empty. ``notes``: assumptions and unknown actions.
    ``there``: the items that exist before the write. ``mutations`` and ``batched``: the changed items. ``fails``: the
    share of calls whose condition fails. ``shares``: if items have different fields, the cost for each combination of
    fields with its weight, and ``requests`` is the average. ``branches``: the cost of each dry run, including this one.
    ``incomplete``: whether the write has actions that no dry run reaches.
    """

    requests: list[Request]
    notes: tuple[str, ...] = ()
    failure: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    there: tuple[Entity, ...] = ()
    mutations: tuple[Mutation, ...] = ()
    batched: tuple[Mutation, ...] = ()
    fails: float = 0.0
    shares: tuple[tuple[float, WriteCost], ...] = ()
    branches: tuple[WriteCost, ...] = ()
    incomplete: bool = False

    @property
    def calls(self) -> tuple[tuple[float, WriteCost], ...]:
        return self.shares or ((1.0, self),)


def estimate_write(analyzer: WriteAnalyzer, pattern: WritePattern, facts: Facts) -> WriteCost:
    """The cost of a typical call of a write. If the write always fails, ``failure`` is the reason."""
    analysis = analyzer.analysis(pattern)
    faults = analysis.faults()
    failure = "; ".join(fault.message for fault in faults) or analysis.runs.unknown
    if failure:
        return WriteCost([], (), failure)
    load = facts.traffic.patterns.get(pattern.name, Load())
    costs = list(_costs(analyzer, pattern, facts, load))
    through = [cost for cost in costs if cost.failure is None]
    if not through:
        return costs[0]
    notes = (*through[0].notes, *analysis.unknown)
    return replace(through[0], notes=notes, branches=tuple(through), incomplete=bool(analysis.unknown))


def _costs(analyzer: WriteAnalyzer, pattern: WritePattern, facts: Facts, load: Load) -> Iterator[WriteCost]:
    """The cost of each dry run, averaged over the combinations of fields that items can have."""
    analysis = analyzer.analysis(pattern)
    by_case: dict[str, list[tuple[float, WriteCost]]] = {run.case: [] for run in analysis.runs.finished}
    written = {name for run in analysis.runs.finished for name in run.entities}
    there = {type(entity) for run in analysis.runs.finished for entity in run.there}
    for weight, element in facts.typical.mixture(written | {entity.__name__ for entity in there}):
        typical = element
        if load.item_bytes is not None and written:
            typical = element.of_size(written, load.item_bytes)
        of_typical = facts if typical is facts.typical else Facts(typical, facts.traffic)
        runs = analysis.runs if typical is facts.typical else analyzer.dry_runs(pattern, typical)
        for run in runs.finished:
            cost = _failing(_cost_of(analyzer.design, run, analysis.code, of_typical, load), load.fails or 0.0)
            by_case.setdefault(run.case, []).append((weight, cost))
    yield from map(_average, filter(None, by_case.values()))


def _average(calls: Sequence[tuple[float, WriteCost]]) -> WriteCost:
    through = [(weight, cost) for weight, cost in calls if cost.failure is None]
    if len(calls) == 1 or not through:
        return calls[0][1]
    likeliest = max(through, key=lambda call: call[0])[1]
    total = sum(weight for weight, _ in through)
    return replace(
        likeliest,
        requests=mixed([(weight, cost.requests) for weight, cost in through]),
        notes=tuple(dict.fromkeys(note for _, cost in through for note in cost.notes)),
        shares=tuple((weight / total, cost) for weight, cost in through),
    )


def _cost_of(design: CompiledDesign, run: DryRun, code: WrittenCode, facts: Facts, load: Load) -> WriteCost:
    notes = list(run.notes if run.items else (*run.notes, "the dry run writes no items"))
    times = _times(run, code, load)
    mutations, batches = _multiplied(run.mutations, times), [_multiplied(batch, times) for batch in run.batches]
    requests: list[Request] = []
    try:
        for asked in run.asked:
            read = facts.read(asked.pattern, arguments=asked.arguments, strongly=True, nothing=asked.nothing)
            notes.extend(f"{asked.pattern.name}: {note}" for note in read.notes)
            requests += read.requests
    except Problem as problem:
        return WriteCost([], (), str(problem) + (f" ({problem.hint})" if problem.hint else ""))
    requests += write_requests(design.table, replace(run, mutations=mutations, batches=batches))
    batched = tuple(mutation for batch in batches for mutation in batch)
    return WriteCost(requests, tuple(dict.fromkeys(notes)), None, run.arguments, run.there, tuple(mutations), batched)


def _times(run: DryRun, code: WrittenCode, load: Load) -> Mapping[Any, float]:
    """The number of items per repeated action, by shape, so that a call writes ``items=`` items in total."""
    shapes = Counter(mutation.shape for mutation in (*run.mutations, *run.batched))
    if load.items is None or load.items == shapes.total() or not shapes:
        return {}
    looped = {(action.kind, action.entity.name) for action in code.actions if action.looped and action.entity}
    repeated = [shape for shape in shapes if shape is not None and (shape.kind, shape.entity) in looped]
    repeated = repeated or [shape for shape, count in shapes.items() if shape and count > 1] or [*filter(None, shapes)]
    many = sum(shapes[shape] for shape in repeated)
    times = max(0.0, load.items - (shapes.total() - many)) / many
    return dict.fromkeys(repeated, times)


def _multiplied(mutations: Sequence[Mutation], times: Mapping[Any, float]) -> list[Mutation]:
    return [replace(mutation, times=times.get(mutation.shape, 1.0)) for mutation in mutations]


def write_requests(table: Table, run: DryRun) -> Iterator[Request]:
    """The write requests of a dry run: a single action, or a transaction of several actions, and then each batch."""
    mutations = run.mutations
    if mutations:
        alone = len(mutations) == 1 and mutations[0].times <= 1 and bool(run.single)
        lines = [line for mutation in mutations for line in lines_of(mutation, table, transactional=not alone)]
        yield Request(run.single if alone else "TransactWriteItems", tuple(lines))
    for batch in run.batches:
        for start in range(0, len(batch), BATCH_WRITE_REQUESTS_MAX):
            chunk = batch[start : start + BATCH_WRITE_REQUESTS_MAX]
            lines = [line for mutation in chunk for line in lines_of(mutation, table, transactional=False)]
            yield Request("BatchWriteItem", tuple(lines))


# Units of one changed item


def lines_of(mutation: Mutation, table: Table, *, transactional: bool) -> Iterator[Line]:
    """The units of a changed item: on the table, doubled in a transaction, and on each affected index, not doubled."""
    size = mutation.size_bytes
    units = write_units(size, transactional=transactional)
    double = " × 2, in a transaction" if transactional else ""
    lines = [Line("write", TABLE, units, f"{mutation.what}, {_blocks(size)}{double} = {units:g}")]
    lines += filter(None, (_index_line(mutation, table, index) for index in table.indexes))
    for line in lines:
        if mutation.times == 1:
            yield line
        else:
            yield replace(
                line, units=line.units * mutation.times, why=f"{line.why}; × {mutation.times:g} items per call"
            )


def _index_line(mutation: Mutation, table: Table, index: Index) -> Line | None:
    before = entry_of(table, index, mutation.before) if mutation.before is not None else None
    after = entry_of(table, index, mutation.after) if mutation.after is not None else None
    if before is None and after is None:
        return None
    if before is None or after is None:
        entry = after or before
        assert entry is not None  # noqa: S101 - at most one of the two is None
        size = entry.size_bytes
        what = "new entry" if before is None else "entry removed"
        return Line("write", index.name, entry_units(size), f"{what}, {_blocks(size)} = {entry_units(size):g}")
    if before.key != after.key:
        units = entry_units(before.size_bytes) + entry_units(after.size_bytes)
        moved = f"old entry removed, {_blocks(before.size_bytes)}, new entry written, {_blocks(after.size_bytes)}"
        return Line("write", index.name, units, f"key changed: {moved} = {units:g}")
    if before.projected == after.projected:
        return None
    size = max(before.size_bytes, after.size_bytes)
    return Line("write", index.name, entry_units(size), f"entry changed, {_blocks(size)} = {entry_units(size):g}")


def _blocks(size_bytes: int) -> str:
    return f"{size_bytes:,} B → {max(1, -(-size_bytes // WRITE_UNIT_BYTES)):,} × 1 KB"


# Failed calls


def _failing(cost: WriteCost, share: float) -> WriteCost:
    """The average cost of the calls that succeed and of the ``share`` of calls that fail a condition.

    A failed conditional write costs the write units of the table, and doesn't write indexes or send later batches.
    Source: "Condition expressions" and "Read and write operations" in the Developer Guide.
    """
    if not share or not cost.mutations:
        return cost
    why = f"× {1 - share:g}, since {share:.4g} of the calls fail a condition"

    def failing(request: Request, line: Line) -> Line:
        if line.direction == "read" or (line.target == TABLE and request.operation != "BatchWriteItem"):
            return line
        return replace(line, units=line.units * (1 - share), why=f"{line.why}; {why}")

    requests = [replace(each, lines=tuple(failing(each, line) for line in each.lines)) for each in cost.requests]
    return replace(cost, requests=requests, fails=share)


# Stored items


def with_counts(design: CompiledDesign, owner: type[Any] | None, traffic: Traffic) -> Traffic:
    """The traffic; an entity without a ``count`` gets the number of items that patterns create in ``kept_days``."""
    wanted = {
        name: element.kept_days
        for name, element in traffic.entities.items()
        if element.kept_days is not None and element.count is None
    }
    if not wanted or owner is None:
        return traffic
    analyzer, facts = WriteAnalyzer(design, owner, traffic), Facts(Typical(design, traffic.entities), traffic)
    created = dict.fromkeys(wanted, 0.0)
    for pattern in design.writes.values():
        rate = traffic.patterns.get(pattern.name, Load()).per_second
        if rate:
            call = estimate_write(analyzer, pattern, facts)
            for weight, cost in call.calls:
                for name, items in _created(design, cost):
                    if name in created:
                        created[name] += rate * items * weight
    counted = {
        name: replace(traffic.entities[name], count=created[name] * SECONDS_A_DAY * days)
        for name, days in wanted.items()
        if created[name]
    }
    return replace(traffic, entities={**traffic.entities, **counted})


def _created(design: CompiledDesign, call: WriteCost) -> Iterator[tuple[str, float]]:
    for mutation in (*call.mutations, *call.batched):
        if mutation.before is None and mutation.after is not None and not mutation.what.startswith("claim "):
            entity = design.entity_of(mutation.after)
            if entity is not None:
                yield entity.name, mutation.times * (1 - call.fails)
