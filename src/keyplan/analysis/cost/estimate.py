"""The cost estimate of a design: units per call of each pattern, units per second by target, and stored bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.unit_counts import TABLE, Request, total_units
from keyplan.analysis.cost.write_costs import estimate_write, with_counts
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_of
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.item_sizes import OVERHEAD_BYTES, ItemSizes
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.pattern_load import Load
from keyplan.model.stored.stored_entity import CompiledEntity


@dataclass(frozen=True)
class PatternEstimate:
    """The estimate of one pattern: the requests of a typical call with their units, the load, and assumptions.

    ``failure``: why the cost is unknown, which leaves ``requests`` empty. ``branches``: the requests in each dry run
    of a write. ``incomplete``: whether the write has actions that no dry run reaches, so that a call can cost more.
    """

    id: str
    name: str
    kind: Literal["read", "write"]
    signature: str
    requests: tuple[Request, ...]
    load: Load
    notes: tuple[str, ...] = ()
    failure: str | None = None
    branches: tuple[tuple[Request, ...], ...] = ()
    incomplete: bool = False

    def units(self, direction: Literal["read", "write"]) -> dict[str, float]:
        """The units of one call by target: the table, and each index by its name."""
        return total_units(self.requests, direction)

    @property
    def read_units(self) -> float:
        return sum(self.units("read").values())

    @property
    def write_units(self) -> float:
        return sum(self.units("write").values())

    def span(self, direction: Literal["read", "write"]) -> tuple[float, float]:
        """The minimum and maximum units of one call, over the branches of a write."""
        units = [sum(total_units(each, direction).values()) for each in (self.requests, *self.branches)]
        return min(units), max(units)

    @property
    def amplification(self) -> float | None:
        """Write units on the table and its indexes per write unit on the table; None if the pattern doesn't write."""
        written = self.units("write")
        return sum(written.values()) / written[TABLE] if written.get(TABLE) else None


@dataclass(frozen=True)
class EntityEstimate:
    """The stored items of one entity. ``count`` is None if unknown. ``claims``: the bytes of each claim of an item."""

    sizes: ItemSizes
    count: float | None
    claims: tuple[int, ...] = ()
    variants: tuple[tuple[float, ItemSizes, tuple[int, ...]], ...] = ()
    """The weight, sizes and claims for each combination of fields, if the traffic file sets shares of items."""

    @property
    def each(self) -> tuple[tuple[float, ItemSizes, tuple[int, ...]], ...]:
        return self.variants or ((1.0, self.sizes, self.claims),)

    @property
    def item_bytes(self) -> int:
        return round(sum(weight * sizes.item_bytes for weight, sizes, _ in self.each))

    @property
    def entries(self) -> dict[str, int]:
        """The average size of the entity's entries in each index that contains the entity, in bytes."""
        result: dict[str, list[tuple[float, int]]] = {}
        for weight, sizes, _ in self.each:
            for index, size in sizes.entries.items():
                result.setdefault(index, []).append((weight, size))
        return {
            index: round(sum(weight * size for weight, size in held) / sum(weight for weight, _ in held))
            for index, held in result.items()
        }


@dataclass(frozen=True, slots=True)
class Throughput:
    """Units per second."""

    reads: float = 0.0
    writes: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """The cost estimate of a design for its traffic."""

    design: str
    doc: str
    table: str
    targets: tuple[str, ...]
    """The table, then its indexes."""
    local: frozenset[str]
    traffic: Traffic
    patterns: tuple[PatternEstimate, ...]
    entities: tuple[EntityEstimate, ...]
    failures: tuple[str, ...] = field(default=())
    """The patterns and entities that couldn't be estimated, with the reasons."""

    def throughput(self, *, peak: bool) -> dict[str, Throughput]:
        """Units per second by target, at the average rates or with every pattern at its peak rate."""
        result = dict.fromkeys(self.targets, Throughput())
        for pattern in self.patterns:
            rate = (pattern.load.peak if peak else pattern.load.per_second) or 0.0
            reads, writes = pattern.units("read"), pattern.units("write")
            for target in self.targets:
                so_far = result[target]
                result[target] = Throughput(
                    so_far.reads + rate * reads.get(target, 0.0), so_far.writes + rate * writes.get(target, 0.0)
                )
        return result

    def stored_bytes(self, *, replicated_bytes: int = 0) -> dict[str, float]:
        """Billed bytes by target: each item has 100 bytes of overhead, and ``replicated_bytes`` more in the table."""
        result = dict.fromkeys(self.targets, 0.0)
        for entity in self.entities:
            count = entity.count or 0.0
            overhead = OVERHEAD_BYTES + replicated_bytes
            for weight, sizes, claims in entity.each:
                result[TABLE] += weight * count * (sizes.item_bytes + overhead)
                result[TABLE] += weight * count * sum(size + overhead for size in claims)
                for index, size in sizes.entries.items():
                    result[index] += weight * count * (size + OVERHEAD_BYTES)
        return result

    @property
    def items(self) -> float:
        return sum(
            (entity.count or 0) * weight * (1 + len(claims))
            for entity in self.entities
            for weight, _, claims in entity.each
        )


