"""The steps that fill a store, as data that hypothesis generates. ``model.py`` executes the steps. A step refers to an
item by a number (modulo the number of items), so that the step stays valid if earlier steps are removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import ValidationError

from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern, entities_in
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.signatures import Parameter
from keyplan.model.declared.actions import Add, Append, SetAdd, SetRemove
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import is_optional, kind_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField
from keyplan.testing.pattern_checks import entities_of_plan
from keyplan.testing.samples import strategy_for

RUNS = 6
RUN_MAX = 12
FAMILY_MAX = 6
CALLS = 8
PICK = st.integers(0, 40)
FOREIGN_FORMS = ("{key}#", "#{key}", "OTHER#1", "1", "~")
"""Sort keys of other programs' items: similar to a stored item's, or in a different format."""

Own = Mapping[Any, SearchStrategy[Any]]


@dataclass(frozen=True, slots=True)
class Write:
    """Create or put a new instance."""

    instance: Entity
    create: bool


@dataclass(frozen=True, slots=True)
class Family:
    """Put an instance, and copies with one to three changed fields, so that the items share partitions."""

    entity: CompiledEntity
    instance: Entity
    changes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Copy:
    """Create or put a copy of a stored item with some changed fields, so that the items share parts of keys."""

    entity: CompiledEntity
    pick: int
    changes: Mapping[str, Any]
    create: bool


@dataclass(frozen=True, slots=True)
class Change:
    """Update some fields of a stored item. ``stale``: use an instance that was read before the last change."""

    entity: CompiledEntity
    pick: int
    changes: Mapping[str, Any]
    stale: bool


@dataclass(frozen=True, slots=True)
class Erase:
    """Delete a stored item, or one that was deleted before (``stale``)."""

    entity: CompiledEntity
    pick: int
    stale: bool


@dataclass(frozen=True, slots=True)
class Age:
    """Rewrite an item as an older design would: without fields that have defaults, with an undeclared attribute."""

    entity: CompiledEntity
    pick: int
    fields: int


@dataclass(frozen=True, slots=True)
class Foreign:
    """Write another program's item: a copy of a stored item in its partition, with a sort key in another format."""

    entity: CompiledEntity
    pick: int
    form: str


@dataclass(frozen=True, slots=True)
class Call:
    """Call a write with stored or ``fresh`` values. ``arranged``: first create the items that the write needs."""

    pattern: WritePattern
    picks: Mapping[str, int]
    fresh: Mapping[str, Any]
    arranged: bool


Step = Write | Family | Copy | Change | Erase | Age | Foreign | Call


