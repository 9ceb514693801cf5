"""Typical calls of writes: arguments for them, and a world in which they find what they expect.

A write decides by what it finds: one that publishes wants a draft. So it is tried with typical items first, then with
other values, as the branch that it raised in asks for them (``hindsight.py``), then with those of fields that have few
(a status, a flag, a number at its bound), until it goes through: up to ``TRIALS_MAX`` times, and cut off from the world
outside (``guard.py``).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from itertools import chain, combinations, islice, product
from typing import Any, NamedTuple

from pydantic import ValidationError

from keyplan.analysis.rehearsal.finds import ITEMS_ASSUMED, Finds
from keyplan.analysis.rehearsal.guard import OutsideError, cut_off
from keyplan.analysis.rehearsal.hindsight import Hindsight, Turn, other_values
from keyplan.analysis.rehearsal.running import Asked, Refused, Rehearsal, StoredItem, rehearse
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.dynamodb.values import Item
from keyplan.errors import ArgumentError, ItemExists, KeyplanError
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern, entities_in
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import Member, ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind
from keyplan.model.declared.actions import Action, Create, Put
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import accepted_value, choices_of, typical_value
from keyplan.model.declared.fields import is_optional, kind_of
from keyplan.model.declared.parameters import Page
from keyplan.model.declared.pattern_load import Load
from keyplan.model.stored.stored_entity import CompiledEntity, error_details_of
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.model.stored.stored_views import shrunk

__all__ = ["TRIALS_MAX", "Tried", "try_write"]

TRIALS_MAX = 100
"""How often a write's body is run at the most, to find a call that goes through."""
IDLE_MAX = 5
"""Fields, and values of each, that are tried so that a call changes them."""
CALLS_MAX = 12
"""Combinations of arguments of which there are few values."""
ELEMENTS = 3
"""Items of a list argument."""
ANSWER_MAX = 200
"""Items that a read within a write is answered with at the most."""

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Tried:
    """What came of trying a write: ``rehearsal`` is that of the first call that went through, and wrote something;
    None where there is none, for the reason in ``failure``. ``notes`` say what was assumed; ``arguments`` are the
    call's, and ``there`` are the items that it was supposed to find. ``refused``: what the client refused, in all
    runs; ``outside``: what the body does besides, and was kept from. ``runs``: how often it was run. ``errors``: what
    it raised by itself, in each run.
    """

    rehearsal: Rehearsal | None
    notes: tuple[str, ...] = ()
    failure: str | None = None
    arguments: Fields = field(default_factory=dict[str, Any])
    there: tuple[Entity, ...] = ()
    refused: tuple[Refused, ...] = ()
    errors: tuple[Exception, ...] = ()
    outside: tuple[str, ...] = ()
    runs: int = 0


@dataclass(frozen=True)
class _Trial:
    """What one trial supposes: values of fields of what is there (by entity and field), reads that find nothing, and
    in how far arguments are other than what is there: ``numbers`` (else they are the same), ``choices`` by parameter,
    ``new``: entities that a call gives beside the key of one are others than that one. ``over``: what is created may
    stand there already.
    """

    fields: Mapping[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])
    missing: frozenset[str] = frozenset()
    numbers: bool = True
    choices: Fields = field(default_factory=dict[str, Any])
    new: bool = False
    over: bool = False

    def notes(self) -> Iterator[str]:
        """What is supposed, in words."""
        if self.fields:
            yield "where " + ", ".join(f"{entity}.{name} is {value!r}" for (entity, name), value in self.fields.items())
        yield from (f"{name} finds nothing" for name in sorted(self.missing))
        if self.choices:
            yield f"called with {', '.join(f'{name}={value!r}' for name, value in self.choices.items())}"


class _Failed(NamedTuple):
    """A trial that raised, and what it had."""

    trial: _Trial
    error: BaseException
    arguments: Fields
    there: list[Entity]