def estimate(cls: type[Any], traffic: Traffic | None = None) -> Estimate:
    """The cost estimate of a design class. ``traffic``: the expected load, by default the load in the decorators."""
    design: CompiledDesign = cls.compiled
    traffic = traffic or traffic_of(design)
    estimator = _Estimator(cls, design, traffic)
    patterns = tuple(estimator.pattern(pattern) for pattern in design.patterns.values())
    entities = tuple(each for each in map(estimator.entity, design.entities.values()) if each is not None)
    failures = estimator.failures + [f"{each.id} {each.name}: {each.failure}" for each in patterns if each.failure]
    return Estimate(
        design=design.name,
        doc=design.doc.partition("\n\n")[0],
        table=design.table.name,
        targets=(TABLE, *(index.name for index in design.table.indexes)),
        local=frozenset(index.name for index in design.table.indexes if index.local),
        traffic=estimator.traffic,
        patterns=patterns,
        entities=entities,
        failures=tuple(dict.fromkeys(failures)),
    )


def estimate_pattern(
    cls: type[Any], name: str, traffic: Traffic | None = None, *, arguments: Mapping[str, Any] | None = None
) -> PatternEstimate:
    """The cost estimate of one pattern of a design class.

    ``arguments`` (strings or JSON values) set the arguments of a write, or the limit, ``Each`` values and time range
    of a read; other arguments get typical values. Raises UnknownPattern, ArgumentError.
    """
    design: CompiledDesign = cls.compiled
    pattern = design.pattern(name)
    traffic = traffic or traffic_of(design)
    bound: Mapping[str, Any] | None = None
    if arguments is not None:
        bound = pattern.signature.bind((), arguments, strict=False)
        load = replace(traffic.patterns.get(name, Load()), arguments=dict(arguments))
        if isinstance(pattern, WritePattern):
            traffic = replace(traffic, patterns={**traffic.patterns, pattern.name: load})
    return _Estimator(cls, design, traffic).pattern(pattern, bound)


class _Estimator:
    def __init__(self, cls: type[Any], design: CompiledDesign, traffic: Traffic) -> None:
        self.cls = cls
        self.design = design
        self.traffic = traffic = with_counts(design, cls, traffic)
        self.typical = Typical(design, traffic.entities)
        self.facts = Facts(self.typical, traffic)
        self.analyzer = WriteAnalyzer(design, cls, traffic)
        self.failures: list[str] = []

    def pattern(
        self, pattern: ReadPattern | WritePattern, arguments: Mapping[str, Any] | None = None
    ) -> PatternEstimate:
        load = self.traffic.patterns.get(pattern.name, Load())
        kind: Literal["read", "write"] = "read" if isinstance(pattern, ReadPattern) else "write"
        made = PatternEstimate(pattern.id, pattern.name, kind, str(pattern.signature), (), load)
        if isinstance(pattern, WritePattern):
            write = estimate_write(self.analyzer, pattern, self.facts)
            branches = tuple(tuple(branch.requests) for branch in write.branches)
            made = replace(made, branches=branches, incomplete=write.incomplete)
            return replace(made, requests=tuple(write.requests), notes=write.notes, failure=write.failure)
        try:
            cost = self.facts.read(pattern, arguments=arguments)
        except Problem as problem:
            return replace(made, failure=str(problem))
        return replace(made, requests=tuple(cost.requests), notes=cost.notes)

    def entity(self, entity: CompiledEntity) -> EntityEstimate | None:
        stored = self.traffic.entities.get(entity.name)
        try:
            sizes, claims = _sized(entity, self.typical)
            mixture = self.typical.mixture({entity.name})
            each = (
                () if mixture[0][1] is self.typical else tuple((number, *_sized(entity, of)) for number, of in mixture)
            )
        except Problem as problem:
            self.failures.append(f"{problem}" + (f" ({problem.hint})" if problem.hint else ""))
            return None
        return EntityEstimate(sizes, None if stored is None else stored.count, claims, each)


def _sized(entity: CompiledEntity, typical: Typical) -> tuple[ItemSizes, tuple[int, ...]]:
    """The sizes of a typical item and of its claims. Raises Problem."""
    claims = (typical.claim_bytes(entity, claim) for claim in entity.claims)
    return typical.sizes(entity), tuple(size for size in claims if size is not None)
