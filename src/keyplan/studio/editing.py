"""Validates staged edits, previews the exact requests, and saves the edits in one transaction. The write compiler
compiles edits of an entity's items (their fields must be unchanged). Edits of items without an entity set attributes.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from keyplan.client.conversations import Conversation, Request, Target
from keyplan.client.transactions import send
from keyplan.client.write_compiler import Operation, WriteCompiler
from keyplan.dynamodb.values import check_value
from keyplan.dynamodb.values.validation import ValueFault
from keyplan.errors import DynamoDBError, ErrorDetail, RequestError
from keyplan.model.declared.actions import Action, Create, Delete, Update
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.stored_entity import CompiledEntity, error_details_of
from keyplan.studio.items import MASK, Item, identity, instance_of
from keyplan.studio.paths import Path, followed
from keyplan.studio.running import changes_json, require_writable, stored_items
from keyplan.studio.subject import Subject

EDITS_MAX = 100
"""Maximum number of actions in a transaction. Source: TransactWriteItems in the API reference."""
JOURNAL_MAX = 200
"""Maximum number of saved transactions that can be undone."""


@dataclass(frozen=True)
class _Made:
    """The operations of an edit, and the items after the edit, by identity (None: deleted)."""

    operations: Sequence[Any]
    after: Mapping[str, Item | None]


@dataclass
class Journal:
    """The transactions that this process saved and can undo, with the items before and after each transaction."""

    saved: dict[str, tuple[Mapping[str, Item], Mapping[str, Item]]] = field(default_factory=dict[str, Any])

    def add(self, before: Mapping[str, Item], after: Mapping[str, Item]) -> str:
        """Keep a transaction, and return the name generated for it. The oldest transactions are dropped."""
        name = secrets.token_hex(8)
        self.saved[name] = (before, after)
        while len(self.saved) > JOURNAL_MAX:
            self.saved.pop(next(iter(self.saved)))
        return name


def undo_json(subject: Subject, name: str, journal: Journal) -> dict[str, Any]:
    """Restore the items of a saved transaction, if no item was changed later. Raises RequestError, Refused."""
    require_writable(subject)
    if name not in journal.saved:
        raise RequestError("this change can no longer be undone", hint="edit the items again")
    old, new = journal.saved[name]
    keys = {identity: subject.key_of(item) for identity, item in {**new, **old}.items()}
    before = stored_items(subject, keys.values())
    raw = [
        _restored(subject, keys[each], old.get(each), new.get(each)) for each in keys if old.get(each) != new.get(each)
    ]
    path = Path({})
    try:
        followed(_send(raw), subject.transport, path, send=True)
    except DynamoDBError as error:
        raise RequestError(
            "an item was changed since it was saved, so the change can't be undone", hint="edit the items again"
        ) from error
    after = stored_items(subject, keys.values())
    return {
        "saved": True,
        "undone": True,
        "undo": journal.add(before, after),
        "changes": changes_json(subject, keys, before, after),
        "requests": [step.as_json() for step in path.steps],
    }


def _restored(subject: Subject, key: Item, old: Item | None, new: Item | None) -> dict[str, Any]:
    """The operation that restores an item, on the condition that the item still has the saved values."""
    if new is None:
        return _new_item(subject, old or {})
    made = _RawChange(new)
    for name in {**new, **(old or {})}:
        if name not in key and (old is None or old.get(name) != new.get(name)):
            made.change(name, None if old is None else old.get(name))
    return made.operation(subject, "Delete" if old is None else "Update", key)


def edit_json(subject: Subject, edits: Any, *, save: bool, journal: Journal | None = None) -> dict[str, Any]:
    """Preview or save edits. Raises RequestError for invalid edits, WriteFailed, and Refused for a read-only store."""
    require_writable(subject)
    if not isinstance(edits, list) or not 1 <= len(edits) <= EDITS_MAX:
        raise RequestError(f"a transaction must have 1 to {EDITS_MAX} edits", hint="save some of the edits first")
    made = _made(subject, edits)
    raw = [operation for each in made for operation in each.operations]
    if len(raw) > EDITS_MAX:
        raise RequestError(
            f"these edits need {len(raw)} operations, including claims and moved items; the maximum is {EDITS_MAX}",
            hint="save some of the edits first",
        )
    after: dict[str, Item | None] = {name: item for each in made for name, item in each.after.items()}
    keys = {identity(key): key for value in raw if (key := _key_of(subject, value))}
    before = stored_items(subject, keys.values())
    path = Path({})
    followed(_send(raw), subject.transport, path, send=save)
    if save:
        now: Mapping[str, Item] = stored_items(subject, keys.values())
    else:
        now = {name: item for name, item in {**before, **after}.items() if item is not None}
    return {
        "saved": save,
        "undo": journal.add(before, now) if save and journal is not None else None,
        "changes": changes_json(subject, keys, before, now),
        "requests": [step.as_json() for step in path.steps],
    }


def _send(operations: Sequence[Any]) -> Conversation[Any]:
    """Send compiled and raw operations together in one request."""
    if all(isinstance(operation, Operation) for operation in operations):
        return (yield from send(list(operations), "studio"))
    items = [{each.kind: dict(each.parameters)} if isinstance(each, Operation) else each for each in operations]
    return (yield Request("TransactWriteItems", {"TransactItems": items}))


def _key_of(subject: Subject, operation: Any) -> dict[str, Any]:
    parameters = operation.parameters if isinstance(operation, Operation) else next(iter(operation.values()))
    return subject.key_of(parameters.get("Item") or parameters["Key"])


def _made(subject: Subject, edits: Sequence[Any]) -> list[_Made]:
    mades: list[_Made] = []
    faults: list[ErrorDetail] = []
    for number, edit in enumerate(edits):
        try:
            mades.append(_one(subject, edit))
        except RequestError as error:
            own = error.errors or (ErrorDetail("", error.message, error.hint),)
            faults += [
                ErrorDetail(f"edits[{number}]{'.' if fault.place else ''}{fault.place}", fault.message, fault.hint)
                for fault in own
            ]
    if faults:
        raise RequestError("these edits can't be saved", errors=faults)
    return mades


def _one(subject: Subject, edit: Any) -> _Made:
    if not isinstance(edit, dict) or edit.get("do") not in ("change", "delete", "create"):
        raise RequestError("an edit must change, delete or create an item")
    design = subject.compiled
    if edit["do"] == "create":
        if "item" in edit:
            return _created_item(subject, edit["item"])
        entity = None if design is None else design.by_name.get(str(edit.get("entity")))
        if entity is None:
            raise RequestError("unknown entity", hint="choose an entity of the design")
        return _created(subject, entity, edit.get("fields"))
    key = edit.get("key")
    if not isinstance(key, dict):
        raise RequestError("the edit has no item key")
    answer = subject.transport.call("GetItem", {"TableName": subject.table_name, "Key": key, "ConsistentRead": True})
    if "Item" not in answer:
        raise RequestError("the item no longer exists", hint="discard this edit")
    item: Item = answer["Item"]
    entity = subject.kind_of(item).entity
    instance = instance_of(entity, item)
    if edit["do"] == "delete":
        raw = [_RawChange({}).operation(subject, "Delete", subject.key_of(item))]
        operations = raw if instance is None else _operations(subject, Delete(instance))
        return _Made(operations, {subject.identity_of(item): None})
    changes = edit.get("fields")
    if not isinstance(changes, dict) or not changes:
        raise RequestError("the edit changes nothing")
    if entity is None or instance is None:
        return _raw_change(subject, item, changes, edit.get("was"))
    return _changed(subject, entity, instance, item, changes, edit.get("was"))


# Items of an entity


def _operations(subject: Subject, *actions: Action) -> list[Operation]:
    entities = {} if subject.compiled is None else subject.compiled.entities
    compiler = WriteCompiler(entities, Target(subject.table_name, subject.table))
    return [operation for action in actions for operation in compiler.compile(action).operations]


def _created(subject: Subject, entity: CompiledEntity, given: Any) -> _Made:
    if not isinstance(given, dict):
        raise RequestError("the new item has no fields")
    try:
        instance = entity.cls.model_validate_json(json.dumps(given))
    except ValidationError as error:
        raise RequestError("invalid fields", errors=error_details_of(error, entity.name)) from None
    return _created_instance(subject, entity, instance)


def _created_instance(subject: Subject, entity: CompiledEntity, instance: Entity) -> _Made:
    item = entity.to_item(instance)
    return _Made(_operations(subject, Create(instance)), {subject.identity_of(item): item})


def _changed(
    subject: Subject, entity: CompiledEntity, instance: Entity, item: Item, changes: Mapping[str, Any], was: Any
) -> _Made:
    values = validated_fields(entity, changes)
    before = {name: getattr(instance, name) for name in values}
    _check_unchanged(entity, before, was)
    new = entity.checked(instance.model_copy(update=values))
    own = subject.identity_of(item)
    after = entity.to_item(new)
    name = subject.identity_of(after)
    if name != own:  # a changed primary key moves the item
        return _Made(_operations(subject, Delete(instance).only_if(**before), Create(new)), {own: None, name: after})
    plain = {text: value for text, value in values.items() if value != before[text]}
    if not plain:
        raise RequestError("the edit changes nothing", hint="discard the edit")
    update = Update(instance).set(**plain).only_if(**{text: before[text] for text in plain})
    return _Made(_operations(subject, update), {own: after})


def validated_fields(entity: CompiledEntity, changes: Mapping[str, Any]) -> dict[str, Any]:
    """New field values from JSON data. Raises RequestError with all errors."""
    faults: list[ErrorDetail] = []
    result: dict[str, Any] = {}
    for name, value in changes.items():
        known = entity.fields.get(name)
        if known is None or known.computed:
            faults.append(ErrorDetail(f"{entity.name}.{name}", "isn't a field that can be edited"))
            continue
        try:
            result[name] = _of_type(known.annotation, value)
        except ValidationError as error:
            faults += error_details_of(error, f"{entity.name}.{name}")
    if faults:
        raise RequestError("invalid fields", errors=faults)
    return result


def _of_type(annotation: Any, value: Any) -> Any:
    """A field's value from JSON data. If a string isn't valid, it is parsed as JSON. Raises ValidationError."""
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    try:
        return adapter.validate_json(json.dumps(value))
    except ValidationError:
        if not isinstance(value, str):
            raise
        try:
            held = json.loads(value)
        except (ValueError, RecursionError):
            held = value
        return adapter.validate_json(json.dumps(held))


def _check_unchanged(entity: CompiledEntity, before: Mapping[str, Any], was: Any) -> None:
    """Raise RequestError if a field was changed after the page read the item."""
    if not isinstance(was, dict):
        return
    known = validated_fields(entity, {name: value for name, value in was.items() if name in before})
    others = [name for name, value in known.items() if value != before[name]]
    if others:
        raise _changed_meanwhile(", ".join(others))


def _changed_meanwhile(names: str) -> RequestError:
    return RequestError(f"the item was changed meanwhile: {names}", hint="discard this edit, and edit the item again")


# Items without an entity


def _created_item(subject: Subject, item: Any) -> _Made:
    """The edit for a new item in DynamoDB JSON. The write compiler compiles an entity's item."""
    if not isinstance(item, dict) or not all(isinstance(value, dict) and len(value) == 1 for value in item.values()):
        raise RequestError("the new item isn't DynamoDB JSON", hint='write {"pk": {"S": "text"}, ...}')
    _check_values(item)
    keys = [item.get(name, {}) for name in subject.table.key_names]
    if any(not isinstance(next(iter(key.values()), None), str) for key in keys):
        raise RequestError(f"the new item must have the key attributes {', '.join(subject.table.key_names)}")
    if {"S": MASK} in item.values():
        raise RequestError("the new item has a masked secret", hint="replace the mask with the secret")
    kind = subject.kind_of(item)
    if kind.role == "claim":
        raise RequestError("a claim can't be created without its item", hint="create only the item")
    instance = instance_of(kind.entity, item)
    if instance is not None and kind.entity is not None:
        return _created_instance(subject, kind.entity, instance)
    return _Made([_new_item(subject, item)], {subject.identity_of(item): item})


