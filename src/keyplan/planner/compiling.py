"""Keys put into a design's classes for as long as it takes to compile and weigh them; the plan that comes of it.

Which keys are tried is ``planning.py``'s matter.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from keyplan.analysis.check.checking import check
from keyplan.analysis.check.findings import Severity
from keyplan.analysis.cost.estimate import Estimate
from keyplan.analysis.rehearsal.account import Accounts
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.errors import DesignError, ErrorDetail
from keyplan.model.compiled.compiled_design import CompiledDesign, compile_design
from keyplan.model.compiled.compiled_entities import compile_entity
from keyplan.model.compiled.compiler import compile_read, junctions_of
from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.model.compiled.plans import Plan as PlanOfRead
from keyplan.model.compiled.return_types import shape_of
from keyplan.model.compiled.signatures import Signature
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.keys import Key, Unique
from keyplan.model.declared.patterns import Options, Pattern, ReadMethod
from keyplan.model.declared.table import Table
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.planner.mirrors import Mirror, with_mirror_writes
from keyplan.planner.plans import Plan, PlannedKey
from keyplan.planner.projections import projected
from keyplan.planner.templates import Declared
from keyplan.planner.unplanned import Unplanned
from keyplan.planner.weighing import weighed

__all__ = ["applied", "changed_fields", "checked", "compiled_plan", "ordering_field", "question_faults"]


def compiled_plan(read: Unplanned, keys: Declared, traffic: Traffic | None, mirror: Mirror | None = None) -> Plan:
    """The plan of these declarations; its new indexes hold no more than is asked of them, where that is cheaper. Raises
    DesignError where the compiler refuses them.
    """
    try:
        whole = _compiled(read, keys, traffic, mirror, completing=False)
    except DesignError:
        named = _named_keys(read, keys)
        if not named:
            raise
        keys = replace(keys, named=named)
        whole = _compiled(read, keys, traffic, mirror, completing=False)
    meant = _meant_keys(keys, whole.compiled)
    if meant:
        keys = replace(keys, named={**keys.named, **meant})
        whole = _compiled(read, keys, traffic, mirror, completing=False)
    deployed = {key.index.name for place, key in _placed(keys) if place not in keys.served and key.index is not None}
    small = {
        index.name: projected(index, whole.compiled, read.completed)
        for index in keys.indexes
        if index.name not in deployed
    }
    if not any(small.values()) and not read.completed:
        return whole
    indexes = tuple(small.get(index.name) or index for index in keys.indexes)
    if read.completed:
        return _compiled(read, replace(keys, indexes=indexes), traffic, mirror)
    with suppress(DesignError):
        less = _compiled(read, replace(keys, indexes=indexes), traffic, mirror)
        if less.weight.usd < whole.weight.usd:
            return less
    return whole


def _meant_keys(keys: Declared, compiled: CompiledDesign) -> dict[str, tuple[type[Entity], str]]:
    """The questions that another key answers than the one that was made for their order, which their decorators don't
    name: ``newest_first`` of a partition that the table's key has too.
    """
    result: dict[str, tuple[type[Entity], str]] = {}
    for (cls, name), needs in keys.served.items():
        for need in needs:
            read = compiled.reads.get(need.place.rpartition(".")[2])
            if read is None or not isinstance(read.plan, QueryPlan) or need.place in keys.named:
                continue
            options, key = read.options, keys.keys[cls][name]
            said = options.order_by is not None or options.key is not None
            single = len(read.plan.matches) == 1 and isinstance(key, Key)
            if need.order is not None and not said and single and ordering_field(read) != need.order:
                result[need.place] = cls, name
    return result


def _named_keys(read: Unplanned, keys: Declared) -> dict[str, tuple[type[Entity], str]]:
    """For each question that several keys would answer, each in its own order, the one that is read: the key that was
    made for its order, else the table's where it serves, since nobody asked for an order.
    """
    result: dict[str, tuple[type[Entity], str]] = {}
    ordered = {need.place: place for place, needs in keys.served.items() for need in needs if need.order is not None}
    with _applied(read.cls, keys, completing=False):
        compiled = {cls: compile_entity(cls, read.cls.table, []) for cls in keys.keys}
        entities = {cls: entity for cls, entity in compiled.items() if entity is not None}
        for name, pattern in read.patterns.items():
            if not isinstance(pattern, ReadMethod):
                continue
            signature, options = read.signatures[name], pattern.options
            with suppress(KeyError):
                if "several keys serve" not in str(_refusal(signature, options, entities)):
                    continue
                about = shape_of(signature.returns, options.entity).entities
                for cls in dict.fromkeys((*(element.entity for element in junctions_of(options.through)), *about)):
                    if ordered.get(signature.place, (None,))[0] is cls:
                        result[signature.place] = ordered[signature.place]
                        break
                    own = [(text, key) for text, key in keys.keys[cls].items() if isinstance(key, Key)]
                    serving = (
                        text for text, key in own if not _refusal(signature, replace(options, key=key), entities)
                    )
                    result[signature.place] = cls, next(serving)
                    break
    return result


def _refusal(signature: Signature, options: Options, entities: Mapping[type[Entity], CompiledEntity]) -> Problem | None:
    try:
        compile_read(signature, options, entities)
    except Problem as problem:
        return problem
    return None


def _placed(keys: Declared) -> Iterator[tuple[tuple[type[Entity], str], Key]]:
    for cls, own in keys.keys.items():
        yield from (((cls, name), key) for name, key in own.items() if isinstance(key, Key))


def _compiled(
    read: Unplanned, keys: Declared, traffic: Traffic | None, mirror: Mirror | None, *, completing: bool = True
) -> Plan:
    kept: list[Mirror] = []

    def besides(estimate: Estimate) -> Estimate:
        if mirror is None:
            return estimate
        estimate, with_writes = with_mirror_writes(estimate, mirror, compiled, read.cls)
        kept.append(with_writes)
        return estimate

    reworded = sum(read.patterns[place.rpartition(".")[2]].options.scan_index is None for place in keys.scan_index)
    with _applied(read.cls, keys, completing=completing):
        compiled = compile_design(read.cls, read.namespace)
        read.cls.compiled = compiled
        claims = sum(isinstance(element, Unique) for own in keys.keys.values() for element in own.values())
        weight = weighed(read.cls, compiled, traffic, claims, besides)
        weight = replace(weight, reworded=reworded + len(keys.named), mirrors=len(kept))
    served = _served(compiled)
    planned = tuple(
        PlannedKey(cls, name, key, served.get((cls, name), ()), new=(cls, name) in keys.served)
        for cls, own in keys.keys.items()
        for name, key in own.items()
    )
    named = {place: f"{cls.__name__}.{name}" for place, (cls, name) in keys.named.items()}
    taken = (
        f"{place}: several keys would answer it, each in its own order: it is asked by key={key}"
        for place, key in named.items()
    )
    notes = (*_notes(planned, compiled), *taken)
    return Plan(
        read.cls,
        keys.indexes,
        planned,
        compiled,
        weight,
        notes,
        scan_index=keys.scan_index,
        named=named,
        mirrors=tuple(kept),
    )


def checked(made: Plan, traffic: Traffic | None) -> Plan:
    """The plan with the errors that ``keyplan check`` finds in it among its notes."""
    with applied(made) as design:
        report = check(design, traffic)
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR and finding.counts]
    notes = [f"{error.place}: {error.message} ({error.code}); {error.hint}" for error in errors]
    return replace(made, notes=(*made.notes, *notes))


def question_faults(read: Unplanned, keys: Declared) -> list[ErrorDetail]:
    """What the compiler says against each question, whatever else is wrong with the design."""
    faults: list[ErrorDetail] = []
    with _applied(read.cls, keys, completing=False):
        compiled = {cls: compile_entity(cls, read.cls.table, []) for cls in keys.keys}
        entities = {cls: entity for cls, entity in compiled.items() if entity is not None}
        for name, signature in read.signatures.items():
            pattern = read.patterns[name]
            if isinstance(pattern, ReadMethod):
                try:
                    compile_read(signature, pattern.options, entities)
                except Problem as problem:
                    faults.append(ErrorDetail(signature.place, str(problem), problem.hint))
                except KeyError:
                    continue  # of an entity that has a fault of its own
    return faults


Fields = dict[type[Entity], frozenset[str]]


def changed_fields(read: Unplanned, keys: Declared) -> tuple[Fields, Fields]:
    """The fields of each entity that updates change; and those of them that are changed by class and key fields alone,
    which can't be done where an index key holds them. Raises DesignError where the keys don't compile.
    """
    try:
        return _changed_fields(read, keys)
    except DesignError:
        named = _named_keys(read, keys)
        if not named:
            raise
        return _changed_fields(read, replace(keys, named=named))


def _changed_fields(read: Unplanned, keys: Declared) -> tuple[Fields, Fields]:
    changed: Fields = {}
    blind: Fields = {}
    with _applied(read.cls, keys, completing=False):
        compiled = read.cls.compiled = compile_design(read.cls, read.namespace)
        accounts = Accounts(compiled, read.cls)
        for pattern in compiled.writes.values():
            for action in accounts.unrun(pattern).actions:
                if action.kind == "Update" and action.entity is not None:
                    cls, names = action.entity.cls, frozenset(action.changes)
                    changed[cls] = changed.get(cls, frozenset()) | names
                    if not action.by_instance:
                        blind[cls] = blind.get(cls, frozenset()) | names
    return changed, blind


def _served(compiled: CompiledDesign) -> dict[tuple[type[Entity], str], tuple[str, ...]]:
    """The questions that each key answers."""
    result: dict[tuple[type[Entity], str], dict[str, None]] = {}
    for read in compiled.reads.values():
        for place in _keys_of(read.plan):
            result.setdefault(place, {})[read.place] = None
    return {place: tuple(names) for place, names in result.items()}


def _keys_of(plan: PlanOfRead) -> Iterator[tuple[type[Entity], str]]:
    match plan:
        case GetPlan() | BatchGetPlan():
            yield plan.entity.cls, plan.entity.primary.name
        case ClaimPlan():
            yield plan.entity.cls, plan.claim.name
        case QueryPlan():
            yield from ((match.entity.cls, match.key.name) for match in plan.matches)
        case ThroughPlan():
            for way in plan.ways:
                yield from _keys_of(way.junction)
                yield from _keys_of(way.end)
        case ScanPlan():
            yield from (
                (entity.cls, key.name) for entity in plan.entities for key in plan.keys if key in entity.index_keys
            )


def ordering_field(read: ReadPattern) -> str | None:
    """The field that a compiled question's answer is ordered by."""
    plan = read.plan
    if isinstance(plan, ThroughPlan):
        plan = plan.end if isinstance(plan.end, QueryPlan) else plan.junction
    orders = [match.order[0][0] for match in plan.matches if match.order] if isinstance(plan, QueryPlan) else []
    return next(iter(orders), None)


