"""The items and arguments for dry runs of writes: typical values, or the values in the write's examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from keyplan.analysis.traffic.item_counts import ITEMS_ASSUMED, Finds
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.dynamodb.values import Item
from keyplan.errors import ArgumentError
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern, entities_in
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.plans import GetPlan, ReadPattern
from keyplan.model.compiled.return_types import Member, ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind
from keyplan.model.declared.actions import Action, Add, Batch, Create, Delete, Put, Update
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import accepted_value, choices_of, typical_value
from keyplan.model.declared.fields import is_optional, kind_of
from keyplan.model.declared.parameters import Page
from keyplan.model.declared.patterns import Example
from keyplan.model.stored.stored_entity import CompiledEntity, shrunk

ELEMENTS = 3
"""The number of elements of a list argument."""
ANSWER_MAX = 200
"""The maximum number of items that a read within a write finds."""

Fields = Mapping[str, Any]
Before = tuple[Entity, Item] | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A read within a write, with its arguments and result. ``nothing``: no item was found."""

    pattern: ReadPattern
    arguments: Mapping[str, Any]
    answer: Any = None
    nothing: bool = False


@dataclass(frozen=True)
class Case:
    """An example, and the reads that find no item. ``extra``: the reads that find no item only in this case."""

    name: str
    missing: frozenset[str]
    example: Example
    extra: frozenset[str] = frozenset()


@dataclass
class TypicalWorld:
    """Answers the reads of a dry run with typical items. ``typical``: updates are assumed to change values."""

    design: CompiledDesign
    values: Typical
    finds: Finds
    case: Case
    notes: list[str] = field(default_factory=list[str])
    there: list[Entity] = field(default_factory=list[Entity])
    absent: list[Item] = field(default_factory=list[Item])
    """The keys under which a read found nothing."""
    typical: bool = True

    def ask(self, pattern: ReadPattern, arguments: dict[str, Any]) -> Asked:
        constants = {name: values_asked(value)[0] for name, value in pattern.constants.items()}
        if pattern.name in self.case.missing:
            plan = pattern.as_called(arguments).plan
            if isinstance(plan, GetPlan):
                self.absent.append(plan.entity.item_key(plan.entity.primary, {**arguments, **constants}))
            return Asked(pattern, arguments, self._nothing(pattern), nothing=True)
        return Asked(pattern, arguments, self._answer(pattern, {**arguments, **constants}))

    def instance(self, entity: CompiledEntity, known: Fields, serial: int = 0) -> Entity:
        """A typical instance with the ``known`` values and the example's values. It's added to the existing items."""
        result = self.values.instance(entity, {**self._given(entity), **known}, serial)
        self.there.append(result)
        return result

    def _given(self, entity: CompiledEntity) -> Fields:
        return self.case.example.fields.get(entity.cls, {})

    def item(self, instance: Entity) -> Item:
        return self.values.item(instance)

    def before(self, entity: CompiledEntity, known: Fields, action: Action) -> Before:
        """The action's instance, or a typical instance that fulfills ``only_if``; for a Put, the instance that a read
        found. None for a Create, and for a Delete or or_create() of an item that a read didn't find.
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
            known = {**_subtracted(entity, action), **self._given(entity), **_expected(entity, action), **known}
            target = self._found(entity, known) or self.instance(entity, known)
        elif target not in self.there:
            self.there.append(target)
        return target, self.item(target)

    def _found(self, entity: CompiledEntity, known: Fields) -> Entity | None:
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
        others = {name for name, parameter in parameters.items() if parameter.kind is not ParameterKind.VALUE}
        equal = {name: value for name, value in known.items() if name not in others}
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
            most = ANSWER_MAX if len(each) > 1 else None
            some = (dict(zip(each, given, strict=True)) for given in islice(values, most))
            result = [self._shown(pattern, self.instance(entities[0], {**equal, **given})) for given in some]
        else:
            count = self.finds.items(pattern, known)
            if count > ANSWER_MAX:
                self.notes.append(f"{pattern.name}: the dry run reads only {ANSWER_MAX} of {count:,} items")
            numbers = range(min(count, ANSWER_MAX))
            result = [self._shown(pattern, self.instance(entities[at % len(entities)], equal, at)) for at in numbers]
        return Page(result, None) if shape.kind is ShapeKind.PAGE else result

    def _same(self, entity: CompiledEntity, known: Fields) -> Entity | None:
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


def _subtracted(entity: CompiledEntity, action: Action) -> Fields:
    """The amounts that an update subtracts from fields whose default is 0, because these fields may have a minimum."""
    changes = action.changes if isinstance(action, Update) else {}
    added = {name: changes[name].amount for name in changes if isinstance(changes[name], Add) and name in entity.fields}
    return {name: -amount for name, amount in added.items() if amount < 0 and not entity.fields[name].default}


def _expected(entity: CompiledEntity, action: Action) -> Fields:
    """The values that ``only_if`` requires; None for a field that must not exist."""
    if isinstance(action, Batch):
        return {}
    texts = " ".join(condition.text for condition in action.conditions)
    equals = {**dict.fromkeys(re.findall(r"attribute_not_exists\((\w+)\)", texts)), **action.equals}
    plain = {name: stored for name, stored in entity.fields.items() if name in equals and not stored.computed}
    return {name: equals[name] for name, stored in plain.items() if equals[name] is not None or stored.optional}


# Arguments


def arguments_of(world: TypicalWorld, pattern: WritePattern, given: Fields) -> dict[str, Any]:
    """The ``given`` arguments, and typical values with distinct strings for the others. Raises ArgumentError."""
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


def _argument(world: TypicalWorld, parameter: Parameter, shared: Fields, others: list[Any]) -> Any:
    design = world.design
    classes = [cls for cls in entities_in(parameter.annotation) if cls in design.entities]
    if classes:
        entity = design.entities[classes[0]]
        kind = kind_of(parameter.annotation)
        alike = 0 if kind in {list, tuple} else sum(type(other) is entity.cls for other in others)
        names = entity.fields.keys() - (entity.key_fields if alike else ())  # two instances need different keys
        named = {name: value for name, value in shared.items() if name in names}
        if kind in {list, tuple}:
            return kind(world.instance(entity, named, at) for at in range(ELEMENTS))
        return world.instance(entity, named, alike)
    if choices := choices_of(parameter.annotation):
        return choices[-1]
    # The value of a key field identifies an existing item; other strings are new
    in_key = any(parameter.name in entity.key_fields for entity in design.entities.values())
    serial = 0 if in_key else 1
    value = _plain(world, parameter, serial)
    while isinstance(value, str) and value in others and serial < 100:
        serial += 1
        value = _plain(world, parameter, serial)
    return value


def _plain(world: TypicalWorld, parameter: Parameter, serial: int) -> Any:
    kind = kind_of(parameter.annotation)
    for entity in world.design.entities.values():
        stored = entity.fields.get(parameter.name)
        if stored is not None and kind_of(stored.annotation) == kind:
            value = getattr(world.values.instance(entity, serial=serial), parameter.name)
            if value is not None or is_optional(parameter.annotation):
                return value
    return typical_value(parameter.annotation, parameter.name, serial)