@dataclass
class _TypicalWorld:
    """A store in which whatever is asked for is there, typically."""

    design: CompiledDesign
    typical: Typical
    finds: Finds
    trial: _Trial
    notes: list[str] = field(default_factory=list[str])
    asked: dict[str, None] = field(default_factory=dict[str, None])
    there: list[Entity] = field(default_factory=list[Entity])

    def ask(self, pattern: ReadPattern, arguments: dict[str, Any]) -> Asked:
        """A read with a typical answer of the pattern's shape."""
        if pattern.shape.optional:
            self.asked[pattern.name] = None
        if pattern.name in self.trial.missing:
            return Asked(pattern, arguments, nothing=True)
        constants = {name: values_asked(value)[0] for name, value in pattern.constants.items()}
        return Asked(pattern, arguments, self._answer(pattern, {**arguments, **constants}))

    def instance(self, entity: CompiledEntity, known: Fields, serial: int = 0) -> Entity:
        """A typical instance with these values and those of the trial."""
        result = self._made(entity, known, serial)
        self.there.append(result)
        return result

    def _made(self, entity: CompiledEntity, known: Fields, serial: int) -> Entity:
        own = {name: value for (owner, name), value in self.trial.fields.items() if owner == entity.name}
        return self.typical.instance(entity, {**own, **known}, serial)

    def item(self, instance: Entity) -> Item:
        """The item of an instance."""
        return self.typical.item(instance)

    def before(self, entity: CompiledEntity, known: Fields, action: Action) -> StoredItem | None:
        """A typical item of that key, or the instance that the action is given; for a Put what was read under that key,
        if anything was.
        """
        if isinstance(action, Create):
            if self._standing(entity, known) is not None and not self.trial.over:
                raise _StandingError(f"a {entity.name} that was read is created")
            return None
        if isinstance(action, Put):
            replaced = self._standing(entity, known)
            return None if replaced is None else (replaced, self.item(replaced))
        target = getattr(action, "target", None)
        if not isinstance(target, Entity):
            target = self.instance(entity, known)
        elif target not in self.there:
            self.there.append(target)
        return target, self.item(target)

    def _standing(self, entity: CompiledEntity, known: Fields) -> Entity | None:
        """What was said to be there under the key of these field values."""
        key = entity.item_key(entity.primary, known)
        own = (element for element in self.there if type(element) is entity.cls)
        return next(
            (element for element in own if entity.item_key(entity.primary, entity.field_values(element)) == key), None
        )

    def claim(self, entity: CompiledEntity, claim: CompiledKey, known: Fields) -> Item | None:
        """The claim's item."""
        return entity.claim_item(claim, known)

    def _answer(self, pattern: ReadPattern, known: Fields) -> Any:
        shape = pattern.shape
        parameters = pattern.signature.by_name
        equal = {
            name: value
            for name, value in known.items()
            if name not in parameters or parameters[name].kind is ParameterKind.VALUE
        }
        entities = [self.design.entities[cls] for cls in shape.entities]
        if shape.kind is ShapeKind.EXISTS:
            return True
        if shape.kind is ShapeKind.COUNT:
            return self.finds.items(pattern, known)
        if shape.kind is ShapeKind.ONE:
            return self._given(pattern, self._same(entities[0], equal) or self.instance(entities[0], equal))
        if shape.kind is ShapeKind.COLLECTION:
            return shape.factory(**{member.name: self._member(member, equal) for member in shape.members})
        each = [parameter.name for parameter in parameters.values() if parameter.kind is ParameterKind.EACH]
        if each:
            combined = itertools.product(*(known[name] for name in each))
            result = [
                self._given(pattern, self.instance(entities[0], {**equal, **dict(zip(each, element, strict=True))}))
                for element in itertools.islice(combined, ANSWER_MAX if len(each) > 1 else None)
            ]
        else:
            count = self.finds.items(pattern, known)
            if count > ANSWER_MAX:
                self.notes.append(f"{pattern.name}: {ANSWER_MAX} of {count:,} items were given to the write")
            given = range(min(count, ANSWER_MAX))
            result = [self._given(pattern, self.instance(entities[at % len(entities)], equal, at)) for at in given]
        return Page(result, None) if shape.kind is ShapeKind.PAGE else result

    def _same(self, entity: CompiledEntity, known: Fields) -> Entity | None:
        """What was said to be there with these values."""
        own = (element for element in self.there if type(element) is entity.cls)
        names = known.keys() & entity.cls.model_fields.keys()
        return next((item for item in own if names and all(getattr(item, name) == known[name] for name in names)), None)

    def _member(self, member: Member, known: Fields) -> Any:
        entity = self.design.entities[member.entity]
        view = None if member.gives is member.entity else member.gives
        if not member.many:
            return shrunk(self.instance(entity, known), view)
        usual = self.finds.per_partition(entity)
        count = min(ITEMS_ASSUMED if usual is None else usual, ANSWER_MAX)
        return [shrunk(self.instance(entity, known, at), view) for at in range(count)]

    def _given(self, pattern: ReadPattern, instance: Entity) -> Any:
        """The instance as the pattern gives it: whole, or as a view."""
        return shrunk(instance, pattern.shape.views.get(type(instance)))