class Steps:
    """Strategies for the steps of a design."""

    def __init__(self, design: CompiledDesign, own: Own, owner: type[Any] | None = None) -> None:
        """``owner``: the design's class, for the constants in the code of its writes."""
        self.design = design
        self.own = own
        self._constants = _constants(design, owner)
        self.entities = {entity.cls: self._entity(entity) for entity in design.entities.values()}
        """The strategy of each entity's instances."""

    def strategy(self) -> SearchStrategy[list[Step]]:
        kinds: list[SearchStrategy[Any]] = []
        for entity in self.design.entities.values():
            kinds += [self._write(entity), self._family(entity), self._copy(entity), self._change(entity)]
        entities = st.sampled_from(list(self.design.entities.values()))
        kinds += [
            st.builds(Erase, entities, PICK, st.booleans()),
            st.builds(Age, entities, PICK, st.integers(0, 1 << 16))
            | st.builds(Foreign, entities, PICK, st.sampled_from(FOREIGN_FORMS)),
        ]
        calls = [self._call(pattern) for pattern in self.design.writes.values()]
        search_strategy = st.one_of(kinds)
        if calls:
            search_strategy = search_strategy | st.one_of(calls)
        # Several lists, because one list is short on average, whatever its maximum length
        runs = st.tuples(*[st.lists(search_strategy, max_size=RUN_MAX)] * RUNS)
        return runs.map(lambda lists: [step for value in lists for step in value])

    def families(self, entities: Sequence[CompiledEntity]) -> SearchStrategy[list[Step]]:
        """Lists of steps that store several items of each of these entities, in shared partitions."""
        steps = [
            step for entity in entities for step in (self._family(entity), self._family(entity), self._change(entity))
        ]
        return st.tuples(*steps).map(list)

    def calls(self, pattern: str) -> SearchStrategy[list[Step]]:
        """Lists of steps that mostly call one write."""
        calls = st.lists(
            self._call(self.design.writes[pattern], arranged=st.just(True)), min_size=CALLS, max_size=CALLS
        )
        return st.tuples(self.strategy(), calls).map(lambda both: [*both[0], *both[1]])

    def _entity(self, entity: CompiledEntity) -> SearchStrategy[Entity]:
        if entity.cls in self.own:
            return self.own[entity.cls]
        names = [field.name for field in _plain(entity)]
        fields = st.fixed_dictionaries({name: self._field(entity, name) for name in names})
        built: SearchStrategy[Any] = fields.map(lambda chosen: _built(entity, chosen))
        return built.filter(lambda value: value is not None)

    def _field(self, entity: CompiledEntity, name: str) -> SearchStrategy[Any]:
        if name in self.own:
            return self.own[name]
        field = entity.fields[name]
        strategy = strategy_for(field.annotation, self.own, self._constants.get((entity.name, name), ()))
        if field.optional and kind_of(field.annotation) in {set, frozenset}:
            return strategy.filter(
                lambda value: value is None or bool(value)
            )  # an empty set isn't stored, and reads as None
        return strategy

    def _write(self, entity: CompiledEntity) -> SearchStrategy[Step]:
        return st.builds(Write, self.entities[entity.cls], st.booleans())

    def _family(self, entity: CompiledEntity) -> SearchStrategy[Step]:
        named = [field for field in _plain(entity) if field.name in entity.key_fields]
        changes = self._some(entity, [*named, *named, *_plain(entity)], plain=True)
        several = st.lists(changes, min_size=1, max_size=FAMILY_MAX)
        return st.builds(Family, st.just(entity), self.entities[entity.cls], several)

    def _copy(self, entity: CompiledEntity) -> SearchStrategy[Step]:
        return st.builds(Copy, st.just(entity), PICK, self._some(entity, _plain(entity), plain=True), st.booleans())

    def _change(self, entity: CompiledEntity) -> SearchStrategy[Step]:
        changeable = [field for field in _plain(entity) if field.name not in entity.key_fields]
        if not changeable:
            return st.builds(Erase, st.just(entity), PICK, st.booleans())
        changes = self._some(entity, changeable, plain=False)
        return st.builds(Change, st.just(entity), PICK, changes, st.booleans())

    def _some(
        self, entity: CompiledEntity, fields: list[StoredField], *, plain: bool
    ) -> SearchStrategy[dict[str, Any]]:
        """New values of one to three fields, or changes that depend on stored values."""
        pairs = [st.tuples(st.just(field.name), self._new(entity, field, plain=plain)) for field in fields]
        return st.lists(st.one_of(pairs), min_size=1, max_size=3, unique_by=lambda pair: pair[0]).map(dict)

    def _new(self, entity: CompiledEntity, field: StoredField, *, plain: bool) -> SearchStrategy[Any]:
        value = self._field(entity, field.name)
        kind = kind_of(field.annotation)
        if plain or field.name in self.own or field.annotation in self.own:
            return value
        if kind is int and field.annotation in {int, int | None}:
            return value | st.sampled_from([1, 2, 90]).map(Add)
        if kind in {set, frozenset}:
            some = value.filter(bool)
            return value | some.map(SetAdd) | some.map(SetRemove)
        if kind is list:
            return value | value.filter(bool).map(Append)
        return value

    def _call(self, pattern: WritePattern, arranged: SearchStrategy[bool] = st.booleans()) -> SearchStrategy[Step]:  # noqa: B008 - strategies are immutable
        parameters = pattern.signature.parameters
        fresh = st.fixed_dictionaries(
            {parameter.name: self._argument(parameter) for parameter in parameters if parameter.required},
            optional={parameter.name: self._argument(parameter) for parameter in parameters if not parameter.required},
        )
        # Half of the time, all arguments use the same pick, so that their values come from one stored item
        together = PICK.map(lambda pick: {parameter.name: pick for parameter in parameters})
        apart = st.fixed_dictionaries({}, optional={parameter.name: PICK for parameter in parameters})
        return st.builds(Call, st.just(pattern), together | apart, fresh, arranged)

    def _argument(self, parameter: Parameter) -> SearchStrategy[Any]:
        if parameter.name in self.own:
            return self.own[parameter.name]
        classes = [entity_class for entity_class in entities_in(parameter.annotation) if entity_class in self.entities]
        if classes:
            strategy = st.one_of([self.entities[class_] for class_ in classes])
            kind = kind_of(parameter.annotation)
            if kind in {list, tuple}:
                return st.lists(strategy, max_size=3).map(kind)
            return st.none() | strategy if is_optional(parameter.annotation) else strategy
        return strategy_for(parameter.annotation, self.own)


