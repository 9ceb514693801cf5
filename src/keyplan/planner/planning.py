"""A design planned: its questions read, keys chosen, every plan compiled by the real compiler and weighed by the cost
model; the best first, and beside it those that are better in one thing.

``plan(Shop)`` takes a design's class, with keys or without. What its entities declare of keys is left out of account,
unless it is to stay as it is deployed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import SchemaError

from keyplan.analysis.traffic.traffic_file import StoredItems, Traffic
from keyplan.errors import DesignError, ErrorDetail, is_interrupt
from keyplan.model.compiled.compiled_design import CompiledDesign, compile_design
from keyplan.model.compiled.compiled_entities import compile_entity
from keyplan.model.compiled.compiler import compile_read
from keyplan.model.compiled.signatures import Signature
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.keys import Discriminator, Key, Unique
from keyplan.model.declared.patterns import ReadMethod
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.planner.compiling import (
    applied,
    changed_fields,
    checked,
    compiled_plan,
    ordering_field,
    question_faults,
)
from keyplan.planner.facts import EntityFacts, facts_of
from keyplan.planner.fixed import Fixed, fixed_of, only_items
from keyplan.planner.mirrors import Mirror, mirrored
from keyplan.planner.needs import Need, NeedReader
from keyplan.planner.plans import Plan, PlannedKey
from keyplan.planner.search import Choice, Search, choices
from keyplan.planner.templates import Declared, declared
from keyplan.planner.unplanned import Unplanned
from keyplan.planner.weighing import CENT, Weight, front, why_not_first

__all__ = ["Plan", "PlannedKey", "applied", "compared", "plan", "provisional_design", "spare_indexes"]

PRICED_MAX = 4
"""Choices of each kind that are compiled and weighed."""
ALTERNATIVES_MAX = 5
"""Plans that are shown at most; those beyond the third only where nothing beats them."""
ALTERNATIVES = 3
WORTH_OF_WORDS = 0.01
"""The part of the bill that words in keys may cost: below that they make a table readable."""
SHARDED_MAX = 3
"""Plans with a key over its ceiling for which shards are tried, the best first."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


def plan(
    design: type[Any],
    traffic: Traffic | None = None,
    *,
    anew: bool = False,
    attributes: bool = False,
    progress: Progress | None = None,
) -> list[Plan]:
    """The plans for a design's questions: the best first, then those that are cheaper, cooler or in fewer indexes, each
    with why it isn't the first; three or four, where there are as many.

    The best has no key over a partition's ceiling where that can be had, then the fewest indexes, then the lowest cost.
    Keys that the design has stay as they are, and new ones are put beside them; ``anew`` leaves them out of account.
    ``traffic`` says how often patterns are called, and how much there is: without it each pattern counts alike, and
    nothing is known of how hot a key becomes. ``attributes`` makes index keys of several attributes, each of its
    field's type, instead of joined texts, where a key needs no more than four of each kind.

    Raises DesignError with every question that can't be served, and what it lacks.
    """
    read = Unplanned(design, getattr(design, "uncompiled", {}))
    facts = _facts(read)
    declared_keys = fixed_of(design, list(facts), read.whole)
    orders = _served(read, declared_keys)  # a design that has keys says by them what it means
    reader = NeedReader(facts, orders)
    needs = reader.needs(
        read.patterns,
        {name: signature for name, signature in read.signatures.items() if _known(signature, read, facts)},
    )
    only = [cls for cls, entity_facts in facts.items() if not entity_facts.identity]
    fixed = only_items(only) if anew else declared_keys
    served = _served(read, fixed) if anew else orders
    open_ = [need for need in needs if need.place not in served and not _claimed(need)]
    faults = [*read.faults, *reader.faults, *_unserved(facts, open_, fixed)]
    if faults:
        faults += _others(read, facts, open_, fixed, {fault.place for fault in faults})
        order = [f"{design.__name__}.{name}" for name in read.patterns]
        faults.sort(key=lambda fault: order.index(fault.place) if fault.place in order else -1)
        raise DesignError("these questions can't be planned", place=design.__name__, errors=faults)
    work = _Work(read, facts, open_, fixed, traffic, progress, attributes)
    work.learn_what_changes()
    return work.plans()


def _known(signature: Signature, read: Unplanned, facts: Mapping[type[Entity], EntityFacts]) -> bool:
    """Whether all is known of the entities that a question is about: else the fault is told of the entity."""
    return all(entity_class in facts for entity_class in read.about(signature.place.rpartition(".")[2]))