def _notes(keys: Iterable[PlannedKey], compiled: CompiledDesign) -> Iterator[str]:
    """What the design doesn't say, and was guessed."""
    for read_pattern in compiled.reads.values():
        options = read_pattern.options
        order = ordering_field(read_pattern)
        if options.newest_first is not None and options.order_by is None and order is not None:
            yield f"{read_pattern.place}: newest_first is taken for the order of {order}; order_by= says another"
        if isinstance(read_pattern.plan, QueryPlan) and read_pattern.plan.filter is not None:
            yield f"{read_pattern.place}: filtered after it is read"
    for key in keys:
        if isinstance(key.key, Unique) and key.new:
            yield (
                f"{key.place}: what it holds becomes unique, since one item is asked for by it; a key in an index "
                "would answer too, and lets values repeat"
            )
        for name in re.findall(r"\{(\w+):0(?:10|20)d", "".join(text for part in key.templates for text in part)):
            yield f"{key.place}: {name} has as many digits in it as it might need; Field(ge=0, le=...) says how many"


def _split(named: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, str, str]]]:
    yield from ((place, key.partition(".")) for place, key in named.items())


@contextmanager
def applied(made: Plan) -> Generator[type[Any]]:
    """The design's class with a plan's keys, for as long as the block lasts: to be verified, or opened."""
    keys: dict[type[Entity], dict[str, Key | Unique]] = {}
    for key in made.keys:
        keys.setdefault(key.entity, {})[key.name] = key.key
    classes = {cls.__name__: cls for cls in keys}
    named = {place: (classes[owner], name) for place, (owner, _, name) in _split(made.named)}
    with _applied(made.design, Declared(made.indexes, keys, {}, made.scan_index, named)):
        made.design.compiled = made.compiled
        yield made.design


