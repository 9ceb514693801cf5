"""Sets planned keys in the design's classes temporarily, to compile and check them and to calculate their cost."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import prod
from typing import Any

from keyplan.analysis.check.checking import check
from keyplan.analysis.check.findings import Severity
from keyplan.analysis.explain.wording import key_names
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.errors import DesignError, ErrorDetail
from keyplan.model.compiled.compiled_design import CompiledDesign, compile_design
from keyplan.model.compiled.compiled_entities import compile_entity
from keyplan.model.compiled.compiler import compile_read
from keyplan.model.compiled.constants import domain_of
from keyplan.model.compiled.key_matching import AmbiguousKey
from keyplan.model.compiled.plan_checks import lacking_in_index
from keyplan.model.compiled.plans import Filter, KeyMatch, QueryPlan, ReadPattern, ScanPlan, ThroughPlan, plans_in
from keyplan.model.compiled.plans import Plan as ReadPlan
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key, Unique
from keyplan.model.declared.patterns import Options, Pattern, ReadMethod
from keyplan.model.declared.table import Table
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.planner.facts import DesignFacts, EntityFacts, fields_of
from keyplan.planner.plans import Plan, PlannedKey, weighed
from keyplan.planner.templates import Declared, KeyName

INCLUDED_MAX = 20
"""Attributes that an index can include. Source: "Service, account, and table quotas" in the developer guide."""


def compiled_plan(facts: DesignFacts, keys: Declared, traffic: Traffic | None) -> Plan:
    """The plan with these declarations; index projections are reduced if that costs less. Raises DesignError."""
    keys = replace(keys, named=_named_keys(facts, keys))
    whole = _compiled(facts, keys, traffic, completing=False)
    deployed = {
        key.index.name
        for cls, own in keys.keys.items()
        for name, key in own.items()
        if isinstance(key, Key) and key.index is not None and (cls, name) not in keys.served
    }
    completed = {name for name, pattern in facts.patterns.items() if pattern.options.complete}
    wide = {index.name for index in keys.indexes if index.projection == "ALL"} - deployed
    indexes = (_projected(each, whole.compiled, completed) if each.name in wide else each for each in keys.indexes)
    less = replace(keys, indexes=tuple(indexes))
    if completed:
        return _compiled(facts, less, traffic)
    if less.indexes != keys.indexes:
        with suppress(DesignError):
            made = _compiled(facts, less, traffic)
            if made.weight.usd < whole.weight.usd:
                return made
    return whole


def _compiled(facts: DesignFacts, keys: Declared, traffic: Traffic | None, *, completing: bool = True) -> Plan:
    with _applied(facts.cls, keys, completing=completing):
        compiled = compile_design(facts.cls, facts.namespace)
        facts.cls.compiled = compiled
        claims = sum(isinstance(key, Unique) for own in keys.keys.values() for key in own.values())
        weight = weighed(facts.cls, compiled, traffic, claims, len(keys.named) + len(keys.filters))
    served: dict[str, dict[str, None]] = {}
    for read in compiled.reads.values():
        for name in ", ".join(key_names(read.plan)).split(", "):
            served.setdefault(name, {})[read.place] = None
    planned = tuple(
        PlannedKey(cls, name, key, tuple(served.get(f"{cls.__name__}.{name}", ())), new=(cls, name) in keys.served)
        for cls, own in keys.keys.items()
        for name, key in own.items()
    )
    named = {place: f"{cls.__name__}.{name}" for place, (cls, name) in keys.named.items()}
    notes = (*_notes(planned, compiled, facts), *_reworded_notes(named, keys.filters))
    if not weight.hot:
        notes = (*notes, *_partition_notes(planned, facts.entities))
    return Plan(facts.cls, keys.indexes, planned, compiled, weight, notes, named=named, filters=keys.filters)


def checked(made: Plan, traffic: Traffic | None) -> Plan:
    """The plan with the checker's errors in its notes. Raises DesignError if a write would always fail."""
    with applied(made) as design:
        report = check(design, traffic)
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR and finding.counts]
    new = [key.name for key in made.keys if key.new]
    faults = [
        ErrorDetail(error.place, error.message, error.hint)
        for error in errors
        if error.code == "KP108" and any(re.search(rf"\bkey {re.escape(name)}\b", error.message) for name in new)
    ]
    if faults:
        raise DesignError("a write would always fail with these keys", place=made.design.__name__, errors=faults)
    notes = (f"{error.place}: {error.message} ({error.code}); {error.hint}" for error in errors)
    return replace(made, notes=(*made.notes, *notes))


