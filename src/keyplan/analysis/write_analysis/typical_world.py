"""The dry runs of a write: one in which every read finds an item, one in which no read does, with typical arguments or
those of the write's examples.

A body is run only when a command that analyzes writes asks for it. ``outside_calls.py`` finds the bodies that aren't.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product
from typing import Any

from keyplan.analysis.traffic.item_counts import ITEMS_ASSUMED, Finds
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.code import WrittenCode
from keyplan.analysis.write_analysis.dry_run import Asked, Before, DryRun, Refused, dry_run
from keyplan.dynamodb.values import Item
from keyplan.errors import ArgumentError, KeyplanError
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern, entities_in
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.plans import GetPlan, ReadPattern
from keyplan.model.compiled.return_types import Member, ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind
from keyplan.model.declared.actions import Action, Batch, Create, Delete, Put, Update
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import accepted_value, choices_of, typical_value
from keyplan.model.declared.fields import is_optional, kind_of
from keyplan.model.declared.parameters import Page
from keyplan.model.declared.pattern_load import Load
from keyplan.model.declared.patterns import Example
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_views import shrunk

__all__ = ["DryRuns", "dry_runs"]

ELEMENTS = 3
"""Items of a list argument."""
ANSWER_MAX = 200
"""Items that a read within a write finds at most."""

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class DryRuns:
    """The dry runs of a write. ``done``: those that wrote something, the typical call first; ``idle``: those that wrote
    nothing. ``refused``: what the client refused. ``errors``: what the body raised. ``unknown``: why the write's
    effect isn't known.
    """

    done: tuple[DryRun, ...] = ()
    idle: tuple[DryRun, ...] = ()
    refused: tuple[Refused, ...] = ()
    errors: tuple[Exception, ...] = ()
    unknown: str | None = None

    @property
    def finished(self) -> tuple[DryRun, ...]:
        """The dry runs that came to their end."""
        return (*self.done, *self.idle)


def dry_runs(
    design: CompiledDesign,
    cls: type[Any],
    pattern: WritePattern,
    code: WrittenCode,
    typical: Typical,
    traffic: Traffic,
) -> DryRuns:
    """Run a write's body once for each of its cases, unless its code can't be read or calls what reaches outside."""
    if code.not_run:
        return DryRuns(unknown=code.not_run)
    done: list[DryRun] = []
    idle: list[DryRun] = []
    refused: list[Refused] = []
    errors: list[Exception] = []
    for case in _cases(design, pattern, code):
        world = _TypicalWorld(design, typical, Finds(traffic), case)
        try:
            run = _run(cls, pattern, world, traffic)
        except Problem as problem:
            return DryRuns(unknown=str(problem) + (f" ({problem.hint})" if problem.hint else ""))
        except Refused as error:
            refused.append(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a body is its author's code
            errors.append(error if isinstance(error, Exception) else RuntimeError("it exits"))
        else:
            if case.extra and not any(asked.nothing and asked.pattern.name in case.extra for asked in run.asked):
                continue  # it asks none of the reads that find nothing in this case alone
            (done if run.items else idle).append(run)
    unknown = None
    if not done and not idle:
        first = (*(each.error for each in refused), *errors)[0]
        unknown = f"every dry run raises: {_text(first)} (give the write an example=)"
    return DryRuns(tuple(done), tuple(idle), tuple(refused), tuple(errors), unknown)


def _text(error: Exception) -> str:
    if isinstance(error, KeyplanError):
        return f"{type(error).__name__}: {'; '.join([error.message, *map(str, error.errors)])}"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _run(cls: type[Any], pattern: WritePattern, world: _TypicalWorld, traffic: Traffic) -> DryRun:
    """One dry run. Raises what the body raises, Refused and Problem."""
    load = traffic.patterns.get(pattern.name, Load())
    arguments = _arguments(world, pattern, {**(load.arguments or {}), **world.case.example.arguments})
    world.there.clear()  # the arguments aren't stored yet
    nowhere = object.__new__(cls)  # a design without a store: the body uses the ``read`` of its reads alone
    make = partial(pattern.function, nowhere, **arguments)
    run = dry_run(world.design, world, make, case=world.case.name, joined=bool(load.in_transaction))
    notes = dict.fromkeys([world.case.name, *world.notes] if world.case.name else world.notes)
    return replace(run, arguments=arguments, there=_existing(world.design, world.there, run), notes=tuple(notes))


@dataclass(frozen=True)
class _Case:
    """An example, and the reads that find nothing. ``extra``: those that find nothing in this case only."""

    name: str
    missing: frozenset[str]
    example: Example
    extra: frozenset[str] = frozenset()


def _cases(design: CompiledDesign, pattern: WritePattern, code: WrittenCode) -> Iterator[_Case]:
    """For each example: every read finds an item, then no read does."""
    reads = (design.reads[ask.name] for ask in code.asks)
    optional = frozenset(read.name for read in reads if read.shape.optional or read.shape.many or read.shape.told)
    for number, example in enumerate(pattern.examples or (Example(),), 1):
        missing = example.reads_missing
        which = f"example {number}" if len(pattern.examples) > 1 else ""
        nothing = f"{which}, no read finds an item" if which else "no read finds an item"
        yield _Case(which, missing, example)
        if optional - missing:
            yield _Case(nothing, missing | optional, example, optional - missing)


@dataclass
class _TypicalWorld:
    """Reads that find typical items."""

    design: CompiledDesign
    values: Typical
    finds: Finds
    case: _Case
    notes: list[str] = field(default_factory=list[str])
    there: list[Entity] = field(default_factory=list[Entity])
    absent: list[Item] = field(default_factory=list[Item])
    """The keys under which a read found nothing."""
    typical: bool = True

    def ask(self, pattern: ReadPattern, arguments: dict[str, Any]) -> Asked:
        """A read with a typical result of its shape."""
        constants = {name: values_asked(value)[0] for name, value in pattern.constants.items()}
        if pattern.name in self.case.missing:
            plan = pattern.as_called(arguments).plan
            if isinstance(plan, GetPlan):
                self.absent.append(plan.entity.item_key(plan.entity.primary, {**arguments, **constants}))
            return Asked(pattern, arguments, self._nothing(pattern), nothing=True)
        return Asked(pattern, arguments, self._answer(pattern, {**arguments, **constants}))

    def instance(self, entity: CompiledEntity, known: Fields, serial: int = 0) -> Entity:
        """A typical instance with these values and those of the example, which exists from now on."""
        given = self.case.example.fields.get(entity.cls, {})
        result = self.values.instance(entity, {**given, **known}, serial)
        self.there.append(result)
        return result

    def item(self, instance: Entity) -> Item:
        """The item of an instance."""
        return self.values.item(instance)

    def before(self, entity: CompiledEntity, known: Fields, action: Action) -> Before:
        """The instance that the action is given, else a typical one of that key, as ``only_if`` expects it; for a Put
        what a read found there. None where a read found nothing under the key of a Delete or an or_create().
        """
        if isinstance(action, Create):
            return None
        if isinstance(action, Put):
            found = self._found(entity, known)
            return None if found is None else (found, self.item(found))
        target = getattr(action, "target", None)
        if not isinstance(target, Entity):
            may_be_absent = isinstance(action, Delete) or (isinstance(action, Update) and action.creates)
            if may_be_absent and entity.item_key(entity.primary, known) in self.absent:
                return None
            target = self._found(entity, known) or self.instance(entity, {**_expected(entity, action), **known})
        elif target not in self.there:
            self.there.append(target)
        return target, self.item(target)

    def _found(self, entity: CompiledEntity, known: Fields) -> Entity | None:
        """The existing instance with the primary key of these field values."""
        key = entity.item_key(entity.primary, known)
        own = (each for each in self.there if type(each) is entity.cls)
        return next((each for each in own if entity.item_key(entity.primary, entity.field_values(each)) == key), None)

    def _nothing(self, pattern: ReadPattern) -> Any:
        shape = pattern.shape
        if shape.kind is ShapeKind.EXISTS:
            return False
        if shape.kind is ShapeKind.COUNT:
            return 0
        if shape.kind is ShapeKind.COLLECTION:
            return None if shape.optional else shape.factory(**{each.name: [] for each in shape.members})
        if shape.kind is ShapeKind.PAGE:
            return Page([], None)
        return [] if shape.many else None

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
            return self._shown(pattern, self._same(entities[0], equal) or self.instance(entities[0], equal))
        if shape.kind is ShapeKind.COLLECTION:
            return shape.factory(**{member.name: self._member(member, equal) for member in shape.members})
        each = [parameter.name for parameter in parameters.values() if parameter.kind is ParameterKind.EACH]
        if each:
            values = product(*(known[name] for name in each))
            result = [
                self._shown(pattern, self.instance(entities[0], {**equal, **dict(zip(each, element, strict=True))}))
                for element in islice(values, ANSWER_MAX if len(each) > 1 else None)
            ]
        else:
            count = self.finds.items(pattern, known)
            if count > ANSWER_MAX:
                self.notes.append(f"{pattern.name}: the dry run finds {ANSWER_MAX} of {count:,} items")
            some = range(min(count, ANSWER_MAX))
            result = [self._shown(pattern, self.instance(entities[at % len(entities)], equal, at)) for at in some]
        return Page(result, None) if shape.kind is ShapeKind.PAGE else result

    def _same(self, entity: CompiledEntity, known: Fields) -> Entity | None:
        """The existing instance with these values."""
        own = (each for each in self.there if type(each) is entity.cls)
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

    def _shown(self, pattern: ReadPattern, instance: Entity) -> Any:
        """The instance as the pattern returns it: whole, or as a view."""
        return shrunk(instance, pattern.shape.views.get(type(instance)))


def _expected(entity: CompiledEntity, action: Action) -> Fields:
    """The values of stored fields that ``only_if`` expects, None for those that it says don't exist."""
    if isinstance(action, Batch):
        return {}
    texts = " ".join(condition.text for condition in action.conditions)
    equals = {**dict.fromkeys(re.findall(r"attribute_not_exists\((\w+)\)", texts)), **action.equals}
    plain = {name: stored for name, stored in entity.fields.items() if name in equals and not stored.computed}
    return {name: equals[name] for name, stored in plain.items() if equals[name] is not None or stored.optional}