def try_write(
    design: CompiledDesign, cls: type[Any], pattern: WritePattern, typical: Typical, traffic: Traffic
) -> Tried:
    """Try a write until a call goes through and writes something, and say what came of it."""
    return _Trying(design, cls, pattern, typical, traffic).tried()


class _StandingError(ItemExists):
    """A trial creates what it was said to have found: in a store that can't go through."""


class CalledWithinError(TypeError):
    """A write calls a pattern, where it should ask or join it."""


class _NoAnswers:
    """What patterns are called by on a design that isn't open."""

    def __getitem__(self, name: str) -> Any:
        raise CalledWithinError(
            f"it calls self.{name}(...): a write asks by `yield from self.{name}.read(...)`, "
            "so that what it found is known when it is written"
        )

    def __contains__(self, name: str) -> bool:
        return True


class _NoVerbs:
    """What verbs and writes are called by on a design that isn't open."""

    def write(self, make: object, place: str, attempts: int) -> None:  # noqa: ARG002 - as the client's
        name = place.rpartition(".")[2]
        raise CalledWithinError(
            f"it calls self.{name}(...): a write carries out another by `yield from self.{name}.join(...)`, "
            "in the same transaction"
        )

    def __getattr__(self, name: str) -> Any:
        raise CalledWithinError(
            f"it calls self.{name}(...): a write yields its actions, `yield Put(...)`, and asks by the design's "
            "patterns, `yield from self.pattern.read(...)`"
        )