def _unserved(facts: Mapping[type[Entity], EntityFacts], needs: Sequence[Need], fixed: Fixed) -> list[ErrorDetail]:
    """The needs that no key can serve, even where constants are filtered."""
    _, unserved = choices(list(facts.values()), needs, fixed, None, Search(filters=True))
    return [ErrorDetail(element.need.place, f"{element.need}: {element.reason}", element.hint) for element in unserved]


def _others(
    read: Unplanned,
    facts: Mapping[type[Entity], EntityFacts],
    needs: Sequence[Need],
    fixed: Fixed,
    places: set[str | None],
) -> list[ErrorDetail]:
    """What the compiler says of the other questions, with keys for them alone: so that all faults are told at once."""
    rest = [need for need in needs if need.place not in places]
    result, _ = choices(list(facts.values()), rest, fixed, None, Search(filters=True))
    if not result:
        return []
    return [fault for fault in question_faults(read, declared(result[0], fixed)) if fault.place not in places]


@dataclass
class _Work:
    """A design while it is planned: what was chosen, and what of it was compiled."""

    read: Unplanned
    facts: Mapping[type[Entity], EntityFacts]
    needs: Sequence[Need]
    fixed: Fixed
    traffic: Traffic | None
    progress: Progress | None
    attributes: bool = False
    made: list[tuple[Declared, Plan]] = field(default_factory=list[tuple[Declared, Plan]])
    last: DesignError | None = None
    most: int = 0
    """How many choices are to be weighed."""

    def learn_what_changes(self) -> None:
        """What the writes change is known when they are read, which takes keys: those of any choice."""
        for choice in self._chosen(Search())[:PRICED_MAX]:
            with suppress(DesignError):
                changed, blind = changed_fields(self.read, declared(choice, self.fixed))
                self.facts = {
                    cls: replace(facts, changing=changed.get(cls, frozenset()), blind=blind.get(cls, frozenset()))
                    for cls, facts in self.facts.items()
                }
                return

    def plans(self) -> list[Plan]:
        """The plans, the best first. Ctrl-C ends the search with the best so far."""
        stopped = False
        tried: list[Choice] = []
        try:
            for more in self._candidates():
                tried += more
            self._weigh(tried)
        except (KeyboardInterrupt, SchemaError) as error:
            if not is_interrupt(error):
                raise
            stopped = True
            if not self.made and tried:
                self._make(declared(tried[0], self.fixed))
            if not self.made:
                raise  # there is none yet
        if not self.made:
            raise self.last or DesignError("no plan was found", place=self.read.cls.__name__)
        shown = compared([replace(element, stopped=stopped) for _, element in self.made])
        try:
            return [checked(element, _with_mirrors(self.traffic, element.mirrors)) for element in shown]
        except (KeyboardInterrupt, SchemaError) as error:
            if not is_interrupt(error):
                raise
            return [replace(element, stopped=True) for element in shown]

    def _weigh(self, tried: Sequence[Choice]) -> None:
        for done, choice in enumerate(tried, 1):
            if done > self.most and self.made:
                break  # the rest is tried where the compiler refuses all of these
            self._make(declared(choice, self.fixed))
            if self.traffic is not None and self.traffic.known and done == 1 and not self.attributes:
                self._shorten(choice)
            if self.progress is not None:
                self.progress("weighing plans", done, max(done, self.most))
        if self.made:
            self._spread_hot_keys()
            self._mirror()

    def _chosen(self, search: Search) -> list[Choice]:
        search = replace(search, attributes=self.attributes)
        return choices(list(self.facts.values()), self.needs, self.fixed, self._tell, search)[0]

    def _tell(self, done: int, whole: int) -> None:
        if self.progress is not None:
            self.progress("choosing keys", done, whole)

    def _candidates(self) -> Iterator[list[Choice]]:
        """The choices that are compiled and weighed: those with the fewest indexes; those that save one by a filter or
        a claim; those that read all of a sparse index; where rates are known, those that spread the load over more
        keys. Last what is left of the first.
        """
        exact = self._chosen(self._plain)
        self.most = len(exact[:PRICED_MAX])
        yield exact[:PRICED_MAX]
        fewest = exact[0].indexes if exact else None
        others = [Search(claims=True)] if any(need.claimable for need in self.needs) else []
        if any(need.constants for need in self.needs):
            others.append(Search(filters=True))
        result: list[Choice] = []
        for search in others:
            result += [choice for choice in self._chosen(search) if fewest is None or choice.indexes < fewest][
                :PRICED_MAX
            ]
        if any(need.sweepable for need in self.needs):
            result += self._chosen(Search(sweeps=True))[:PRICED_MAX]
        if self.traffic is not None and self.traffic.known:
            result += self._chosen(Search(spread=True))[:PRICED_MAX]
        self.most += len(result)
        yield result
        yield exact[PRICED_MAX:]

    def _shorten(self, choice: Choice) -> None:
        """Beside a choice the same with short keys, and with words of a letter or two, where that is another."""
        short, terse = (declared(choice, self.fixed, short=True, terse=terse) for terse in (False, True))
        self._make(short)
        if _texts(terse) != _texts(short):
            self._make(terse, terse=True)

    def _make(self, keys: Declared, *, terse: bool = False) -> Plan | None:
        try:
            made = compiled_plan(self.read, keys, self.traffic)
            made = replace(made, weight=replace(made.weight, terse=terse))
        except DesignError as error:
            self.last = self.last or error
            return None
        self.made.append((keys, made))
        return made

    def _spread_hot_keys(self) -> None:
        """Beside the best plans with a key over its ceiling the same with shards."""
        melting = [pair for pair in self._ordered() if any(key.shards > 1 for key in pair[1].weight.hot)]
        for keys, made in melting[:SHARDED_MAX]:
            spread = _sharded(keys, made)
            if spread is not None:
                self._make(spread, terse=made.weight.terse)

    def _mirror(self) -> None:
        """Beside the best plan the cheapest that has a mirror item instead of an index."""
        keys, first = self._ordered()[0]
        result: list[tuple[Declared, Plan]] = []
        for (cls, name), needs in keys.served.items():
            key = keys.keys[cls][name]
            changed = (
                mirrored(self.read, self.facts, self.needs, needs)
                if isinstance(key, Key) and key.index is not None and needs
                else None
            )
            if changed is None:
                continue
            chosen, _ = choices(list(changed.facts.values()), changed.needs, self.fixed, None, self._plain)
            if not chosen or chosen[0].indexes >= len(first.indexes):
                continue
            own = declared(chosen[0], self.fixed)
            with suppress(DesignError):
                made = compiled_plan(changed.read, own, _with_mirrors(self.traffic, [changed.mirror]), changed.mirror)
                result.append((own, _warmed(made, first, f"{cls.__name__}.{name}")))
        self.made += sorted(result, key=lambda pair: pair[1].weight.order)[:1]

    @property
    def _plain(self) -> Search:
        return Search(attributes=self.attributes)

    def _ordered(self) -> list[tuple[Declared, Plan]]:
        return sorted(self.made, key=lambda pair: pair[1].weight.order)


