"""Plans a design: reads its access patterns, searches for keys, and compiles and compares the best choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import SchemaError

from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.errors import DesignError, ErrorDetail, is_interrupt
from keyplan.model.compiled.compiled_design import CompiledDesign, compile_design
from keyplan.model.compiled.compiler import compile_read
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.keys import Discriminator, Key, Unique
from keyplan.model.declared.patterns import ReadMethod
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.planner import compiling
from keyplan.planner.facts import Deployed, DesignFacts, EntityFacts, declared_keys, fields_of
from keyplan.planner.needs import Need, needs_of
from keyplan.planner.plans import Plan, front, why_not_first
from keyplan.planner.search import Choice, Found, Search, search
from keyplan.planner.templates import Declared, declared

WEIGHED_MAX = 4
"""Choices of each kind that are compiled and weighed."""
ALTERNATIVES = 3
"""Plans that are shown, even if another one is better in everything."""
ALTERNATIVES_MAX = 5
"""Plans that are shown at most."""
COOLING_ROUNDS_MAX = 4
"""Searches without the partitions that were too busy."""

Progress = Callable[[str, int, int], None]
"""Called with the step, the number of finished parts, and their total."""


def plan(
    design: type[Any],
    traffic: Traffic | None = None,
    *,
    ignore_existing: bool = False,
    attributes: bool = False,
    progress: Progress | None = None,
) -> list[Plan]:
    """Up to five plans for a design's access patterns: the best plan, then plans that are cheaper, have cooler
    partitions or use fewer indexes, each with the reason why it isn't the first.

    The best plan has no key over a partition's limit if possible, then the fewest indexes, then the lowest cost.
    Existing keys are kept unless ``ignore_existing`` is set. ``traffic``: the call rates of patterns and the numbers of
    items; without rates, all patterns have equal weight, and loads are unknown. ``attributes``: index keys have several
    typed attributes instead of joined strings, if four partition key and four sort key attributes are enough.

    Raises DesignError with every unsupported access pattern and the reason.
    """
    facts = DesignFacts(design, getattr(design, "uncompiled", {}))
    entities = facts.entities
    orders = _served(facts, Deployed.of(facts, ignore_existing=False))  # orders of reads that existing keys support
    deployed = Deployed.of(facts, ignore_existing=ignore_existing)
    served = _served(facts, deployed) if ignore_existing else orders
    read = needs_of(facts, orders)
    needs = [need for need in read.all if need.place not in served and not _is_unique(need)]
    filters = {place: text for place, text in read.filters.items() if place not in served}
    work = _Work(facts, entities, needs, filters, deployed, traffic, progress, attributes)
    outcome = work.choose(Search())
    if outcome.choices:
        with suppress(DesignError):
            work.entities = compiling.with_updates(facts, entities, declared(outcome.choices[0], deployed, filters))
    work.raise_unserved([*facts.faults, *read.faults])
    return work.plans()


@dataclass
class _Work:
    facts: DesignFacts
    entities: dict[type[Entity], EntityFacts]
    needs: list[Need]
    filters: dict[str, str]
    deployed: Deployed
    traffic: Traffic | None
    progress: Progress | None
    attributes: bool
    made: list[tuple[Declared, Plan]] = field(default_factory=list[tuple[Declared, Plan]])
    refused: list[DesignError] = field(default_factory=list[DesignError])
    limits: list[str] = field(default_factory=list[str])

    def raise_unserved(self, faults: list[ErrorDetail]) -> None:
        unserved = self.choose(Search(filters=True)).unserved
        faults += [ErrorDetail(each.need.place, f"{each.need}: {each.reason}", each.hint) for each in unserved]
        if not faults:
            return
        places = {fault.place for fault in faults}
        rest = [need for need in self.needs if need.place not in places]
        outcome = search(list(self.entities.values()), rest, self.deployed, Search(filters=True))
        if outcome.choices:  # add the compiler's errors in the remaining reads
            others = compiling.read_faults(self.facts, declared(outcome.choices[0], self.deployed, self.filters))
            faults += [fault for fault in others if fault.place not in places]
        name = self.facts.cls.__name__
        order = [f"{name}.{pattern}" for pattern in self.facts.patterns]
        faults.sort(key=lambda fault: order.index(fault.place) if fault.place in order else -1)
        raise DesignError("these access patterns can't be planned", place=name, errors=faults)

    def choose(self, options: Search) -> Found:
        def report(done: int, whole: int) -> None:
            if self.progress is not None:
                self.progress("choosing keys", done, whole)

        options = replace(options, attributes=self.attributes)
        return search(list(self.entities.values()), self.needs, self.deployed, options, report)

    def plans(self) -> list[Plan]:
        """The plans, the best first. Ctrl-C stops the search, which then returns the plans found so far."""
        stopped = False
        try:
            self._weigh()
        except (KeyboardInterrupt, SchemaError) as error:
            if not is_interrupt(error) or not self.made:
                raise
            stopped = True
        limits = tuple(self.limits)
        shown = compared([replace(made, stopped=stopped, limits=limits) for _, made in self.made])
        return shown if stopped else self._checked(shown)

    def _checked(self, plans: Sequence[Plan]) -> list[Plan]:
        passed: list[Plan] = []
        try:
            for made in plans:
                try:
                    passed.append(compiling.checked(made, self.traffic))
                except DesignError as error:
                    self.refused.append(error)
        except (KeyboardInterrupt, SchemaError) as error:
            if not is_interrupt(error):
                raise
            return [replace(made, stopped=True) for made in plans]
        if not passed:
            raise self.refused[-1]
        return compared(passed)

    def _weigh(self) -> None:
        """Weigh the choices with the fewest indexes, with unique values or filters, and without hot partitions."""
        outcome = self.choose(Search())
        self.limits = list(outcome.limits)
        if not outcome.choices:  # some reads need a filter for their constants
            outcome = self.choose(Search(filters=True))
        self._make(outcome.choices, enough=WEIGHED_MAX)
        if not self.made:
            raise self._no_plan(outcome)
        fewest = len(outcome.choices[0].forms)
        options = [Search(claims=True)] if any(need.claimable for need in self.needs) else []
        options += [Search(filters=True)] if any(need.constants for need in self.needs) else []
        for option in options:
            others = self.choose(option).choices
            self._make([choice for choice in others if len(choice.forms) < fewest], enough=WEIGHED_MAX)
        self._cool()

    def _make(self, choices: Sequence[Choice], *, enough: int) -> None:
        before = len(self.made)
        for done, choice in enumerate(choices, 1):
            if len(self.made) - before >= enough:
                break
            self._add(declared(choice, self.deployed, self.filters))
            if self.progress is not None:
                self.progress("weighing plans", done, max(done, min(enough, len(choices))))

    def _add(self, keys: Declared) -> None:
        try:
            self.made.append((keys, compiling.compiled_plan(self.facts, keys, self.traffic)))
        except DesignError as error:
            self.refused.append(error)

    def _no_plan(self, outcome: Found) -> DesignError:
        """Why no choice is a plan: what the compiler refused, or which patterns can't be served together."""
        name = self.facts.cls.__name__
        if self.refused:
            return self.refused[0]
        faults: list[ErrorDetail] = []
        for place in dict.fromkeys(need.place for need in self.needs):
            rest = [need for need in self.needs if need.place != place]
            if search(list(self.entities.values()), rest, self.deployed, Search()).choices:
                message = "no keys support this pattern together with the other access patterns"
                faults.append(ErrorDetail(place, message, "move the pattern to another design"))
        faults += [ErrorDetail(name, limit) for limit in outcome.limits]
        return DesignError("no keys support these access patterns together", place=name, errors=faults)

    def _cool(self) -> None:
        """Add plans in which the keys over their limit are spread over shards, or have other partitions."""
        banned: frozenset[tuple[type[Entity], frozenset[str]]] = frozenset()
        for _ in range(COOLING_ROUNDS_MAX):
            best = min((made for _, made in self.made), key=lambda made: made.weight.order)
            if not best.weight.over:
                return
            for hot_keys, hot in sorted(self.made, key=lambda pair: pair[1].weight.order)[:WEIGHED_MAX]:
                spread = _sharded(hot_keys, hot)
                if spread is not None and all(spread.keys != other.keys for other, _ in self.made):
                    self._add(spread)
            more = banned | _hot_partitions(best)
            if more == banned:
                return
            banned = more
            self._make(self.choose(Search(banned=banned)).choices, enough=2)