def _new_item(subject: Subject, item: Item) -> dict[str, Any]:
    condition = {
        "ConditionExpression": "attribute_not_exists(#key)",
        "ExpressionAttributeNames": {"#key": subject.table.partition.name},
    }
    return {"Put": {"TableName": subject.table_name, "Item": item, **condition}}


def _check_values(attributes: Mapping[str, Any]) -> None:
    """Raise RequestError with all values that DynamoDB would reject, so that invalid values fail in the preview."""
    faults: list[ErrorDetail] = []
    for name, value in attributes.items():
        try:
            check_value(value)
        except ValueFault as error:
            faults.append(ErrorDetail(name, error.message))
    if faults:
        raise RequestError("invalid attribute values", errors=faults)


def _raw_change(subject: Subject, item: Item, changes: Mapping[str, Any], was: Any) -> _Made:
    """Change attributes to values in DynamoDB JSON (None: remove). They must still have the values that were read."""
    made = _RawChange(was if isinstance(was, dict) else item)
    for name, value in changes.items():
        if name in subject.table.key_names:
            raise RequestError(
                f"{name} is a key attribute, which can't be changed", hint="delete the item, and create another"
            )
        if value is not None and (not isinstance(value, dict) or len(value) != 1):
            raise RequestError(f"the value of {name} isn't DynamoDB JSON", hint='write {"S": "text"} or {"N": "1"}')
        if value is not None:
            _check_values({name: value})
        if made.was.get(name) != item.get(name):
            raise _changed_meanwhile(name)
        made.change(name, value)
    after = {name: value for name, value in {**item, **changes}.items() if value is not None}
    return _Made([made.operation(subject, "Update", subject.key_of(item))], {subject.identity_of(item): after})