def compared(plans: Sequence[Plan]) -> list[Plan]:
    """The best of the plans; those that nothing beats, and where these are few the next best: each with why it isn't
    first.
    """
    if not plans:
        return []
    ordered = sorted(plans, key=lambda element: element.weight.order)
    exact = [element for element in ordered if not element.filters]
    if exact and ordered[0].filters and ordered[0].weight.usd > exact[0].weight.usd + CENT:
        ordered.sort(key=lambda element: element is not exact[0])
    plain = [element for element in ordered if not element.weight.terse]
    if plain and ordered[0].weight.terse and _little_dearer(plain[0].weight, ordered[0].weight):
        ordered.sort(key=lambda element: element is not plain[0])
    best = front(element.weight for element in ordered)
    first, *rest = (replace(element, best=is_best, why="") for element, is_best in zip(ordered, best, strict=True))
    rest.sort(key=lambda element: not element.best)
    kept = [element for number, element in enumerate(rest, 2) if number <= ALTERNATIVES or element.best]
    shown = [replace(element, why=why_not_first(element.weight, first.weight)) for element in kept]
    return [first, *shown[: ALTERNATIVES_MAX - 1]]


def _texts(keys: Declared) -> list[Any]:
    return [(key.partition, getattr(key, "sort", ())) for own in keys.keys.values() for key in own.values()]


def _little_dearer(weight: Weight, terse: Weight) -> bool:
    """Whether a plan with words costs so little more than one with letters that its words are worth it."""
    same = weight.order[:-2] == terse.order[:-2]
    return same and weight.usd <= terse.usd * (1 + WORTH_OF_WORDS)


def _with_mirrors(traffic: Traffic | None, mirrors: Iterable[Mirror]) -> Traffic | None:
    """The traffic, with as many mirror items as there are items."""
    if traffic is None:
        return None
    stored = {mirror.entity.__name__: traffic.entities.get(mirror.of.__name__, StoredItems()) for mirror in mirrors}
    return replace(traffic, entities={**traffic.entities, **stored})


