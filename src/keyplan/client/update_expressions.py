"""Compiles changed fields into an update expression, with the affected keys, claims and version.

A change of a field that a key uses recomputes the key from the given instance and the changes. Values taken from the
instance are pinned: a condition of the update requires that they are unchanged. Therefore index entries never become
stale, even with concurrent writers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from pydantic import TypeAdapter, ValidationError

from keyplan.dynamodb.expressions.expression_rules import LIST_INDEX_MAX
from keyplan.errors import ArgumentError, UpdateRejected, shown
from keyplan.model.compiled.operands import part_of, stored_field
from keyplan.model.declared import actions
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import bounds_of, unbounded
from keyplan.model.stored.field_codec import encode_value
from keyplan.model.stored.pydantic_values import Form
from keyplan.model.stored.stored_entity import CompiledEntity, error_details_of, reject_unknown
from keyplan.model.stored.stored_fields import StoredField
from keyplan.model.stored.stored_keys import CompiledKey, check_indexed
from keyplan.model.stored.update_outcomes import changed, in_map, needs_value, outcome, stored_step, type_at

Values = Mapping[str, Any]

NAME_BYTES_MAX = 65_535
"""Maximum bytes of an attribute name. Source: "Naming rules" in the developer guide."""


@dataclass
class CompiledUpdate:
    """An update expression, its conditions (``pins``, ``clauses``), and the old and new fields of each claim."""

    sets: list[str] = field(default_factory=list[str])
    removes: list[str] = field(default_factory=list[str])
    adds: list[str] = field(default_factory=list[str])
    deletes: list[str] = field(default_factory=list[str])
    names: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    pins: dict[str, Any] = field(default_factory=dict[str, Any])
    clauses: list[str] = field(default_factory=list[str])
    claims: list[tuple[CompiledKey, Values | None, Values | None]] = field(
        default_factory=list[tuple[CompiledKey, Values | None, Values | None]]
    )

    @property
    def expression(self) -> str:
        sections = (("SET", self.sets), ("REMOVE", self.removes), ("ADD", self.adds), ("DELETE", self.deletes))
        return " ".join([f"{word} {', '.join(clauses)}" for word, clauses in sections if clauses])

    def name(self, attribute: str) -> str:
        placeholder = f"#u{len(self.names)}"
        self.names[placeholder] = attribute
        return placeholder

    def value(self, value: dict[str, Any]) -> str:
        placeholder = f":u{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def set(self, attribute: str, value: dict[str, Any]) -> None:
        self.sets.append(f"{self.name(attribute)} = {self.value(value)}")

    def remove(self, attribute: str) -> None:
        self.removes.append(self.name(attribute))


def compile_update(entity: CompiledEntity, action: actions.Update) -> CompiledUpdate:
    """The update of an action. Raises UpdateRejected and ArgumentError."""
    changes = dict(action.changes)
    _check_changes(entity, changes)
    update = CompiledUpdate()
    if isinstance(action.target, type):
        plain = {name: value for name, value in changes.items() if not isinstance(value, actions.Change)}
        changes.update(entity.check_fields(plain))
        known = {**action.key, **{name: changes[name] for name in plain}} if action.creates else {}
        _refuse_key_changes(entity, changes, known)
        _check_parts(entity, changes)
        if action.creates:
            _from_nothing(entity, update, action.key, changes)
            _index_keys_from_nothing(entity, update, known, changes)
    elif action.creates:
        raise UpdateRejected(
            "or_create() requires a class and key fields: the item of an instance already exists",
            place=entity.name,
            hint="write Update(Counter, name=...).set(...).or_create()",
        )
    else:
        before = entity.field_values(action.target)
        after, changes = changed(entity, action.target, changes)
        _keys(entity, update, before, entity.field_values(after), changes)
    for name, change in changes.items():
        _field(entity, update, entity.fields[name], change)
    _version(entity, update, action.target)
    if action.token is not None and entity.tokens is not None:
        name = update.name(entity.tokens.attribute)
        update.clauses.append(f"NOT contains({name}, {update.value({'S': action.token})})")
    if not update.expression:
        raise UpdateRejected(
            "the update changes nothing", place=entity.name, hint="set a field: Update(item, title=...)"
        )
    return update


def _check_changes(entity: CompiledEntity, changes: Values) -> None:
    reject_unknown(entity.cls, entity.fields, changes)
    for name in changes:
        place = f"{entity.name}.{name}"
        if name in entity.key_fields:
            raise _names_its_item(entity, name)
        if entity.fields[name].computed:
            raise UpdateRejected("a computed field can't be updated", place=place, hint="update its input fields")
        if entity.version is not None and name == entity.version.name:
            raise UpdateRejected("the version field can't be set: it is updated automatically", place=place)


def _names_its_item(entity: CompiledEntity, name: str) -> UpdateRejected:
    return UpdateRejected(
        "a primary key can't be changed",
        place=f"{entity.name}.{name}",
        hint="create a new item and delete the old one, in one transaction",
    )


def _check_parts(entity: CompiledEntity, changes: Values) -> None:
    """Validate operands of changes such as Add like field values, because the resulting value is unknown."""
    parts: dict[str, Any] = {}
    for name, change in changes.items():
        if isinstance(change, actions.Change) and not isinstance(change, actions.Within):
            parts[name] = outcome(entity, name, None, change)
            if isinstance(change, actions.SetRemove):
                parts[name] = set(change.elements)
    entity.check_kinds({name: value for name, value in parts.items() if value is not None})


def _from_nothing(entity: CompiledEntity, update: CompiledUpdate, key: Values, changes: Values) -> None:
    """Set the key's fields in an update that can create its item. Raises UpdateRejected for an incomplete item."""
    if entity.claims or entity.version is not None:
        what = "claims" if entity.claims else "a version"
        raise UpdateRejected(
            f"the entity has {what}, which or_create() can't create",
            place=entity.name,
            hint="read the item, then use Create or Update",
        )
    for name, stored in entity.fields.items():
        if name in entity.key_fields or stored.computed:
            continue
        change = changes.get(name)
        if isinstance(change, actions.Within):
            raise UpdateRejected(
                "or_create() can't change parts of a field: the item may not exist",
                place=f"{entity.name}.{name}",
                hint="set the whole field, or omit or_create()",
            )
        if isinstance(change, actions.Change) and not isinstance(change, actions.IfNotExists) and stored.made_anew:
            raise UpdateRejected(
                f"the item may not exist, so {shown(change)} requires a field with a fixed default",
                place=f"{entity.name}.{name}",
                hint="give the field a fixed default",
            )
        if (
            stored.required
            and not stored.optional
            and (name not in changes or isinstance(change, actions.Remove | actions.SetRemove))
        ):
            raise UpdateRejected(
                "a new item would lack this field, which has no fixed default",
                place=f"{entity.name}.{name}",
                hint="set the field, or give it a fixed default",
            )
    keyed = {attribute.name for attribute, _ in entity.primary.attributes}
    fields = entity.encode_fields(key)
    if entity.indexed:
        check_indexed(entity.indexed, fields)
    for attribute, value in {**fields, **entity.labels}.items():
        if attribute not in keyed:
            update.set(attribute, value)