@dataclass
class _RawChange:
    """Builds an update of attributes. ``was`` contains the attributes as they were read."""

    was: Mapping[str, Any]
    sets: list[str] = field(default_factory=list[str])
    removes: list[str] = field(default_factory=list[str])
    conditions: list[str] = field(default_factory=list[str])
    names: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def change(self, name: str, value: Mapping[str, Any] | None) -> None:
        number = len(self.names)
        self.names[f"#a{number}"] = name
        if value is None:
            self.removes.append(f"#a{number}")
        else:
            self.values[f":a{number}"] = value
            self.sets.append(f"#a{number} = :a{number}")
        if self.was.get(name) is None:
            self.conditions.append(f"attribute_not_exists(#a{number})")
        else:
            self.values[f":w{number}"] = self.was[name]
            self.conditions.append(f"#a{number} = :w{number}")

    def operation(self, subject: Subject, kind: str, key: Item) -> dict[str, Any]:
        """An Update or Delete for TransactWriteItems, on the condition that the item exists."""
        clauses = [f"{verb} {', '.join(each)}" for verb, each in (("SET", self.sets), ("REMOVE", self.removes)) if each]
        parameters: dict[str, Any] = {
            "TableName": subject.table_name,
            "Key": key,
            "ConditionExpression": " AND ".join(["attribute_exists(#key)", *self.conditions]),
            "ExpressionAttributeNames": {"#key": subject.table.partition.name, **self.names},
        }
        if self.values:
            parameters["ExpressionAttributeValues"] = self.values
        if kind == "Update":
            parameters["UpdateExpression"] = " ".join(clauses)
        return {kind: parameters}