class _Trying:
    """The trials of one write."""

    def __init__(
        self, design: CompiledDesign, cls: type[Any], pattern: WritePattern, typical: Typical, traffic: Traffic
    ) -> None:
        self.design = design
        self.pattern = pattern
        self.typical = typical
        self.finds = Finds(traffic)
        load = traffic.patterns.get(pattern.name, Load())
        self.given = load.arguments or {}
        self.in_transaction = bool(load.in_transaction)
        self.nowhere = object.__new__(cls)  # a design on no store: a write reaches it by its reads' ``ask`` alone
        vars(self.nowhere).update(_answers=_NoAnswers(), _verbs=_NoVerbs())
        self.asked: dict[str, None] = {}
        self.first: str | None = None
        self.empty: Tried | None = None
        self.refused: dict[tuple[int | None, str], Refused] = {}
        self.errors: dict[str, Exception] = {}
        self.outside: dict[str, None] = {}
        self.runs = 0
        self.hindsight = Hindsight(design, pattern.signature.by_name)
        self.failed: list[_Failed] = []
        self.standing: _Trial | None = None
        """The first trial that created what it had found."""
        self.suggested: dict[str, frozenset[Turn]] = {}
        """By trial, what was suggested together with it."""

    def tried(self) -> Tried:
        result: Tried | None = None
        for trial in islice(self._trials(), TRIALS_MAX):
            result = self._once(trial)
            if result is not None:
                result = self._stirred(result, trial)
                break
        if result is None and self.standing is not None:
            result = self._once(replace(self.standing, over=True))
        result = result or self.empty or Tried(None, (), f"{self.first} (say arguments in the traffic file)")
        noted = tuple(self.refused.values()), tuple(self.errors.values()), tuple(self.outside)
        return replace(result, refused=noted[0], errors=noted[1], outside=noted[2], runs=self.runs)

    def _trials(self) -> Iterator[_Trial]:
        """What to suppose: the likely first, then what would have kept failed trials from failing, then anything."""
        yield from _likely(self.design, self.pattern, self.asked)
        yield from self._turned()
        yield from _unlikely(self.design, self.pattern, self.asked)

    def _turned(self) -> Iterator[_Trial]:
        """What would have kept failed trials from failing; then at once what that trial needs in its turn."""
        ways: list[Iterator[_Trial]] = [chain.from_iterable(map(self._suggested, [*self.failed]))]
        while ways:
            trial = next(ways[-1], None)
            if trial is None:
                ways.pop()
                continue
            self.failed.clear()
            yield trial
            ways += [iter(self._suggested(failed)) for failed in self.failed]

    def _stirred(self, result: Tried, trial: _Trial) -> Tried:
        """The same call on items whose fields aren't yet what it sets them to, as those of a real call mostly aren't:
        of fields in keys, where that makes a difference. Where none such goes through, the call as it is.
        """
        idle = () if result.rehearsal is None else sorted(result.rehearsal.idle)[:IDLE_MAX]
        for place in idle:
            entity = self.design.by_name[place[0]]
            stored = entity.fields[place[1]]
            others = [*other_values(stored.annotation, stored.bounds), typical_value(stored.annotation, stored.name, 7)]
            ways = [trial.missing, *(trial.missing | {name} for name in self.asked)]
            for value, missing in product(others[:IDLE_MAX], ways):
                other = replace(trial, fields={**trial.fields, place: value}, missing=missing)
                tried = self._once(other) if self.runs < TRIALS_MAX else None
                if tried is not None and tried.rehearsal is not None and place not in tried.rehearsal.idle:
                    result, trial = tried, other
                    break
        return result

    def _once(self, trial: _Trial) -> Tried | None:
        """What came of one run, if that settles it."""
        world = _TypicalWorld(self.design, self.typical, self.finds, trial)
        arguments: Fields = {}
        try:
            arguments = _arguments(self.design, self.pattern, world, self.given)
            world.there.clear()  # what is given isn't there yet
            self.runs += 1
            with cut_off() as outside:
                make = partial(self.pattern.function, self.nowhere, **arguments)
                rehearsal = rehearse(self.design, world, make, joined=self.in_transaction)
        except Problem as problem:
            return Tried(None, (), str(problem) + (f" ({problem.hint})" if problem.hint else ""))
        except OutsideError as error:
            self.outside[error.what] = None
            return Tried(None, (), f"it {error.what}, which isn't done while it is tried")
        except Refused as refused:
            self.refused.setdefault((refused.line, str(refused.error)), refused)
            self._failed(refused.error, world)
            if isinstance(refused.error, _StandingError):
                self.standing = self.standing or trial
            return None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a write is its author's code, and nothing is at stake
            self.errors.setdefault(str(error), error if isinstance(error, Exception) else RuntimeError("it exits"))
            self._failed(error, world)
            self.failed.append(_Failed(trial, error, arguments, world.there))
            return None
        self.outside.update(dict.fromkeys(outside))
        self.asked |= world.asked
        if not trial.over and _takes_what_is_taken(self.design, world.there, rehearsal):
            self._failed(_StandingError("it claims a value that another item has"), world)
            self.standing = self.standing or trial
            return None
        notes = tuple(dict.fromkeys([*trial.notes(), *world.notes]))
        if rehearsal.items:
            return Tried(rehearsal, notes, None, arguments, _still_there(self.design, world.there, rehearsal))
        self.empty = self.empty or Tried(rehearsal, (*notes, "it finds nothing to write"), None, arguments)
        return None

    def _failed(self, error: BaseException, world: _TypicalWorld) -> None:
        self.first = self.first or _said(error)
        self.asked |= world.asked

    def _suggested(self, failed: _Failed) -> list[_Trial]:
        """The trials that may come further than that one, each once."""
        trial = failed.trial
        try:
            with cut_off():
                turns = list(self.hindsight.turns(failed.error, failed.arguments, failed.there))
                together = frozenset(turns)
            if together == self.suggested.get(repr(trial)):
                return []  # it came no further than the trial that suggested it
        except Exception:  # noqa: BLE001 - values of the author's types, whose comparison may raise
            return []
        result: list[_Trial] = []
        for turn in turns:
            if turn.entity:
                other = replace(trial, fields={**trial.fields, (turn.entity, turn.name): turn.value})
            elif turn.name not in self.given:
                other = replace(trial, choices={**trial.choices, turn.name: turn.value})
            else:
                continue
            if repr(other) not in self.suggested:
                self.suggested[repr(other)] = together
                result.append(other)
        return result