def _index_keys_from_nothing(entity: CompiledEntity, update: CompiledUpdate, known: Values, changes: Values) -> None:
    """Set the index keys of a created item. Raises UpdateRejected for a key with fields that aren't set."""
    own = {element.attribute for element in entity.fields.values()} | {
        attribute.name for attribute, _ in entity.primary.attributes
    }
    values = {**{name: stored.default for name, stored in entity.fields.items()}, **known}
    wanted: dict[str, dict[str, str]] = {}
    made: dict[str, None] = {}
    for key in entity.index_keys:
        lacking = sorted(name for name in key.fields if name not in known)
        possible = any(entity.fields[name].computed for name in key.fields) or key.member(values)
        if lacking and not possible and not changes.keys() & entity.inputs_of(key):
            continue  # the item has no entry in this index, whether it is created or updated
        if lacking:
            raise UpdateRejected(
                f"an item created by an update would lack the key {key.name}, which requires {', '.join(lacking)}",
                place=entity.name,
                hint="set all fields of the key; or read the item, then use Create or Update",
            )
        if key.member(values):
            wanted |= entity.written_key(key, values)
        made |= dict.fromkeys(attribute.name for attribute, _ in key.attributes)
    for name in made:
        if name in wanted and name not in own:
            update.set(name, wanted[name])
        elif name not in own:
            update.remove(name)


def _refuse_key_changes(entity: CompiledEntity, changes: Values, known: Values) -> None:
    for name in sorted(entity.inputs_of(entity.primary) & changes.keys()):
        raise _names_its_item(entity, name)
    for key in (*entity.index_keys, *entity.claims):
        touched = sorted(name for name in entity.inputs_of(key) & changes.keys() if not entity.writes_itself(key, name))
        if touched and not (key.fields <= known.keys() and not key.is_claim):
            raise UpdateRejected(
                f"the field is part of the key {key.name}, which can't be recomputed without the whole item",
                place=f"{entity.name}.{touched[0]}",
                hint=f"read the item and update the instance: Update(item, {touched[0]}=...)",
            )