def _warmed(made: Plan, first: Plan, key: str) -> Plan:
    """A plan with a mirror instead of a key: the mirror's partitions are as busy as the key's were, written twice as
    much, in transactions.
    """
    name = f"{made.mirrors[0].entity.__name__}.primary"
    moved = [
        replace(
            hot_key,
            keys=(name,),
            place="the table",
            units_per_second=hot_key.units_per_second * (2 if hot_key.kind == "write" else 1),
        )
        for hot_key in first.weight.hot
        if key in hot_key.keys
    ]
    others = [hot_key for hot_key in made.weight.hot if name not in hot_key.keys]
    hot = tuple(sorted([*others, *moved], key=lambda key: -key.share))
    return replace(made, weight=replace(made.weight, hot=hot))


def _sharded(keys: Declared, made: Plan) -> Declared | None:
    """The declarations with shards for the new keys that are over their ceiling, and for all that share a partition
    with them; None where none can have them.
    """
    wanted = {name: hot_key.shards for hot_key in made.weight.hot for name in hot_key.keys if hot_key.shards > 1}
    over = {
        (planned_key.where, planned_key.templates[0]): wanted[planned_key.place]
        for planned_key in made.keys
        if planned_key.place in wanted
    }
    mine = {(planned_key.where, planned_key.templates[0]) for planned_key in made.keys if not planned_key.new}
    over = {place: shards for place, shards in over.items() if place not in mine}
    if not over:
        return None

    def spread(key: Key | Unique) -> Key | Unique:
        if not isinstance(key, Key):
            return key
        place = ("the table" if key.index is None else key.index.name, key.partition)
        if place not in over:
            return key
        return Key(key.partition, key.sort, index=key.index, when=key.when, shards=over[place])

    spread_keys = {cls: {name: spread(element) for name, element in own.items()} for cls, own in keys.keys.items()}
    return replace(keys, keys=spread_keys)


def _served(read: Unplanned, fixed: Fixed) -> dict[str, str | None]:
    """The questions that the fixed keys answer, each with the field that orders its answer."""
    entities: dict[type[Entity], CompiledEntity] = {}
    for cls in fixed.keys:
        compiled = compile_entity(cls, read.cls.table, [])
        if compiled is not None:
            entities[cls] = compiled
    result: dict[str, str | None] = {}
    for name, pattern in read.patterns.items():
        if isinstance(pattern, ReadMethod):
            with suppress(Problem, KeyError):
                compiled_read = compile_read(read.signatures[name], pattern.options, entities)
                result[compiled_read.place] = ordering_field(compiled_read)
    return result


def provisional_design(design: type[Any]) -> CompiledDesign:
    """The design compiled with the keys that it has, else with the first plan that comes to hand: for its entities and
    patterns, not for its keys.
    """
    if hasattr(design, "compiled"):
        compiled: CompiledDesign = design.compiled
        return compiled
    with suppress(DesignError):
        return compile_design(design, getattr(design, "uncompiled", {}))

    def stop(what: str, _done: int, _whole: int) -> None:
        if what == "weighing plans":
            raise KeyboardInterrupt

    try:
        return plan(design, progress=stop)[0].compiled
    except KeyboardInterrupt:  # the compiler refused the first
        return plan(design)[0].compiled


def spare_indexes(design: type[Any]) -> list[str]:
    """The indexes of a compiled design without which each of its questions is still answered, in the same order.

    Raises DesignError for a design that doesn't compile.
    """
    compiled = compile_design(design, getattr(design, "uncompiled", {}))
    orders = {pattern.place: ordering_field(pattern) for pattern in compiled.reads.values()}
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
            others = [compile_read(pattern.signature, pattern.options, entities) for pattern in compiled.reads.values()]
            if all(ordering_field(pattern) == orders[pattern.place] for pattern in others):
                spare.append(index.name)
    return spare


def _facts(read: Unplanned) -> dict[type[Entity], EntityFacts]:
    facts: dict[type[Entity], EntityFacts] = {}
    for cls in read.entities:
        try:
            facts[cls] = facts_of(cls, read.asked_singly(cls))
        except Problem as problem:
            read.faults.append(ErrorDetail(cls.__name__, str(problem), problem.hint))
    return facts


def _claimed(need: Need) -> bool:
    """Whether a unique value that the entity declares answers the need already."""
    uniques = [value for base in need.entity.__mro__ for value in vars(base).values() if isinstance(value, Unique)]
    return (
        need.one
        and not need.constants
        and any(frozenset(_names_in(unique.partition)) == need.known for unique in uniques)
    )


def _names_in(template: str) -> list[str]:
    return [part.partition("}")[0].partition(":")[0] for part in template.split("{")[1:]]
