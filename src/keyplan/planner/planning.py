"""A design planned: its questions read, keys chosen, every plan compiled by the real compiler and priced by the cost
model.

``plan(Shop)`` takes a design's class, with keys or without. What its entities declare of keys is left out of account,
unless it is to stay as it is deployed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from keyplan.cost.bills import Payer
from keyplan.cost.estimate import estimate
from keyplan.cost.pricelist import price_list
from keyplan.design.compiled.compiler import compile_read, junctions_of
from keyplan.design.compiled.entities import compile_entity
from keyplan.design.compiled.model import CompiledDesign, compile_design, entities_in
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
from keyplan.design.compiled.questions import Signature, signature_of
from keyplan.design.compiled.shapes import ShapeKind, shape_of
from keyplan.design.declared.entity import Entity
from keyplan.design.declared.indexes import Index
from keyplan.design.declared.keys import Key, Unique
from keyplan.design.declared.patterns import Pattern, ReadMethod
from keyplan.design.declared.problems import Problem
from keyplan.design.declared.styles import Label
from keyplan.design.declared.table import Table
from keyplan.design.stored.entity import CompiledEntity
from keyplan.design.traffic.files import Traffic
from keyplan.errors import DesignError, Fault
from keyplan.planner.fixed import Fixed, fixed_of
from keyplan.planner.needs import EntityFacts, Need, NeedReader, facts_of
from keyplan.planner.search import Choice, choices
from keyplan.planner.templates import Declared, declared

__all__ = ["Plan", "PlannedKey", "applied", "plan", "provisional_design", "spare_indexes"]

PRICED_MAX = 6
"""Choices that are compiled and priced, of those with the fewest indexes."""
ALTERNATIVES = 3

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class PlannedKey:
    """One key of a plan: its declaration, and the questions that it serves."""

    entity: type[Entity]
    name: str
    key: Key | Unique
    serves: tuple[str, ...]
    new: bool = True
    """Whether the design hasn't it yet."""

    @property
    def where(self) -> str:
        """The index that it stands in, or "the table"."""
        return self.key.index.name if isinstance(self.key, Key) and self.key.index is not None else "the table"

    @property
    def templates(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The templates of its partition and of its sort attributes."""
        return (
            ((self.key.partition,), (self.key.sort,))
            if isinstance(self.key, Unique)
            else (self.key.partition, self.key.sort)
        )

    @property
    def place(self) -> str:
        """``Order.by_customer``."""
        return f"{self.entity.__name__}.{self.name}"


@dataclass(frozen=True)
class Plan:
    """Keys and indexes that serve every question of a design, compiled.

    ``usd_per_million``: what a million calls cost on demand in us-east-1, the patterns weighted by their rates where
    these are known, and alike where they aren't. ``notes``: what the planner had to guess.
    """

    design: type[Any]
    indexes: tuple[Index, ...]
    keys: tuple[PlannedKey, ...]
    compiled: CompiledDesign
    usd_per_million: float | None
    notes: tuple[str, ...] = ()

    @property
    def answers(self) -> list[tuple[str, str, str]]:
        """Each question with its operation, and the key that answers it."""
        return [(name, *_answer(read.plan)) for name, read in self.compiled.reads.items()]

    def differs_from(self, other: Plan) -> str:
        """The keys that it has and another plan hasn't."""
        theirs = {(one.place, str(one.templates), one.where) for one in other.keys}
        own = [one for one in self.keys if (one.place, str(one.templates), one.where) not in theirs]
        return ", ".join(f"{one.place} = {' | '.join(map(', '.join, one.templates))} in {one.where}" for one in own)

    def as_json(self) -> dict[str, Any]:
        """The plan as JSON data."""
        return {
            "design": self.design.__name__,
            "indexes": [one.name for one in self.indexes],
            "usd_per_million": self.usd_per_million,
            "keys": [
                {
                    "place": one.place,
                    "in": one.where,
                    "partition": list(one.templates[0]),
                    "sort": list(one.templates[1]),
                    "when": dict(one.key.when or {}) if isinstance(one.key, Key) else {},
                    "serves": list(one.serves),
                    "new": one.new,
                }
                for one in self.keys
            ],
            "questions": [{"name": name, "operation": operation, "key": key} for name, operation, key in self.answers],
            "notes": list(self.notes),
        }


def _answer(plan: PlanOfRead) -> tuple[str, str]:
    match plan:
        case GetPlan():
            return "GetItem", f"{plan.entity.name}.{plan.entity.primary.name}"
        case ClaimPlan():
            return "GetItem, GetItem", f"{plan.entity.name}.{plan.claim.name}"
        case BatchGetPlan():
            return "BatchGetItem", f"{plan.entity.name}.{plan.entity.primary.name}"
        case QueryPlan():
            keys = ", ".join(f"{match.entity.name}.{match.key.name}" for match in plan.matches)
            return "Query" + (" and a filter" if plan.filter is not None else ""), keys
        case ScanPlan():
            return "Scan", "no key"
        case ThroughPlan():
            ways = [_answer(part) for way in plan.ways for part in (way.junction, way.end)]
            return ", ".join(one for one, _ in ways), ", ".join(key for _, key in ways)


@dataclass
class _Design:
    """A design's class read for planning, whether it compiles or not."""

    cls: type[Any]
    namespace: Mapping[str, Any]
    patterns: dict[str, Pattern] = field(default_factory=dict[str, Pattern])
    signatures: dict[str, Signature] = field(default_factory=dict[str, Signature])
    faults: list[Fault] = field(default_factory=list[Fault])

    def __post_init__(self) -> None:
        members = [pair for base in reversed(self.cls.__mro__) for pair in vars(base).items()]
        self.patterns = {name: value for name, value in members if isinstance(value, Pattern)}
        for name, pattern in self.patterns.items():
            place = f"{self.cls.__name__}.{name}"
            try:
                self.signatures[name] = signature_of(pattern.function, place, self.namespace)
            except Problem as problem:
                self.faults.append(Fault(place, str(problem), problem.hint))

    @property
    def entities(self) -> list[type[Entity]]:
        """Every entity of the design, in the order in which they are met."""
        found = dict.fromkeys(self.cls.table.entities)
        for name, signature in self.signatures.items():
            mentioned = entities_in(signature.returns)
            mentioned += [one for each in signature.parameters for one in entities_in(each.annotation)]
            mentioned += [one.entity for one in junctions_of(self.patterns[name].options.through)]
            found.update(dict.fromkeys(mentioned))
        return list(found)

    def asked_singly(self, cls: type[Entity]) -> list[frozenset[str]]:
        """The fields by which single items of an entity are asked for."""
        found: list[frozenset[str]] = []
        for name, signature in self.signatures.items():
            pattern = self.patterns[name]
            if not isinstance(pattern, ReadMethod) or pattern.options.through is not None:
                continue
            shape = shape_of(signature.returns)
            ordered = pattern.options.newest_first is not None or pattern.options.order_by is not None
            if shape.kind is ShapeKind.ONE and shape.entities == (cls,) and not ordered and not pattern.options.where:
                found.append(frozenset(one.name for one in signature.parameters if one.condition))
        return found


def plan(
    design: type[Any], traffic: Traffic | None = None, *, anew: bool = False, progress: Progress | None = None
) -> list[Plan]:
    """The best plans for a design's questions, the best first: at most three.

    Keys that the design has stay as they are, and new ones are put beside them; ``anew`` leaves them out of account.
    ``traffic`` says how often patterns are called, and how much there is: without it each pattern counts alike.

    Raises DesignError with every question that can't be served, and what it lacks.
    """
    read = _Design(design, getattr(design, "uncompiled", {}))
    reader, facts = _facts(read)
    needs = reader.needs(read.patterns, read.signatures)
    faults = [*read.faults, *reader.faults]
    if faults:
        raise DesignError("the questions can't be planned", place=design.__name__, faults=faults)
    fixed = Fixed() if anew else fixed_of(design, list(facts))
    served = _served(read, fixed)
    open_ = [one for one in needs if one.place not in served and not _claimed(one)]
    told = None if progress is None else (lambda done, whole: progress("choosing keys", done, whole))
    exact, _ = choices(list(facts.values()), open_, fixed, told)
    filtered, unserved = choices(list(facts.values()), open_, fixed, told, filters=any(one.constants for one in open_))
    if not exact and not filtered:
        faults = [Fault(one.need.place, f"{one.need}: {one.reason}", one.hint) for one in unserved]
        raise DesignError("no keys serve these questions", place=design.__name__, faults=faults)
    fewer = [one for one in filtered if not exact or one.indexes < exact[0].indexes]
    return _best(read, [exact, fewer], fixed, traffic, progress)


def _served(read: _Design, fixed: Fixed) -> set[str]:
    """The questions that the fixed keys answer."""
    entities: dict[type[Entity], CompiledEntity] = {}
    for cls in fixed.keys:
        compiled = compile_entity(cls, read.cls.table, [])
        if compiled is not None:
            entities[cls] = compiled
    found: set[str] = set()
    for name, pattern in read.patterns.items():
        if isinstance(pattern, ReadMethod):
            with suppress(Problem, KeyError):
                found.add(compile_read(read.signatures[name], pattern.options, entities).place)
    return found


def provisional_design(design: type[Any]) -> CompiledDesign:
    """The design compiled with the first plan that comes to hand: for its entities and patterns, not for its keys."""
    if hasattr(design, "compiled"):
        compiled: CompiledDesign = design.compiled
        return compiled
    return plan(design)[0].compiled


def spare_indexes(design: type[Any]) -> list[str]:
    """The indexes of a compiled design without which each of its questions is still answered, in the same order.

    Raises DesignError for a design that doesn't compile.
    """
    compiled = compile_design(design, getattr(design, "uncompiled", {}))
    orders = {one.place: _order_of(one) for one in compiled.reads.values()}
    spare: list[str] = []
    for index in compiled.table.indexes:
        entities = {
            cls: CompiledEntity(
                cls,
                one.primary,
                tuple(key for key in one.index_keys if key.index is None or key.index.name != index.name),
                one.claims,
                tuple(Label(name, value["S"]) for name, value in one.labels.items()),
            )
            for cls, one in compiled.entities.items()
        }
        with suppress(Problem):
            others = [compile_read(one.signature, one.options, entities) for one in compiled.reads.values()]
            if all(_order_of(one) == orders[one.place] for one in others):
                spare.append(index.name)
    return spare


def _facts(read: _Design) -> tuple[NeedReader, dict[type[Entity], EntityFacts]]:
    facts: dict[type[Entity], EntityFacts] = {}
    for cls in read.entities:
        try:
            facts[cls] = facts_of(cls, read.asked_singly(cls))
        except Problem as problem:
            read.faults.append(Fault(cls.__name__, str(problem), problem.hint))
    if read.faults:
        raise DesignError("the design can't be planned", place=read.cls.__name__, faults=read.faults)
    return NeedReader(facts, _orders(read.cls)), facts


def _orders(cls: type[Any]) -> dict[str, str | None]:
    """The fields that order the answers of a design that has keys: its patterns mean these."""
    compiled: CompiledDesign | None = getattr(cls, "compiled", None)
    reads = compiled.reads.values() if compiled is not None else ()
    return {one.place: _order_of(one) for one in reads}


def _order_of(read: ReadPattern) -> str | None:
    """The field that a compiled question's answer is ordered by."""
    plan = read.plan
    if isinstance(plan, ThroughPlan):
        plan = plan.end if isinstance(plan.end, QueryPlan) else plan.junction
    orders = [match.order[0][0] for match in plan.matches if match.order] if isinstance(plan, QueryPlan) else []
    return next(iter(orders), None)


def _claimed(need: Need) -> bool:
    """Whether a unique value that the entity declares answers the need already."""
    uniques = [value for base in need.entity.__mro__ for value in vars(base).values() if isinstance(value, Unique)]
    return need.one and not need.constants and any(frozenset(_names_in(one.partition)) == need.known for one in uniques)


def _names_in(template: str) -> list[str]:
    return [part.partition("}")[0].partition(":")[0] for part in template.split("{")[1:]]


def _best(
    read: _Design, kinds: Sequence[Sequence[Choice]], fixed: Fixed, traffic: Traffic | None, progress: Progress | None
) -> list[Plan]:
    """The choices compiled and priced. First the cheapest of those with the fewest indexes; one that saves an index by
    filtering goes before it only where it costs no more.
    """
    tried = [(kind, one) for kind, choices_ in enumerate(kinds) for one in choices_[:PRICED_MAX]]
    plans: list[list[Plan]] = [[] for _ in kinds]
    last: DesignError | None = None
    try:
        for done, (kind, choice) in enumerate(tried, 1):
            try:
                plans[kind].append(_compiled(read, declared(choice, fixed), traffic))
            except DesignError as error:
                last = last or error
            if progress is not None:
                progress("pricing plans", done, len(tried))
    except KeyboardInterrupt:
        if not any(plans):
            raise  # else the best so far is the answer
    for own in plans:
        own.sort(key=_by_indexes)
    exact, fewer = plans
    if exact and fewer and (fewer[0].usd_per_million or 0.0) > (exact[0].usd_per_million or 0.0):
        fewer, exact = exact, fewer
    found = [*fewer, *exact]
    if not found:
        raise last or DesignError("no plan was found", place=read.cls.__name__)
    return found[:1] + sorted(found[1:], key=_by_indexes)[: ALTERNATIVES - 1]


def _by_indexes(plan: Plan) -> tuple[int, float]:
    return (len(plan.indexes), plan.usd_per_million or 0.0)


def _compiled(read: _Design, keys: Declared, traffic: Traffic | None) -> Plan:
    with _applied(read.cls, keys):
        compiled = compile_design(read.cls, read.namespace)
        read.cls.compiled = compiled
        usd = _usd(read.cls, traffic)
    planned = tuple(
        PlannedKey(
            cls,
            name,
            key,
            tuple(dict.fromkeys(one.place for one in keys.served.get((cls, name), ()))),
            new=(cls, name) in keys.served,
        )
        for cls, own in keys.keys.items()
        for name, key in own.items()
    )
    return Plan(read.cls, keys.indexes, planned, compiled, usd, tuple(_notes(planned, compiled)))


def _notes(keys: Iterable[PlannedKey], compiled: CompiledDesign) -> Iterator[str]:
    """What the design doesn't say, and was guessed."""
    for read_pattern in compiled.reads.values():
        options = read_pattern.options
        order = _order_of(read_pattern)
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


def _usd(cls: type[Any], traffic: Traffic | None) -> float | None:
    """USD of a million calls, each pattern weighted by its rate where the traffic says one."""
    found = estimate(cls, traffic)
    payer = Payer(found, price_list("us-east-1"))
    rates = [one.load.per_second or 0.0 for one in found.patterns]
    weights = [rate / sum(rates) for rate in rates] if any(rates) else [1 / len(rates) for _ in rates] if rates else []
    prices = [payer.call_usd(one) for one in found.patterns]
    return sum(weight * (usd or 0.0) for weight, usd in zip(weights, prices, strict=True)) * 1_000_000


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
        yield
    finally:
        for entity, own in keys.keys.items():
            for name in own:
                type.__delattr__(entity, name)
        if "compiled" in vars(cls):
            del cls.compiled
        for owner, name, value in kept:
            type.__setattr__(owner, name, value)