def _hot_partitions(made: Plan) -> frozenset[tuple[type[Entity], frozenset[str]]]:
    """The partitions of new keys that are over their limit, and that other keys could spread."""
    hot = {name for key in made.weight.hot if key.share > 1 and not key.one_item for name in key.keys}
    planned = [key for key in made.keys if key.place in hot and key.new and isinstance(key.key, Key)]
    names = ((key.entity, [name for text in key.templates[0] for name in fields_of(text)]) for key in planned)
    return frozenset((entity, frozenset(fields)) for entity, fields in names)


def _sharded(keys: Declared, made: Plan) -> Declared | None:
    """The declarations with shards for new keys over their limit; None if none can have them."""
    wanted = {name: hot.shards for hot in made.weight.hot for name in hot.keys if hot.shards > 1}
    over = {(key.where, key.templates[0]): wanted[key.place] for key in made.keys if key.place in wanted}
    deployed = {(key.where, key.templates[0]) for key in made.keys if not key.new}
    over = {place: shards for place, shards in over.items() if place not in deployed}
    if not over:
        return None

    def spread(key: Key | Unique) -> Key | Unique:
        if not isinstance(key, Key):
            return key
        place = ("the table" if key.index is None else key.index.name, key.partition)
        if place not in over:
            return key
        return Key(key.partition, key.sort, index=key.index, when=key.when, shards=over[place])

    return replace(keys, keys={cls: {name: spread(key) for name, key in own.items()} for cls, own in keys.keys.items()})


