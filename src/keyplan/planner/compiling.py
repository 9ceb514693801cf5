"""Keys put into a design's classes for as long as it takes to compile and weigh them; the plan that comes of it.

Which keys are tried is ``planning.py``'s matter.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from keyplan.check.findings import Severity
from keyplan.check.running import check
from keyplan.design.compiled.compiler import compile_read
from keyplan.design.compiled.entities import compile_entity
from keyplan.design.compiled.model import CompiledDesign, compile_design
from keyplan.design.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.design.compiled.plans import Plan as PlanOfRead
from keyplan.design.declared.entity import Entity
from keyplan.design.declared.keys import Key, Unique
from keyplan.design.declared.patterns import Pattern, ReadMethod
from keyplan.design.declared.problems import Problem
from keyplan.design.declared.table import Table
from keyplan.design.traffic.files import Traffic
from keyplan.errors import Fault
from keyplan.planner.plans import Plan, PlannedKey
from keyplan.planner.templates import Declared
from keyplan.planner.unplanned import Unplanned
from keyplan.planner.weighing import weighed
from keyplan.rehearsal.account import Accounts

__all__ = ["applied", "changed_fields", "checked", "compiled_plan", "ordering_field", "question_faults"]


def compiled_plan(read: Unplanned, keys: Declared, traffic: Traffic | None) -> Plan:
    """The plan of these declarations. Raises DesignError where the compiler refuses them."""
    with _applied(read.cls, keys):
        compiled = compile_design(read.cls, read.namespace)
        read.cls.compiled = compiled
        claims = sum(isinstance(one, Unique) for own in keys.keys.values() for one in own.values())
        weight = weighed(read.cls, compiled, traffic, claims)
    served = _served(compiled)
    planned = tuple(
        PlannedKey(cls, name, key, served.get((cls, name), ()), new=(cls, name) in keys.served)
        for cls, own in keys.keys.items()
        for name, key in own.items()
    )
    return Plan(read.cls, keys.indexes, planned, compiled, weight, tuple(_notes(planned, compiled)))


def checked(read: Unplanned, made: Plan, keys: Declared, traffic: Traffic | None) -> Plan:
    """The plan with the errors that ``keyplan check`` finds in it among its notes."""
    with _applied(read.cls, keys):
        read.cls.compiled = made.compiled
        report = check(read.cls, traffic)
    errors = [one for one in report.findings if one.severity is Severity.ERROR and one.counts]
    notes = [f"{one.place}: {one.message} ({one.code}); {one.hint}" for one in errors]
    return replace(made, notes=(*made.notes, *notes))


def question_faults(read: Unplanned, keys: Declared) -> list[Fault]:
    """What the compiler says against each question, whatever else is wrong with the design."""
    found: list[Fault] = []
    with _applied(read.cls, keys):
        compiled = {cls: compile_entity(cls, read.cls.table, []) for cls in keys.keys}
        entities = {cls: one for cls, one in compiled.items() if one is not None}
        for name, signature in read.signatures.items():
            pattern = read.patterns[name]
            if isinstance(pattern, ReadMethod):
                try:
                    compile_read(signature, pattern.options, entities)
                except Problem as problem:
                    found.append(Fault(signature.place, str(problem), problem.hint))
                except KeyError:
                    continue  # of an entity that has a fault of its own
    return found


Fields = dict[type[Entity], frozenset[str]]


def changed_fields(read: Unplanned, keys: Declared) -> tuple[Fields, Fields]:
    """The fields of each entity that updates change; and those of them that are changed by class and key fields alone,
    which can't be done where an index key holds them. Raises DesignError where the keys don't compile.
    """
    changed: Fields = {}
    blind: Fields = {}
    with _applied(read.cls, keys):
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
    found: dict[tuple[type[Entity], str], dict[str, None]] = {}
    for read in compiled.reads.values():
        for place in _keys_of(read.plan):
            found.setdefault(place, {})[read.place] = None
    return {place: tuple(names) for place, names in found.items()}


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
            pass


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


@contextmanager
def applied(made: Plan) -> Generator[type[Any]]:
    """The design's class with a plan's keys, for as long as the block lasts: to be verified, or opened."""
    keys: dict[type[Entity], dict[str, Key | Unique]] = {}
    for one in made.keys:
        keys.setdefault(one.entity, {})[one.name] = one.key
    with _applied(made.design, Declared(made.indexes, keys, {})):
        made.design.compiled = made.compiled
        yield made.design


@contextmanager
def _applied(cls: type[Any], keys: Declared) -> Generator[None]:
    """The design's classes with these keys, and no others, for as long as it takes to compile them."""
    table: Table = cls.table
    kept: list[tuple[type[Any], str, Any]] = [(cls, "table", table)]
    there = [key for own in keys.keys.values() for key in own.values()]
    naming = [one for one in _patterns_of(cls) if one.options.key is not None and one.options.key not in there]
    named = [one.options for one in naming]
    if "compiled" in vars(cls):
        kept.append((cls, "compiled", cls.compiled))
    for entity in keys.keys:
        kept += [(entity, name, value) for name, value in vars(entity).items() if isinstance(value, Key)]
    made = Table(
        table.name, indexes=keys.indexes, entities=keys.keys, partition=table.partition, sort=table.sort or "sk"
    )
    try:
        for owner, name, _ in kept:
            if owner is not cls:
                type.__delattr__(owner, name)
        for entity, own in keys.keys.items():
            for name, key in own.items():
                type.__setattr__(entity, name, key)
        cls.table = made
        for pattern in naming:  # the keys that they name aren't there: what they meant is an order
            order = pattern.options.order_by or _order_meant(pattern)
            pattern.options = replace(pattern.options, key=None, order_by=order)
        yield
    finally:
        for entity, own in keys.keys.items():
            for name in own:
                type.__delattr__(entity, name)
        if "compiled" in vars(cls):
            del cls.compiled
        for owner, name, value in kept:
            type.__setattr__(owner, name, value)
        for pattern, options in zip(naming, named, strict=True):
            pattern.options = options


def _order_meant(pattern: Pattern) -> str | None:
    """The field that orders the answer of a question by the key that it names: the first that it leaves open."""
    key, where = pattern.options.key, pattern.options.where
    fields = re.findall(r"\{(\w+)", " ".join(() if key is None else key.sort))
    known = {*inspect.signature(pattern.function).parameters, *(where if isinstance(where, Mapping) else ())}
    return next((name for name in fields if name not in known), None)


def _patterns_of(cls: type[Any]) -> list[Pattern]:
    return [one for base in cls.__mro__ for one in vars(base).values() if isinstance(one, Pattern)]