def _takes_what_is_taken(design: CompiledDesign, there: list[Entity], rehearsal: Rehearsal) -> bool:
    """Whether the call claims a unique value that belongs to what was there, and isn't given up by it."""
    names = design.table.key_names
    changes = [mutation for mutation in rehearsal.mutations if mutation.what.startswith(("claim ", "release "))]
    if not changes:
        return False
    released = [{name: each.before[name] for name in names} for each in changes if each.before is not None]
    claimed = [{name: each.after[name] for name in names} for each in changes if each.after is not None]
    for instance in there:
        entity = design.entities[type(instance)]
        values = entity.field_values(instance)
        held = [entity.item_key(claim, values) for claim in entity.claims if claim.member(values)]
        if any(key in claimed and key not in released for key in held):
            return True
    return False


def _still_there(design: CompiledDesign, there: list[Entity], rehearsal: Rehearsal) -> tuple[Entity, ...]:
    """What the call found, without what it is the first to write."""
    names = design.table.key_names
    made = [
        mutation.after for mutation in rehearsal.mutations if mutation.before is None and mutation.after is not None
    ]
    keys = [{name: item[name] for name in names} for item in made]
    kept: list[Entity] = []
    for instance in there:
        entity = design.entities[type(instance)]
        if entity.item_key(entity.primary, entity.field_values(instance)) not in keys:
            kept.append(instance)
    return tuple(kept)


def _said(error: BaseException) -> str:
    if isinstance(error, KeyplanError):
        faults = "".join(f"; {fault}" for fault in error.errors)
        return f"{type(error).__name__}: {error.message}{faults}"
    if isinstance(error, ValidationError):
        return f"{type(error).__name__}: {'; '.join(map(str, error_details_of(error, error.title)))}"
    return f"{type(error).__name__}: {error}"


# Arguments