# Compiled entities, and the keys that reads use


def compiled_entities(facts: DesignFacts, classes: Iterable[type[Entity]]) -> dict[type[Entity], CompiledEntity]:
    """Compile the entities with their current keys, and omit entities that don't compile."""
    compiled = {cls: compile_entity(cls, facts.cls.table, []) for cls in classes}
    return {cls: entity for cls, entity in compiled.items() if entity is not None}


def _named_keys(facts: DesignFacts, keys: Declared) -> dict[str, KeyName]:
    result: dict[str, KeyName] = {}
    ordered = {need.place: name for name, needs in keys.served.items() for need in needs if need.order is not None}
    orders = {need.place: need.order for needs in keys.served.values() for need in needs}
    with _applied(facts.cls, keys, completing=False):
        entities = compiled_entities(facts, keys.keys)
        for name, pattern in facts.patterns.items():
            if not isinstance(pattern, ReadMethod) or pattern.options.key is not None or name not in facts.signatures:
                continue
            signature, options = facts.signatures[name], pattern.options
            place = signature.place
            try:
                read = compile_read(signature, options, entities)
            except AmbiguousKey:
                pass
            except (Problem, KeyError):
                continue
            else:
                single = isinstance(read.plan, QueryPlan) and len(read.plan.matches) == 1
                made_for_order = place in ordered and options.order_by is None and ordering_field(read) != orders[place]
                if not single or not made_for_order:
                    continue
            for cls in facts.about(name):
                own = [(text, key) for text, key in keys.keys[cls].items() if isinstance(key, Key)]
                serving = [text for text, key in own if _serves(signature, replace(options, key=key), entities)]
                if place in ordered and ordered[place][0] is cls:
                    serving = [ordered[place][1]]
                if serving:
                    result[place] = cls, serving[0]
                    break
    return result


def _serves(signature: Any, options: Options, entities: Mapping[type[Entity], CompiledEntity]) -> bool:
    try:
        compile_read(signature, options, entities)
    except Problem:
        return False
    return True


def read_faults(facts: DesignFacts, keys: Declared) -> list[ErrorDetail]:
    faults: list[ErrorDetail] = []
    with _applied(facts.cls, keys, completing=False):
        entities = compiled_entities(facts, keys.keys)
        for name, signature in facts.signatures.items():
            pattern = facts.patterns[name]
            if isinstance(pattern, ReadMethod):
                try:
                    compile_read(signature, pattern.options, entities)
                except Problem as problem:
                    faults.append(ErrorDetail(signature.place, str(problem), problem.hint))
                except KeyError:
                    continue  # the entity has an error, which is reported separately
    return faults


def ordering_field(read: ReadPattern) -> str | None:
    plan = read.plan
    if isinstance(plan, ThroughPlan):
        plan = plan.end if isinstance(plan.end, QueryPlan) else plan.junction
    orders = [match.order[0][0] for match in plan.matches if match.order] if isinstance(plan, QueryPlan) else []
    return next(iter(orders), None)


# Fields that updates change