def _keys(entity: CompiledEntity, update: CompiledUpdate, before: Values, after: Values, changes: Values) -> None:
    """Recompute each key affected by the changes, and pin the values that a key takes from the instance."""
    names = set(changes)
    keys = (entity.primary, *entity.index_keys, *entity.claims)
    inputs = {key: entity.inputs_of(key) for key in keys}
    if _moved(entity, entity.primary, before, after):
        raise _names_its_item(entity, next(iter(sorted(inputs[entity.primary] & names)), "key"))
    touched = [key for key in entity.index_keys if inputs[key] & names or _moved(entity, key, before, after)]
    # If several keys share an index, a key without an entry writes nothing: the entry may belong to another key.
    # However, the update requires that the key still has no entry.
    idle: list[CompiledKey] = []
    if entity.siblings:
        idle = [key for key in touched if key in entity.siblings and not (key.member(before) or key.member(after))]
        touched = [key for key in touched if key not in idle]
    wanted: dict[str, dict[str, str]] = {}
    for key in entity.index_keys:
        if key.member(after):
            wanted.update(entity.written_key(key, after))
    own = {element.attribute for element in entity.fields.values() if not element.computed}
    # A local secondary index shares the table's partition key
    own.update([key_attribute.name for key_attribute, _ in entity.primary.attributes])
    for attribute in dict.fromkeys([key_attribute.name for key in touched for key_attribute, _ in key.attributes]):
        if attribute in own:
            continue  # the value is unchanged, or the field's change already sets it
        if attribute in wanted:
            update.set(attribute, wanted[attribute])
        else:
            update.remove(attribute)
    for claim in entity.claims:
        if inputs[claim] & names or _moved(entity, claim, before, after):
            touched.append(claim)
            held = before if claim.member(before) else None
            to_hold = after if claim.member(after) else None
            if held is None or to_hold is None or entity.item_key(claim, held) != entity.item_key(claim, to_hold):
                update.claims.append((claim, held, to_hold))
            else:  # the field is set to its current value: create the claim, in case it was added to the design later
                update.claims.append((claim, None, to_hold))
    _computed(entity, update, touched, after)
    if inputs[entity.primary] & names:
        touched.append(entity.primary)
    for key in (*touched, *idle):
        for name in sorted(inputs[key]):
            if name not in entity.fixed_fields and (
                key.is_claim or isinstance(changes.get(name, actions.Change()), actions.Change)
            ):
                update.pins[name] = before[name]
    for name, value in [*update.pins.items()]:
        _keep_default(entity, update, entity.fields[name], value, changes)


def _keep_default(
    entity: CompiledEntity, update: CompiledUpdate, stored: StoredField, value: Any, changes: Values
) -> None:
    """Store a default that a key uses, so that the default can change later; pin computed defaults as missing."""
    if value is None or not (stored.made_anew or stored.attribute in entity.read_as):
        return
    encoded = entity.encode_field(stored.name, stored.encode, value)
    if not stored.made_anew and (stored.name in changes or encoded != entity.read_as[stored.attribute]):
        return
    name, was = update.name(stored.attribute), update.value(encoded)
    if stored.made_anew:
        del update.pins[stored.name]
        update.clauses.append(f"({name} = {was} OR attribute_not_exists({name}))")
    if stored.name not in changes:
        update.sets.append(f"{name} = {was}")


def _moved(entity: CompiledEntity, key: CompiledKey, before: Values, after: Values) -> bool:
    return bool([name for name in key.fields if entity.fields[name].computed and before[name] != after[name]])


def _computed(entity: CompiledEntity, update: CompiledUpdate, touched: list[CompiledKey], after: Values) -> None:
    taken = {attribute.name for key in entity.index_keys for attribute, _ in key.attributes}
    for name in dict.fromkeys(name for key in touched for name in key.fields):
        stored = entity.fields[name]
        if stored.computed and stored.attribute not in taken:
            if after[name] is None:
                update.remove(stored.attribute)
            else:
                update.set(stored.attribute, entity.encode_field(name, stored.encode, after[name]))


