"""Choose a key for a read pattern and compile its plan; without a suitable key, report the nearest one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyplan.model.compiled import plan_checks
from keyplan.model.compiled.collisions import read_apart
from keyplan.model.compiled.constants import AnyOf, all_slots, constant_of, domain_of
from keyplan.model.compiled.key_matching import (
    Candidate,
    Miss,
    choose,
    fields_of,
    match_key,
    nothing_serves,
    ordered_by,
    rank,
    same_place,
    unsorted,
    without_buckets,
)
from keyplan.model.compiled.option_checks import check_field, check_options, check_read_whole
from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    Filter,
    GetPlan,
    KeyMatch,
    Known,
    Plan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
    newest_by_default,
    turns,
)
from keyplan.model.compiled.return_types import Shape, ShapeKind, shape_of
from keyplan.model.compiled.signatures import Parameter, ParameterKind, Signature
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import is_optional
from keyplan.model.declared.parameters import Through
from keyplan.model.declared.pattern_load import checked_load
from keyplan.model.declared.patterns import Options
from keyplan.model.stored.stored_entity import CompiledEntity, seen_as, seen_by
from keyplan.model.stored.stored_keys import CompiledKey

Entities = Mapping[type[Entity], CompiledEntity]

NAMED_ELSEWHERE = 100
"""The distance of a key that isn't the one named by ``key=``: larger than all other reasons."""


def compile_read(signature: Signature, options: Options, entities: Entities) -> ReadPattern:
    """The compiled pattern. If no key supports the pattern, raises a Problem that names the nearest key."""
    return _ReadCompiler(signature, options, entities).compile()


def keys_considered(pattern: ReadPattern, entities: Entities) -> Iterator[tuple[CompiledEntity, KeyMatch | Miss]]:
    """Every key of a pattern's entities or junctions, including claims, with its match or the reason for a miss."""
    yield from _ReadCompiler(pattern.signature, pattern.options, entities).considered()