def with_updates(facts: DesignFacts, entities: Mapping[type[Entity], EntityFacts], keys: Declared) -> dict[Any, Any]:
    """The entities, with ``changing`` and ``unkeyable`` set from the design's writes. Raises DesignError."""
    changing: dict[type[Entity], set[str]] = {}
    unkeyable: dict[type[Entity], dict[str, str]] = {}
    keys = replace(keys, named=_named_keys(facts, keys))
    with _applied(facts.cls, keys, completing=False):
        compiled = facts.cls.compiled = compile_design(facts.cls, facts.namespace)
        analyzer = WriteAnalyzer(compiled, facts.cls)
        for pattern in compiled.writes.values():
            for action in analyzer.from_code(pattern).actions:
                if action.kind == "Update" and action.entity is not None:
                    cls = action.entity.cls
                    changing.setdefault(cls, set()).update(action.changes)
                    if not action.by_instance:
                        unkeyable.setdefault(cls, {}).update(dict.fromkeys(action.changes, pattern.place))
    return {
        cls: replace(entity, changing=frozenset(changing.get(cls, ())), unkeyable=unkeyable.get(cls, {}))
        for cls, entity in entities.items()
    }


# Notes


def _notes(keys: Iterable[PlannedKey], compiled: CompiledDesign, facts: DesignFacts) -> Iterator[str]:
    for read in compiled.reads.values():
        order = ordering_field(read)
        if read.options.newest_first is not None and read.options.order_by is None and order is not None:
            yield f"{read.place}: newest_first is assumed to order by {order}; to order by another field, use order_by="
        about = [entity for cls, entity in facts.entities.items() if cls in facts.about(read.name)]
        if any(order in entity.optional for entity in about) and order not in read.signature.by_name:
            yield f"{read.place}: items without {order} are omitted, because this optional field orders the result"
        if isinstance(read.plan, QueryPlan) and read.plan.filter is not None:
            yield f"{read.place}: the result is filtered after reading"
    for key in keys:
        if isinstance(key.key, Unique) and key.new:
            yield f"{key.place}: this claim makes the value unique; an index key would allow duplicates"
        for name in re.findall(r"\{(\w+):0(?:10|20)d", "".join(text for part in key.templates for text in part)):
            yield f"{key.place}: {name} is padded to its maximum number of digits; limit it with Field(ge=0, le=...)"


def _reworded_notes(named: Mapping[str, str], filters: Mapping[str, str]) -> Iterator[str]:
    for place, key in named.items():
        yield f"{place}: several keys support this pattern, each in a different order: add key={key} to its decorator"
    for place, text in filters.items():
        yield f'{place}: the other parameters identify the item, so add where="{text}" to the decorator, not an index'


def _partition_notes(keys: Iterable[PlannedKey], entities: Mapping[type[Entity], EntityFacts]) -> Iterator[str]:
    """The new keys with few partitions, which can become hot."""
    for key in keys:
        if not isinstance(key.key, Key) or not key.new or key.shards > 1:
            continue
        names = [name for text in key.templates[0] for name in fields_of(text)]
        if not names and (key.key.index is not None or any(map(fields_of, key.key.sort))):
            yield (
                f"{key.place}: all items of this key are in one partition, which supports 1,000 write units per "
                "second; with a traffic file, the planner adds shards if needed"
            )
        domains = [domain_of(entities[key.entity].kinds[name]) for name in names]
        if domains and None not in domains:
            count, by = prod(len(domain or ()) for domain in domains), ", ".join(names)
            yield f"{key.place}: this key has only {count} partitions, by {by}; each supports 1,000 write units/s"


# Projections


def _projected(index: Index, compiled: CompiledDesign, completed: Collection[str]) -> Index:
    """The index with only the attributes that are read from it, completed by the table."""
    keys_only = Index(index.name, index.partition, index.sort, projection="KEYS_ONLY", local=index.local)
    included: dict[str, None] = {}
    for read in compiled.reads.values():
        for matches, condition in _reads_of(read.plan, index):
            for match in matches if read.name not in completed else ():
                lacking = lacking_in_index(replace(match, key=replace(match.key, index=keys_only)))
                if lacking and match.entity.asked is None:
                    return index
                included |= dict.fromkeys(match.entity.fields[name].attribute for name in lacking)
            included |= dict.fromkeys(_filtered(condition, matches))
    if len(included) > INCLUDED_MAX:
        return index
    return Index(index.name, index.partition, index.sort, projection=tuple(included) or "KEYS_ONLY", local=index.local)