@contextmanager
def _applied(cls: type[Any], keys: Declared, *, completing: bool = True) -> Generator[None]:
    """The design's classes with these keys, and no others, for as long as it takes to compile them. Not ``completing``:
    as if questions read nothing from the table besides an index, since that is refused where the index holds all.
    """
    table: Table = cls.table
    asked = list(_asked_anew(cls, keys, completing=completing))
    kept: list[tuple[type[Any], str, Any]] = [(cls, "table", table)]
    if "compiled" in vars(cls):
        kept.append((cls, "compiled", cls.compiled))
    for entity in keys.keys:
        kept += [(entity, name, value) for name, value in vars(entity).items() if isinstance(value, Key)]
    made = Table(
        table.name,
        indexes=keys.indexes,
        entities=keys.keys,
        partition=table.partition,
        sort=table.sort or "sk",
        key_style=table.key_style,
    )
    try:
        for owner, name, _ in kept:
            if owner is not cls:
                type.__delattr__(owner, name)
        for entity, own in keys.keys.items():
            for name, key in own.items():
                type.__setattr__(entity, name, key)
        cls.table = made
        for pattern, _, options in asked:
            pattern.options = options
        yield
    finally:
        for pattern, options, _ in asked:
            pattern.options = options
        for entity, own in keys.keys.items():
            for name in own:
                type.__delattr__(entity, name)
        if "compiled" in vars(cls):
            del cls.compiled
        for owner, name, value in kept:
            type.__setattr__(owner, name, value)