class _ReadCompiler:
    def __init__(self, signature: Signature, options: Options, entities: Entities) -> None:
        self.signature = signature
        self.direction = next(
            (parameter for parameter in signature.parameters if parameter.kind is ParameterKind.DIRECTION), None
        )
        self.options = options
        if self.direction is not None and options.newest_first is None:
            self.options = replace(options, newest_first=newest_by_default(self.direction))
        self.declared = options
        self.shape: Shape = shape_of(signature.returns, options.entity)
        self.targets = tuple(self._target(entities[entity]) for entity in self.shape.entities)
        self.entities = entities
        self.constants: dict[str, Any] = {}
        self.filter_text = options.where if isinstance(options.where, str) else None
        self.in_junction = False

    def _target(self, entity: CompiledEntity) -> CompiledEntity:
        if self.shape.told:
            total = [name for name in (self.options.total,) if name is not None and name in entity.fields]
            return seen_by(entity, dict.fromkeys([*self._ranged(entity), *total]))
        view = self.shape.views.get(entity.cls)
        if view is None:
            return entity
        seen, ranged = seen_as(entity, view), self._ranged(entity)
        if not view.model_fields.keys() >= set(ranged):
            seen.sifted = seen_by(entity, ranged).from_item
        return seen

    def _ranged(self, entity: CompiledEntity) -> list[str]:
        """The fields with which results of a key condition must be compared."""
        ranged = (parameter.name for parameter in self.signature.parameters if parameter.kind is ParameterKind.RANGE)
        return [name for name in ranged if name in entity.fields]

    def compile(self) -> ReadPattern:
        check_options(self.signature, self.declared, self.shape, self.targets, self._junctions_named())
        self.constants = self._checked_constants()
        plan = self._plan()
        if self.direction is not None and not turns(plan):
            raise Problem("newest_first requires an ordered result", "remove the parameter newest_first")
        name = self.signature.place.rpartition(".")[2]
        return ReadPattern(
            id=self.options.id,
            name=name,
            place=self.signature.place,
            signature=self.signature,
            shape=self.shape,
            plan=plan,
            options=self.declared,
            constants=self.constants,
            load=checked_load(self.options.load),
        )

    def considered(self) -> Iterator[tuple[CompiledEntity, KeyMatch | Miss]]:
        self.constants = self._checked_constants()
        parts = [(target, self._knowns(target)) for target in self.targets if self.options.through is None]
        for junction, _ in self._junctions() if self.options.through is not None else ():
            own = [condition.name for condition in self._conditions() if condition.name in junction.fields]
            parts.append((junction, self._knowns(junction, own)))
        for entity, knowns in parts:
            misses: list[Miss] = []
            claims = entity.claims if self.shape.kind is ShapeKind.ONE else ()
            for key in self._usable((*entity.keys, *claims), misses):
                yield entity, self._match(entity, key, knowns, self._must(knowns))
            yield from ((entity, miss) for miss in misses)

    # Known fields

    def _conditions(self) -> list[Parameter]:
        named = named_in(self.filter_text)
        return [
            parameter for parameter in self.signature.parameters if parameter.condition and parameter.name not in named
        ]

    def _knowns(self, entity: CompiledEntity, names: Iterable[str] | None = None) -> dict[str, Known]:
        knowns: dict[str, Known] = {}
        for parameter in self._conditions():
            if names is not None and parameter.name not in names:
                continue
            check_field(entity, parameter)
            knowns[parameter.name] = Known(
                parameter.name,
                parameter.kind,
                "argument",
                annotation=parameter.value_type,
                optional=is_optional(parameter.annotation),
                default=None if parameter.required else parameter.default,
            )
        for name, value in self.constants.items():
            if name in entity.fields:
                kind = ParameterKind.EACH if isinstance(value, AnyOf) else ParameterKind.VALUE
                knowns[name] = Known(name, kind, "constant", constant=value)
        return knowns

    def _checked_constants(self) -> dict[str, Any]:
        where = self.options.where if isinstance(self.options.where, Mapping) else {}
        owners = [*self.targets, *(junction for junction, _ in self._junctions_named())]
        constants: dict[str, Any] = {}
        for name, value in where.items():
            for entity in owners:
                if name in entity.fields:
                    constants[name] = constant_of(entity.name, entity.fields[name], value)
        whole = self.options.scan or self.options.scan_index is not None
        if self.shape.kind in {ShapeKind.LIST, ShapeKind.COUNT} and not whole:
            constants |= all_slots(self.targets, {*constants, *self.signature.by_name})
        return constants

    def _junctions_named(self) -> list[tuple[CompiledEntity, dict[str, str]]]:
        return [] if self.options.through is None else self._junctions()

    def _match(
        self, entity: CompiledEntity, key: CompiledKey, knowns: Mapping[str, Known], needed: frozenset[str]
    ) -> KeyMatch | Miss:
        match = match_key(entity, key, knowns, needed, self._fixed())
        by_junction = self.in_junction or self.options.through is not None
        return without_buckets(match, by_junction, self.shape.kind is ShapeKind.COLLECTION)

    def _fixed(self) -> dict[str, tuple[Any, ...]]:
        if self.filter_text is None:
            return {}
        from keyplan.model.compiled.conditions import translate  # noqa: PLC0415 - only for filters

        fixed: dict[str, tuple[Any, ...]] = {}
        parameters = self.signature.by_name
        for name, placeholders in translate(self.filter_text, self.targets).fixed.items():
            domains = [domain_of(parameters[text].value_type) for text in placeholders if text in parameters]
            if None not in domains and len(domains) == len(placeholders):
                fixed[name] = tuple(value for domain in domains for value in domain or ())
        return fixed

    # Plans by result shape

    def _plan(self) -> Plan:
        if self.options.scan or self.options.scan_index is not None:
            return self._scan()
        if self.options.through is not None:
            return self._through()
        if self.shape.told:
            return self._told()
        if self.shape.kind is ShapeKind.ONE:
            entity = self.targets[0]
            knowns = self._knowns(entity)
            return self._one(entity, knowns, self._must(knowns))
        return self._many()

    def _must(self, knowns: Mapping[str, Known]) -> frozenset[str]:
        return frozenset(name for name, known in knowns.items() if known.source == "argument")

    def _scan(self) -> ScanPlan:
        word = check_read_whole(self.options, self.shape, self._conditions())
        self._refuse_order(f"{word} returns items in no particular order")
        for name in self.constants:
            if len({entity.fields[name].attribute if name in entity.fields else None for entity in self.targets}) > 1:
                raise Problem(f"where= names {name!r}, which isn't one attribute of all entities that {word} returns")
        if self.options.scan_index is not None:
            matches = plan_checks.standing_in(self.options.scan_index, self.targets, consistent=self.options.consistent)
            self.constants = plan_checks.without_implied(self.constants, matches)
            return plan_checks.all_of_index(
                matches, self.targets, self.options, self._filter((), plan_checks.attributes_held(matches))
            )
        if self.options.complete:
            raise Problem("complete= has no effect: the table contains all attributes", "omit complete=True")
        return ScanPlan(self.targets, self.options.consistent, self._filter(()), segments=self.options.segments)

    def _refuse_order(self, why: str) -> None:
        for option in ("order_by", "newest_first"):
            if getattr(self.options, option):
                raise Problem(f"{option}= requires an ordered result, but {why}", f"remove {option}=")

    def _one(
        self, entity: CompiledEntity, knowns: Mapping[str, Known], must: frozenset[str]
    ) -> GetPlan | ClaimPlan | QueryPlan:
        """One item: by its primary key, a complete index key, a claim, or as the first in an order."""
        ordered = self.options.newest_first is not None or self.options.order_by is not None
        misses: list[Miss] = []
        full: list[Candidate] = []
        first: list[Candidate] = []
        for key in self._usable(entity.keys, misses):
            match = self._match(entity, key, knowns, must)
            why = None if isinstance(match, Miss) else self._why_unfiltered(key, (match,))
            if isinstance(match, Miss):
                misses.append(match)
            elif match.full and key is entity.primary and not match.each and self._filter((match,)) is None:
                return GetPlan(entity, self.options.consistent)
            elif why is not None:
                misses.append(Miss(key, why, 2))
            elif match.full and not match.each:
                full.append((key, (match,)))
            elif ordered:
                first.append((key, (match,)))
            else:
                names = " and ".join(name for name, _ in match.order) or " and ".join(match.each)
                misses.append(
                    Miss(
                        key,
                        f"no parameter fixes {names}, so several items match: set newest_first=, or return a list",
                        1,
                    )
                )
        if full:
            return self._query(*min(self._holding(full), key=self._rank), ordered=False)
        for claim in entity.claims:
            match = self._match(entity, claim, knowns, must)
            if isinstance(match, KeyMatch) and match.full and self._filter((match,)) is None:
                return ClaimPlan(entity, claim, self.options.consistent)
            if isinstance(match, Miss):
                misses.append(match)
        if not first:
            raise self._no_key(misses)
        return self._query(*choose(self._holding(first), self.options.order_by, self.constants))

    def _why_unfiltered(self, key: CompiledKey, matches: tuple[KeyMatch, ...]) -> str | None:
        """Why conditions that a key leaves open can't be filtered; None if they can, or there are none."""
        condition = self._filter(matches)
        if condition is None:
            return None
        taken = {attribute.name for attribute, _ in key.attributes} & set(condition.names.values())
        if not taken:
            return None
        return f"the filter contains {', '.join(sorted(taken))}, but a Query can't filter by key attributes"

    def _told(self) -> GetPlan | ClaimPlan | QueryPlan | BatchGetPlan:
        """A count or an existence check, by the cheapest key in any order."""
        self._refuse_order("a count has no order")
        entity, *others = self.targets
        if self.shape.kind is ShapeKind.EXISTS and not others:
            knowns = self._knowns(entity)
            must = self._must(knowns)
            for key in self._usable((entity.primary, *entity.claims), []):
                match = self._match(entity, key, knowns, must)
                if isinstance(match, KeyMatch) and match.full and not match.each and self._filter((match,)) is None:
                    consistent = self.options.consistent
                    return ClaimPlan(entity, key, consistent) if key.is_claim else GetPlan(entity, consistent)
        batch = self._batch()
        if batch is not None:
            return batch
        return self._query(*min(self._known_candidates(), key=self._rank), ordered=False)

    def _many(self) -> QueryPlan | BatchGetPlan:
        batch = self._batch()
        if batch is not None:
            return batch
        key, matches = choose(self._known_candidates(), self.options.order_by, self.constants)
        return self._query(key, matches)

    def _candidates(self, knowns: Sequence[Mapping[str, Known]], must: frozenset[str]) -> list[Candidate]:
        misses: list[Miss] = []
        candidates: list[Candidate] = []
        for key in self._usable(self.targets[0].keys, misses):
            matches = self._matches_at(key, knowns, must, misses)
            why = None if matches is None else self._why_unfiltered(key, matches)
            if why is not None:
                misses.append(Miss(key, why, 2))
            elif matches is not None:
                candidates.append((key, matches))
        if not candidates:
            raise self._no_key(misses)
        return self._holding(candidates)

    def _known_candidates(self) -> list[Candidate]:
        knowns = [self._knowns(entity) for entity in self.targets]
        return self._candidates(knowns, frozenset(name for element in knowns for name in self._must(element)))

    def _holding(self, candidates: list[Candidate]) -> list[Candidate]:
        """The keys whose index has all wanted fields, if any has, in the requested order."""
        wanted = (self.options.order_by or "").lstrip("-")
        holding = [
            candidate
            for candidate in candidates
            if not any(plan_checks.lacking_in_index(match) for match in candidate[1])
        ]
        fits = any(not wanted or ordered_by(matches, wanted) for _, matches in holding)
        return holding if fits and not self.options.complete else candidates

    def _matches_at(
        self, key: CompiledKey, knowns: Sequence[Mapping[str, Known]], must: frozenset[str], misses: list[Miss]
    ) -> tuple[KeyMatch, ...] | None:
        matches: list[KeyMatch] = []
        for entity, facts in zip(self.targets, knowns, strict=True):
            own = key if entity is self.targets[0] else same_place(entity, key)
            if own is None:
                misses.append(Miss(key, f"{entity.name} has no key on {key.place} with the same partition key", 2))
                return None
            match = self._match(entity, own, facts, must)
            if isinstance(match, Miss):
                misses.append(match)
                return None
            matches.append(match)
        if len({match.buckets for match in matches}) > 1:
            misses.append(Miss(key, "the time buckets of the key differ between the entities", 2))
            return None
        return tuple(matches)

    def _batch(self) -> BatchGetPlan | None:
        entity, *others = self.targets
        if self.shape.kind not in {ShapeKind.LIST, ShapeKind.COUNT} or others:
            return None
        knowns = self._knowns(entity)
        each = [name for name, known in knowns.items() if known.kind is ParameterKind.EACH]
        if not each:
            return None
        as_values = {
            name: replace(known, kind=ParameterKind.VALUE) if known.kind is ParameterKind.EACH else known
            for name, known in knowns.items()
        }
        match = self._match(entity, entity.primary, as_values, self._must(as_values))
        if entity.primary not in self._usable(entity.keys, []):
            return None
        if isinstance(match, KeyMatch) and match.full and self._filter((match,)) is None:
            self._refuse_order("BatchGetItem doesn't sort: items have the order of the parameter's values")
            return BatchGetPlan(entity, tuple(each), self.options.consistent)
        return None

    def _usable(self, keys: Iterable[CompiledKey], misses: list[Miss]) -> list[CompiledKey]:
        usable: list[CompiledKey] = []
        named = [key for key in keys if self._is_named(key)] if self.options.key is not None else []
        for key in keys:
            if named and key not in named:
                misses.append(Miss(key, "key= selects another key", NAMED_ELSEWHERE))
            elif self.options.consistent and key.index is not None and not key.index.local:
                misses.append(Miss(key, "global indexes don't support strongly consistent reads", 3))
            else:
                usable.append(key)
        return usable

    def _is_named(self, key: CompiledKey) -> bool:
        """Whether ``key=`` names the key, or another entity's key on the same index."""
        others = (same_place(target, key) for target in self.targets if key not in target.keys)
        return any(
            compiled_key is not None and compiled_key.declared == self.options.key for compiled_key in (key, *others)
        )

    def _rank(self, one: Candidate) -> tuple[bool, int, int, int, int]:
        return rank(one, self.constants)

    def _query(self, key: CompiledKey, matches: tuple[KeyMatch, ...], *, ordered: bool = True) -> QueryPlan:
        """The query of a key; ``ordered`` if the result's order matters."""
        if ordered and not any(match.order for match in matches) and not matches[0].each:
            self._refuse_order(f"the parameters fix all sort key fields of {key.name}")
        plan = QueryPlan(
            index=key.index,
            matches=matches,
            forward=self._direction(matches) if ordered else True,
            consistent=self.options.consistent,
            filter=self._filter(matches),
            each=matches[0].each,
            turns=ordered and self.direction is not None and any(match.order for match in matches),
        )
        if self.shape.kind is ShapeKind.COLLECTION:
            plan_checks.check_reach(self.shape, plan)
            if plan.turns:
                plan_checks.check_reach(self.shape, replace(plan, forward=not plan.forward))
        if self.options.complete:
            plan = plan_checks.completed(plan, self._ranged)
            plan_checks.check_sifted(plan.matches)
            return read_apart(plan, self.entities.values())
        plan = replace(plan, matches=tuple(map(plan_checks.asking_for_time, plan.matches)))
        plan_checks.check_projected(plan.matches, plan.filter)
        return read_apart(plan, self.entities.values())

    def _direction(self, matches: tuple[KeyMatch, ...]) -> bool:
        newest = bool(self.options.newest_first) or (self.options.order_by or "").startswith("-")
        open_field = unsorted(matches) if self.options.newest_first or self.direction is not None else None
        if open_field is not None:
            raise Problem(
                f"newest_first= sorts by {open_field}, but the key stores {open_field} as text in a different order",
                "omit newest_first=, or pad numbers and use one case in the key",
            )
        turned = {match.order[0][1] for match in matches if match.order}
        if len(turned) > 1:
            raise Problem("only some of the entities' keys are reversed (:desc), so the result has no common order")
        return (turned.pop() if turned else False) == newest

    def _filter(self, matches: tuple[KeyMatch, ...], held: frozenset[str] | None = None) -> Filter | None:
        """The filter for conditions that keys leave open; without keys, all. ``held``: the index's attributes."""
        entities = tuple(match.entity for match in matches) or self.targets
        rest = {
            name: value
            for name, value in self.constants.items()
            if not matches or any(name in match.entity.fields and name not in match.used for match in matches)
        }
        narrowed = {name for match in matches for name in match.narrowed}
        asked = [parameter for parameter in self.signature.parameters if parameter.name in narrowed]
        if not rest and not asked and self.filter_text is None:
            return None
        # Only designs with filters import the expression grammar.
        from keyplan.model.compiled.compiled_filters import filter_of  # noqa: PLC0415

        return filter_of(
            entities, rest, asked, self.signature, self.filter_text, plan_checks.attributes_held(matches) or held
        )

    # Reads through junctions

    def _junctions(self) -> list[tuple[CompiledEntity, dict[str, str]]]:
        junctions: list[tuple[CompiledEntity, dict[str, str]]] = []
        for through in junctions_of(self.options.through):
            if through.entity not in self.entities:
                raise Problem(f"{through.entity.__name__} isn't an entity of the table")
            junctions.append((self.entities[through.entity], dict(through.fields)))
        if not junctions:
            raise Problem("through= has no junction", "add a junction, or omit through=")
        return junctions

    def _through(self) -> ThroughPlan:
        if len(self.targets) != 1 or self.shape.kind is ShapeKind.COLLECTION or self.shape.told:
            raise Problem(
                "through= requires a result of one entity", "return the entity, or a Page, list or Iterator of entities"
            )
        if self.options.complete:
            raise Problem("complete= doesn't support junctions", "omit complete= or through=")
        first, *others = [self._way(junction, mapping) for junction, mapping in self._junctions()]
        if others:
            plan_checks.check_union([first, *others])
        return replace(first, also=tuple(others))

    def _way(self, junction: CompiledEntity, mapping: Mapping[str, str]) -> ThroughPlan:
        end = self.targets[0]
        for target, source in mapping.items():
            for owner, name in ((end, target), (junction, source)):
                if name not in owner.fields:
                    raise Problem(f"through= maps {target} to {source}, but {owner.name} has no field {name!r}")
        own = [condition.name for condition in self._conditions() if condition.name in junction.fields]
        rest = [condition.name for condition in self._conditions() if condition.name not in junction.fields]
        end_knowns = self._knowns(end, rest)
        for name in end.fields:
            source = mapping.get(name, name)
            if (
                name not in end_knowns
                and source in junction.fields
                and (name in mapping or not junction.fields[source].computed)
            ):
                end_knowns[name] = Known(name, ParameterKind.VALUE, "junction")
        must = frozenset(rest) | frozenset(mapping)
        second = self._one_end(end, end_knowns, must)
        # Queries of end items are merged in the order of their key. End items read by key have the junction's order.
        ordered = not (self.shape.many and isinstance(second, QueryPlan))
        first = self._for_junction(junction).junction_plan(junction, self._knowns(junction, own), ordered=ordered)
        elsewhere = {name for other, _ in self._junctions() for name in other.fields}
        unmet = [name for name in self.constants if name not in elsewhere]
        if isinstance(second, GetPlan) and any(name not in end.key_fields for name in unmet):
            raise Problem(
                f"where= filters by {', '.join(unmet)}, but each {end.name} is read by key, without a filter",
                f"store a copy of the value in {junction.name}, or filter the result in your code",
            )
        fields = {name: mapping.get(name, name) for name in fields_of(second) if end_knowns[name].source == "junction"}
        fixed = sorted(name for name in fields_of(second) if end_knowns[name].source == "constant")
        return ThroughPlan(first, second, fields, (*rest, *fixed), one=self.shape.kind is ShapeKind.ONE)

    def _for_junction(self, junction: CompiledEntity) -> _ReadCompiler:
        sub = _ReadCompiler(self.signature, replace(self.options, through=None, complete=False), self.entities)
        sub.targets = (junction,)
        sub.in_junction = True
        sub.constants = {name: value for name, value in self.constants.items() if name in junction.fields}
        return sub

    def junction_plan(
        self, junction: CompiledEntity, knowns: dict[str, Known], *, ordered: bool
    ) -> GetPlan | QueryPlan | ClaimPlan:
        """The plan that reads the junction's items. ``ordered``: whether the result has the order of these items."""
        must = self._must(knowns)
        if self.shape.kind is ShapeKind.ONE:
            return self._one(junction, knowns, must)
        result = self._candidates([knowns], must)
        if ordered:
            return self._query(*choose(result, self.options.order_by, self.constants))
        return self._query(*min(result, key=self._rank), ordered=False)

    def _one_end(self, end: CompiledEntity, knowns: Mapping[str, Known], must: frozenset[str]) -> GetPlan | QueryPlan:
        match = self._match(end, end.primary, knowns, must)
        if end.primary in self._usable(end.keys, []) and isinstance(match, KeyMatch) and match.full and not match.each:
            return GetPlan(end, self.options.consistent)
        candidates = self._candidates([knowns], must)
        if self.shape.many:
            return self._query(*choose(candidates, self.options.order_by, self.constants))
        full = [candidate for candidate in candidates if candidate[1][0].full]
        if not full:
            raise Problem(
                f"no key identifies one {end.name} by the junction's fields",
                f"return a Page, a list or an Iterator of {end.name}",
            )
        return self._query(*min(full, key=self._rank), ordered=False)

    # Errors

    def _no_key(self, misses: list[Miss]) -> Problem:
        return nothing_serves(", ".join(map(str, self._conditions())) or "no parameters", misses)


def junctions_of(through: Any) -> list[Through]:
    given = list(through) if isinstance(through, Sequence) else [through] if through is not None else []
    return [value if isinstance(value, Through) else Through(value) for value in given]


def named_in(where: Any) -> set[str]:
    return set(re.findall(r":(\w+)", where)) if isinstance(where, str) else set()