def _field(entity: CompiledEntity, update: CompiledUpdate, stored: StoredField, change: Any) -> None:
    if isinstance(change, actions.Change):
        _refuse_dumped(entity, stored, change)
    match change:
        case actions.Add():
            _add(entity, update, stored, change.amount)
        case actions.Append():
            name = update.name(stored.attribute)
            encode = encode_value if stored.form is Form.OURS else stored.encode
            items = update.value(entity.encode_field(stored.name, encode, list(change.items)))
            start = list(stored.default or ())
            begin = update.value(entity.encode_field(stored.name, encode, start) if start else {"L": []})
            update.sets.append(f"{name} = list_append(if_not_exists({name}, {begin}), {items})")
            _expect_stored(update, stored, name)
        case actions.SetAdd() | actions.SetRemove():
            _refuse_beginning(entity, stored, change)
            elements = set(change.elements)
            if elements:
                clauses = update.adds if isinstance(change, actions.SetAdd) else update.deletes
                name = update.name(stored.attribute)
                clauses.append(f"{name} {update.value(entity.encode_field(stored.name, encode_value, elements))}")
                _expect_stored(update, stored, name)
        case actions.Remove() if not stored.optional:
            update.remove(stored.attribute)
        case actions.IfNotExists():
            name = update.name(stored.attribute)
            fields = entity.encode_fields(entity.check_fields({stored.name: change.value}))
            if entity.indexed:
                check_indexed(entity.indexed, fields)
            encoded = fields.get(stored.attribute)
            if encoded is not None:
                update.sets.append(f"{name} = if_not_exists({name}, {update.value(encoded)})")
        case actions.Within():
            _parts(entity, update, stored, change)
        case _:
            encoded = entity.encode_fields({stored.name: None if isinstance(change, actions.Remove) else change})
            if entity.indexed:
                check_indexed(entity.indexed, encoded)
            if encoded:
                update.set(stored.attribute, encoded[stored.attribute])
            else:
                update.remove(stored.attribute)


def _refuse_dumped(entity: CompiledEntity, stored: StoredField, change: actions.Change) -> None:
    """Reject partial changes of a field with a custom serializer, because a serializer requires the whole value."""
    whole = isinstance(change, actions.Remove | actions.IfNotExists)
    dumped = stored.form is Form.DUMPED and isinstance(change, actions.SetAdd | actions.SetRemove)
    if dumped or (not whole and (stored.codec is not None or stored.form in {Form.CUSTOM, Form.KEYED})):
        how = "in pydantic's serialized form" if stored.codec is None else f"with {stored.codec.mark}"
        raise UpdateRejected(
            f"{shown(change)} doesn't support fields stored {how}",
            place=f"{entity.name}.{stored.name}",
            hint=f"set the whole field, .set({stored.name}=...), with only_if on its old value",
        )


def _parts(entity: CompiledEntity, update: CompiledUpdate, stored: StoredField, change: actions.Within) -> None:
    """Compile changes of a field's parts, on the condition that the parent of each part exists."""
    if stored.form is not Form.OURS:
        raise UpdateRejected(
            "parts of fields in pydantic's serialized form can't be changed",
            place=f"{entity.name}.{stored.name}",
            hint=f"set the whole field, .set({stored.name}=...), with only_if on its old value",
        )
    root = update.name(stored.attribute)
    paths = [steps for steps, _ in change.changes]
    for number, steps in enumerate(paths):
        if any(other[: len(steps)] == steps or steps[: len(other)] == other for other in paths[:number]):
            raise UpdateRejected("two changes of the update overlap", place=f"{entity.name}.{stored.name}")
    for steps, inner in change.changes:
        _part(entity, update, stored, root, steps, inner)


def _part(
    entity: CompiledEntity, update: CompiledUpdate, stored: StoredField, root: str, steps: actions.Steps, change: Any
) -> None:
    place = ".".join(map(str, (entity.name, stored.name, *steps)))
    part: Any = stored_field(entity, stored.name)
    around, annotation = stored.annotation, stored.annotation
    path = whole = root
    try:
        for step in steps:
            _check_step(step, place)
            part = part_of(part, step)
            around, annotation = annotation, type_at(annotation, step)
            stored_as = stored_step(around, step)
            inner = f"[{stored_as}]" if isinstance(stored_as, int) else f".{update.name(stored_as)}"
            whole, path = path, path + inner
    except Problem as problem:
        raise UpdateRejected(str(problem), place=place, hint=problem.hint) from None
    begins = in_map(around)  # the map may not contain the key yet
    changes_there = isinstance(steps[-1], int) or (isinstance(change, actions.Add | actions.Append) and not begins)
    clause = f"attribute_exists({path if changes_there else whole})"
    if clause not in update.clauses:
        update.clauses.append(clause)
    match change:
        case actions.Add():
            added = update.value(_checked_part(unbounded(annotation), change.amount, place, entity))
            bounded = replace(stored, default=None, bounds=tuple(bounds_of(annotation)))
            update.clauses.extend(_within(update, bounded, path, change.amount))
            start = f"if_not_exists({path}, {update.value({'N': '0'})})" if begins else path
            update.sets.append(f"{path} = {start} + {added}")
        case actions.Append():
            items = update.value(_checked_part(unbounded(annotation), list(change.items), place, entity))
            start = f"if_not_exists({path}, {update.value({'L': []})})" if begins else path
            update.sets.append(f"{path} = list_append({start}, {items})")
        case actions.Remove():
            if needs_value(around, steps[-1]):
                raise UpdateRejected("a required part can't be removed", place=place, hint="set the part to a value")
            update.removes.append(path)
        case actions.IfNotExists():
            value = update.value(_checked_part(annotation, change.value, place, entity))
            update.sets.append(f"{path} = if_not_exists({path}, {value})")
        case actions.Change():
            raise UpdateRejected(f"{shown(change)} supports only whole fields", place=place, hint="set the part")
        case _:
            update.sets.append(f"{path} = {update.value(_checked_part(annotation, change, place, entity))}")