def _order_meant(pattern: Pattern) -> str | None:
    """The field that orders the answer of a question by the key that it names: the first that it leaves open."""
    key, where = pattern.options.key, pattern.options.where
    fields = re.findall(r"\{(\w+)", " ".join(() if key is None else key.sort))
    known = {*inspect.signature(pattern.function).parameters, *(where if isinstance(where, Mapping) else ())}
    return next((name for name in fields if name not in known), None)


def _asked_anew(cls: type[Any], keys: Declared, *, completing: bool) -> Iterator[tuple[Pattern, Options, Options]]:
    """The questions that are asked in another way than they are declared: with the options they have, and these."""
    by_name = {index.name: index for index in keys.indexes}
    bases = reversed(cls.__mro__)
    patterns = {name: value for base in bases for name, value in vars(base).items() if isinstance(value, Pattern)}
    there = [element for own in keys.keys.values() for element in own.values()]
    for name, pattern in patterns.items():
        whole = by_name.get(keys.scan_index.get(f"{cls.__name__}.{name}", ""), pattern.options.scan_index)
        options = replace(pattern.options, scan_index=whole, complete=pattern.options.complete and completing)
        if (place := f"{cls.__name__}.{name}") in keys.named:
            entity, key_name = keys.named[place]
            key = keys.keys[entity][key_name]
            options = replace(options, key=key if isinstance(key, Key) else None)
        elif (
            options.key is not None and options.key not in there
        ):  # what is meant by a key that isn't there is an order
            options = replace(options, key=None, order_by=options.order_by or _order_meant(pattern))
        if options != pattern.options:
            yield pattern, pattern.options, options