def compared(plans: Sequence[Plan]) -> list[Plan]:
    """The best plan, then undominated plans and the next best plans, each with the reason why it isn't the first."""
    if not plans:
        return []
    ordered = sorted(plans, key=lambda made: made.weight.order)
    best = front(made.weight for made in ordered)
    first, *rest = (replace(made, best=is_best, why="") for made, is_best in zip(ordered, best, strict=True))
    rest.sort(key=lambda made: not made.best)
    kept = [made for number, made in enumerate(rest, 2) if number <= ALTERNATIVES or made.best]
    shown = [replace(made, why=why_not_first(made.weight, first.weight)) for made in kept]
    return [first, *shown[: ALTERNATIVES_MAX - 1]]


def _served(facts: DesignFacts, deployed: Deployed) -> dict[str, str | None]:
    """The places of the reads that deployed keys support, each with its ordering field."""
    entities = compiling.compiled_entities(facts, deployed.keys)
    result: dict[str, str | None] = {}
    for name, pattern in facts.patterns.items():
        if isinstance(pattern, ReadMethod):
            with suppress(Problem, KeyError):
                read = compile_read(facts.signatures[name], pattern.options, entities)
                result[read.place] = compiling.ordering_field(read)
    return result


def _is_unique(need: Need) -> bool:
    uniques = [key for key in declared_keys(need.entity).values() if isinstance(key, Unique)]
    return need.one and not need.constants and any(frozenset(fields_of(key.partition)) == need.known for key in uniques)


def provisional_design(design: type[Any]) -> CompiledDesign:
    """The design compiled with its own keys, or else with the best plan's; callers use its entities and patterns."""
    if hasattr(design, "compiled"):
        compiled: CompiledDesign = design.compiled
        return compiled
    with suppress(DesignError):
        return compile_design(design, getattr(design, "uncompiled", {}))

    return plan(design)[0].compiled


def spare_indexes(design: type[Any]) -> list[str]:
    """The indexes of a compiled design that no read needs. Raises DesignError."""
    compiled = compile_design(design, getattr(design, "uncompiled", {}))
    orders = {read.place: compiling.ordering_field(read) for read in compiled.reads.values()}
    spare: list[str] = []
    for index in compiled.table.indexes:
        entities = {
            cls: CompiledEntity(
                cls,
                entity.primary,
                tuple(key for key in entity.index_keys if key.index is None or key.index.name != index.name),
                entity.claims,
                tuple(Discriminator(name, value["S"]) for name, value in entity.labels.items()),
            )
            for cls, entity in compiled.entities.items()
        }
        with suppress(Problem):
            others = [compile_read(read.signature, read.options, entities) for read in compiled.reads.values()]
            if all(compiling.ordering_field(read) == orders[read.place] for read in others):
                spare.append(index.name)
    return spare