def _constants(design: CompiledDesign, owner: type[Any] | None) -> dict[tuple[str, str], list[Any]]:
    """By entity and field, the constants that the design compares it with."""
    result: dict[tuple[str, str], list[Any]] = {}
    for entity in design.entities.values():
        for key in entity.index_keys:
            for name, values in key.when.items():
                result.setdefault((entity.name, name), []).extend(values)
    for pattern in design.reads.values():
        for entity in entities_of_plan(pattern.plan):
            for name, constant in pattern.constants.items():
                result.setdefault((entity.name, name), []).extend(values_asked(constant))
    analyzer = WriteAnalyzer(design, owner)
    for write in design.writes.values():
        for name, field, value in analyzer.from_code(write).code.compared:
            result.setdefault((name, field), []).append(value)
    return result


def _plain(entity: CompiledEntity) -> list[StoredField]:
    """The fields that a caller sets: not computed ones, nor the version."""
    return [field for field in entity.fields.values() if not field.computed and field is not entity.version]


def _built(entity: CompiledEntity, values: Mapping[str, Any]) -> Entity | None:
    try:
        return entity.cls.model_validate(dict(values), by_name=True)
    except ValidationError:
        return None


SECONDS_MAX = 20.0
"""How long a failure is shrunk before it is reported."""
NUMBERS = 3
"""Sets of calls that a smaller store must pass before it counts as correct."""

Fails = Callable[[list[Step], int], AssertionError | None]


def smallest(steps: list[Step], number: int, fails: Fails) -> AssertionError | None:
    """The failure of a minimal list of steps; None if the failure isn't reproducible. ``number`` selects the calls."""
    failure = fails(steps, number)
    if failure is None:
        return None
    deadline = time.monotonic() + SECONDS_MAX
    size = max(len(steps) // 2, 1)
    while time.monotonic() < deadline:
        for candidate in _without(steps, size) if size else _simpler(steps):
            result = _failure(candidate, number, fails)
            if result is not None:
                steps, (number, failure) = candidate, result
                break
            if time.monotonic() >= deadline:
                break
        else:
            if not size:
                break
            size //= 2
    return failure


def _failure(steps: list[Step], number: int, fails: Fails) -> tuple[int, AssertionError] | None:
    for other in range(number, number + NUMBERS):
        failure = fails(steps, other)
        if failure is not None:
            return other, failure
    return None


def _without(steps: list[Step], size: int) -> Iterator[list[Step]]:
    """The steps without ``size`` consecutive ones, the last ones first."""
    for start in range(len(steps) - size, -1, -size):
        yield [*steps[:start], *steps[start + size :]]


def _simpler(steps: list[Step]) -> Iterator[list[Step]]:
    for position, step in enumerate(steps):
        for simpler in _parts(step):
            yield [*steps[:position], simpler, *steps[position + 1 :]]


def _parts(step: Step) -> Iterator[Step]:
    match step:
        case Family():
            yield Write(step.instance, create=bool(step.entity.claims))
            for position in range(len(step.changes)):
                yield replace(step, changes=[element for at, element in enumerate(step.changes) if at != position])
        case Copy() | Change() if len(step.changes) > 1:
            for named in step.changes:
                yield replace(step, changes={name: value for name, value in step.changes.items() if name != named})
        case _:
            return