def _existing(design: CompiledDesign, there: Sequence[Entity], run: DryRun) -> tuple[Entity, ...]:
    """The items that existed, without those that the run created."""
    names = design.table.key_names
    created = [each.after for each in run.mutations if each.before is None and each.after is not None]
    keys = [{name: item[name] for name in names} for item in created]
    compiled = ((instance, design.entities[type(instance)]) for instance in there)
    return tuple(
        instance
        for instance, entity in compiled
        if entity.item_key(entity.primary, entity.field_values(instance)) not in keys
    )


# Arguments


def _arguments(world: _TypicalWorld, pattern: WritePattern, given: Fields) -> dict[str, Any]:
    """Typical arguments: items of entities, values as fields of that name have them, no two texts alike; ``given``
    ones as they are. Raises ArgumentError.
    """
    result: dict[str, Any] = {}
    shared: dict[str, Any] = {}
    for parameter in pattern.signature.parameters:
        if parameter.name in given:
            result[parameter.name] = given[parameter.name]
            continue
        value = _argument(world, parameter, shared, list(result.values()))
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


def _argument(world: _TypicalWorld, parameter: Parameter, shared: Fields, others: list[Any]) -> Any:
    design = world.design
    classes = [cls for cls in entities_in(parameter.annotation) if cls in design.entities]
    if classes:
        entity = design.entities[classes[0]]
        kind = kind_of(parameter.annotation)
        if kind in {list, tuple}:
            named = {name: value for name, value in shared.items() if name in entity.fields}
            return kind(world.instance(entity, named, at) for at in range(ELEMENTS))
        alike = sum(type(other) is entity.cls for other in others)
        named = {
            name: value
            for name, value in shared.items()
            if name in entity.fields and not (alike and name in entity.key_fields)  # of two accounts, another one
        }
        return world.instance(entity, named, alike)
    if choices := choices_of(parameter.annotation):
        return choices[-1]
    # The key of an item names one that exists; other texts are new
    in_key = any(parameter.name in entity.key_fields for entity in design.entities.values())
    serial = 0 if in_key else 1
    value = _plain(world, parameter, serial)
    while isinstance(value, str) and value in others and serial < 100:
        serial += 1
        value = _plain(world, parameter, serial)
    return value


def _plain(world: _TypicalWorld, parameter: Parameter, serial: int) -> Any:
    kind = kind_of(parameter.annotation)
    for entity in world.design.entities.values():
        stored = entity.fields.get(parameter.name)
        if stored is not None and kind_of(stored.annotation) == kind:
            value = getattr(world.values.instance(entity, serial=serial), parameter.name)
            if value is not None or is_optional(parameter.annotation):
                return value
    return typical_value(parameter.annotation, parameter.name, serial)