def _reads_of(plan: ReadPlan, index: Index) -> Iterator[tuple[tuple[KeyMatch, ...], Filter | None]]:
    """The keys by which a plan reads the index, and what it filters there."""
    for each in plans_in(plan):
        if isinstance(each, QueryPlan | ScanPlan) and each.index is not None and each.index.name == index.name:
            if isinstance(each, QueryPlan):
                yield each.matches, each.filter
                continue
            own = ((entity, key) for entity in each.entities for key in entity.index_keys if key.index == each.index)
            matches = (KeyMatch(entity, key, (), (), frozenset(), (), full=False) for entity, key in own)
            yield tuple(matches), each.filter


def _filtered(condition: Filter | None, matches: tuple[KeyMatch, ...]) -> Iterator[str]:
    """The attributes that a filter names, except those of the keys."""
    keyed = [pair for match in matches for pair in (*match.entity.primary.attributes, *match.key.attributes)]
    keys = {attribute.name for attribute, _ in keyed}
    for value in re.findall(r"(?<!\.)#\w+", "" if condition is None else condition.text):
        if condition is not None and condition.names[value] not in keys:
            yield condition.names[value]


# Planned keys in the classes


@contextmanager
def applied(plan: Plan) -> Generator[type[Any]]:
    """Set a plan's keys in the design's class while the block runs, so that the class can be verified or opened."""
    keys: dict[type[Entity], dict[str, Key | Unique]] = {}
    for key in plan.keys:
        keys.setdefault(key.entity, {})[key.name] = key.key
    places = {key.place: (key.entity, key.name) for key in plan.keys}
    named = {place: places[text] for place, text in plan.named.items()}
    with _applied(plan.design, Declared(plan.indexes, keys, {}, named, plan.filters)):
        plan.design.compiled = plan.compiled
        yield plan.design


@contextmanager
def _applied(cls: type[Any], keys: Declared, *, completing: bool = True) -> Generator[None]:
    """The design's classes with only these keys. Not ``completing``: without completing items from the table."""
    table: Table = cls.table
    changed = list(_changed_options(cls, keys, completing=completing))
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
        for pattern, _, options in changed:
            pattern.options = options
        yield
    finally:
        for pattern, options, _ in changed:
            pattern.options = options
        for entity, own in keys.keys.items():
            for name in own:
                type.__delattr__(entity, name)
        if "compiled" in vars(cls):
            del cls.compiled
        for owner, name, value in kept:
            type.__setattr__(owner, name, value)


def _changed_options(cls: type[Any], keys: Declared, *, completing: bool) -> Iterator[tuple[Pattern, Options, Options]]:
    """The patterns whose options the keys change: with the options that they have, and the new ones."""
    by_name = {index.name: index for index in keys.indexes}
    bases = reversed(cls.__mro__)
    patterns = {name: value for base in bases for name, value in vars(base).items() if isinstance(value, Pattern)}
    there = [key for own in keys.keys.values() for key in own.values()]
    for name, pattern in patterns.items():
        place, given = f"{cls.__name__}.{name}", pattern.options
        whole = None if given.scan_index is None else by_name.get(given.scan_index.name, given.scan_index)
        where = keys.filters.get(place, given.where)
        options = replace(given, scan_index=whole, where=where, complete=given.complete and completing)
        if place in keys.named:
            entity, key_name = keys.named[place]
            key = keys.keys[entity][key_name]
            options = replace(options, key=key if isinstance(key, Key) else None)
        elif given.key is not None and given.key not in there:  # keep the order that a removed key determined
            options = replace(options, key=None, order_by=given.order_by or _order_meant(pattern))
        if options != given:
            yield pattern, given, options


def _order_meant(pattern: Pattern) -> str | None:
    """The field that orders a result by the key that the pattern names: the first that it leaves open."""
    key, where = pattern.options.key, pattern.options.where
    fields = [name for text in (() if key is None else key.sort) for name in fields_of(text)]
    known = {*inspect.signature(pattern.function).parameters, *(where if isinstance(where, Mapping) else ())}
    return next((name for name in fields if name not in known), None)