def _check_step(step: int | str, place: str) -> None:
    """Validate a path step, because a stored map key can be invalid in expressions. Raises ArgumentError."""
    if isinstance(step, int):
        if step > LIST_INDEX_MAX:
            raise ArgumentError(f"a list index must be at most {LIST_INDEX_MAX:,}, not {step}", place=place)
        return
    try:
        size = len(step.encode())
    except UnicodeEncodeError:
        raise ArgumentError("a map key isn't valid Unicode", place=place) from None
    if not 0 < size <= NAME_BYTES_MAX:
        raise ArgumentError(
            "a map key in an update must have 1 to 65,535 bytes",
            place=place,
            hint="set the whole field",
        )


def _checked_part(annotation: Any, value: Any, place: str, entity: CompiledEntity) -> dict[str, Any]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        checked = adapter.validate_python(value, strict=not isinstance(value, int | float | Decimal))
    except ValidationError as error:
        raise ArgumentError("wrong values", place=entity.name, errors=error_details_of(error, place)) from None
    return entity.encode_field(place.partition(".")[2], encode_value, checked)


def _add(entity: CompiledEntity, update: CompiledUpdate, stored: StoredField, amount: Any) -> None:
    encoded = entity.encode_field(stored.name, encode_value, amount)
    name, added = update.name(stored.attribute), update.value(encoded)
    if stored.default:
        begin = update.value(entity.encode_field(stored.name, encode_value, stored.default))
        update.sets.append(f"{name} = if_not_exists({name}, {begin}) + {added}")
    else:
        update.adds.append(f"{name} {added}")
    update.clauses.extend(_within(update, stored, name, amount))
    _expect_stored(update, stored, name)


def _expect_stored(update: CompiledUpdate, stored: StoredField, name: str) -> None:
    """Require the stored value, or no value for a default. A computed default can't be part of a condition."""
    if stored.made_anew:
        update.clauses.append(f"attribute_exists({name})")


def _refuse_beginning(entity: CompiledEntity, stored: StoredField, change: actions.Change) -> None:
    if stored.default:
        raise UpdateRejected(
            f"{shown(change)} doesn't support the non-empty default {shown(stored.default)}",
            place=f"{entity.name}.{stored.name}",
            hint=f"use an empty default; or .set({stored.name}=...) with only_if on the old value",
        )


def _within(update: CompiledUpdate, stored: StoredField, name: str, amount: Any) -> Iterator[str]:
    """Conditions that keep a number within its bounds after adding the amount."""
    begin = (stored.default or 0) + amount
    for operator, bound in stored.bounds:
        lower = operator in {">", ">="}
        if lower is (amount < 0):
            clause = f"{name} {operator} {update.value(encode_value(Decimal(str(bound)) - Decimal(str(amount))))}"
            from_nothing = begin > bound if lower else begin < bound
            if from_nothing or (begin == bound and operator in {">=", "<="}):
                clause = f"(attribute_not_exists({name}) OR {clause})"
            yield clause


def _version(entity: CompiledEntity, update: CompiledUpdate, target: Entity | type[Entity]) -> None:
    version = entity.version
    if version is None:
        return
    if isinstance(target, type):
        update.adds.append(f"{update.name(version.attribute)} {update.value({'N': '1'})}")
        return
    before = getattr(target, version.name)
    update.set(version.attribute, {"N": str(before + 1)})
    update.pins[version.name] = before or None