def _arguments(
    design: CompiledDesign, pattern: WritePattern, world: _TypicalWorld, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Typical arguments: items of entities, values as fields of the same name have them, no two texts alike. Those
    ``given`` in the traffic file are taken as they are.
    """
    result: dict[str, Any] = {}
    shared: dict[str, Any] = {}
    for parameter in pattern.signature.parameters:
        if parameter.name in given:
            result[parameter.name] = given[parameter.name]
            continue
        value = _argument(design, parameter, world, shared, list(result.values()))
        result[parameter.name] = value
        if isinstance(value, Entity):
            shared |= {name: getattr(value, name) for name in type(value).model_fields if name.endswith("_id")}
    try:
        return pattern.signature.bind((), result, strict=not given)
    except ArgumentError as error:
        wrong = {re.split(r"[.\[]", fault.place)[0] for fault in error.errors}
        for name in wrong.intersection(result).difference(given):
            result[name] = accepted_value(pattern.signature.by_name[name].annotation)
        return pattern.signature.bind((), result, strict=not given)


def _argument(
    design: CompiledDesign, parameter: Parameter, world: _TypicalWorld, shared: Fields, others: list[Any]
) -> Any:
    classes = [entity_class for entity_class in entities_in(parameter.annotation) if entity_class in design.entities]
    if classes:
        entity = design.entities[classes[0]]
        if kind_of(parameter.annotation) in {list, tuple}:
            named = {name: value for name, value in shared.items() if name in entity.fields}
            entities = [world.instance(entity, named, at) for at in range(ELEMENTS)]
            return entities if kind_of(parameter.annotation) is list else tuple(entities)
        alike = sum(type(other) is entity.cls for other in others)
        alike += ANSWER_MAX * world.trial.new  # none of those that a read finds
        named = {
            name: value
            for name, value in shared.items()
            if name in entity.fields and not (alike and name in entity.key_fields)  # of two accounts, another one
        }
        return world.instance(entity, named, alike)
    if parameter.name in world.trial.choices:
        return world.trial.choices[parameter.name]
    serial = _first_serial(design, parameter, world.trial)
    value = _plain(design, parameter, world, serial)
    while isinstance(value, str) and value in others and not choices_of(parameter.annotation) and serial < 100:
        serial += 1
        value = _plain(design, parameter, world, serial)
    return value


def _first_serial(design: CompiledDesign, parameter: Parameter, trial: _Trial) -> int:
    """0 gives what is there, 1 something else: what names an item must be there, what it is given must be new."""
    if any(parameter.name in entity.key_fields for entity in design.entities.values()):
        return 0
    return int(trial.numbers) if kind_of(parameter.annotation) in {int, float, Decimal} else 1


def _plain(design: CompiledDesign, parameter: Parameter, world: _TypicalWorld, serial: int) -> Any:
    kind = kind_of(parameter.annotation)
    for entity in design.entities.values():
        field_ = entity.fields.get(parameter.name)
        if field_ is not None and kind_of(field_.annotation) == kind:
            value = getattr(world.typical.instance(entity, serial=serial), parameter.name)
            if value is not None or is_optional(parameter.annotation):
                return value
    return typical_value(parameter.annotation, parameter.name, serial)


# Trials


def _likely(design: CompiledDesign, pattern: WritePattern, asked: Mapping[str, None]) -> Iterator[_Trial]:
    """What to suppose first. ``asked`` holds the reads met so far that may find nothing."""
    calls = list(_calls(pattern))
    yield from calls
    for number in (1, 2):
        for missing in combinations(list(asked), number):
            yield from (replace(call, missing=frozenset(missing)) for call in calls)
    for flag in _flags(design):
        for number in (0, 1, 2):
            for missing in combinations(list(asked), number):
                yield replace(calls[0], fields=flag, missing=frozenset(missing))


def _unlikely(design: CompiledDesign, pattern: WritePattern, asked: Mapping[str, None]) -> Iterator[_Trial]:
    """What to suppose where nothing else is known."""
    calls = list(_calls(pattern))
    for fields in _fields(design):
        yield from (replace(call, fields=fields) for call in calls)
        yield from (replace(calls[0], fields=fields, missing=frozenset([name])) for name in list(asked))


def _calls(pattern: WritePattern) -> Iterator[_Trial]:
    """Calls whose arguments differ from what is there, whose numbers don't, and those with each of a few choices."""
    choices = {parameter.name: choices_of(parameter.annotation) for parameter in pattern.signature.parameters}
    choices = {name: values[::-1] for name, values in choices.items() if values}
    several = [dict(zip(choices, chosen, strict=True)) for chosen in islice(product(*choices.values()), CALLS_MAX)]
    for numbers in (True, False):
        yield from (_Trial(numbers=numbers, choices=chosen) for chosen in several)
    if any(entities_in(parameter.annotation) for parameter in pattern.signature.parameters):
        yield from (_Trial(choices=chosen, new=True) for chosen in several)


def _flags(design: CompiledDesign) -> Iterator[Mapping[tuple[str, str], Any]]:
    """The other value of each flag, which whole writes hang on."""
    for entity in design.entities.values():
        for stored_field in entity.fields.values():
            if kind_of(stored_field.annotation) is bool and not stored_field.computed:
                yield {(entity.name, stored_field.name): False}


def _fields(design: CompiledDesign) -> Iterator[Mapping[tuple[str, str], Any]]:
    """Values of fields: all numbers at their least, one field's other values, then those of two fields."""
    result: dict[tuple[str, str], list[Any]] = {}
    for entity in design.entities.values():
        for stored_field in entity.fields.values():
            values = list(other_values(stored_field.annotation, stored_field.bounds))
            if values and not stored_field.computed and stored_field.name not in entity.key_fields:
                result[entity.name, stored_field.name] = values
    yield {place: values[-1] for place, values in result.items() if type(values[-1]) is int}
    yield from ({place: value} for place, values in result.items() for value in values)
    yield from (
        dict(zip(places, chosen, strict=True))
        for places in combinations(result, 2)
        for chosen in product(*(result[place] for place in places))
    )
