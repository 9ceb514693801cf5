"""Runs access patterns from the page: the form, the result with the exact requests, and the changes of a write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from keyplan.client.conversations import Request
from keyplan.dynamodb.expressions import Placeholders, UpdateFault, bind_update
from keyplan.errors import ArgumentError, KeyplanError, Refused
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design
from keyplan.studio.drawing import colour_of
from keyplan.studio.items import Item, attribute_text, identity
from keyplan.studio.maps import path_json
from keyplan.studio.paths import KEY, Path, actions, example_arguments, read_path, write_path
from keyplan.studio.sampling import sample
from keyplan.studio.subject import Subject
from keyplan.testing.stores import Factory, sample_value
from keyplan.web.design_page import fields
from keyplan.web.openapi import Schemas

EXAMPLES = 8
PICKS_MAX = 100
"""Maximum number of items of an entity that a form offers."""


def needed(subject: Subject) -> Design:
    if subject.design is None:
        raise Refused(
            "this table was opened without a design", hint="open the studio of a design: keyplan studio DESIGN"
        )
    return subject.design


def form_json(subject: Subject, question: str) -> dict[str, Any]:
    design = needed(subject)
    pattern = design.compiled.pattern(question)
    schemas = Schemas(design.compiled, [pattern])
    picks: dict[str, list[dict[str, Any]]] = {}
    shown = sample(subject).items
    for parameter in pattern.signature.parameters:
        entity = design.compiled.entities.get(parameter.annotation)
        if entity is not None:
            own = (item for item in shown if design.compiled.entity_of(item) is entity)
            picks[parameter.name] = [_pick(subject, entity, item) for item in islice(own, PICKS_MAX)]
    examples = example_arguments(design.compiled, pattern, shown) if isinstance(pattern, ReadPattern) else ()
    return {
        "question": question,
        "kind": "read" if isinstance(pattern, ReadPattern) else "write",
        "signature": str(pattern.signature),
        "fields": fields(pattern, schemas),
        "examples": list(islice(examples, EXAMPLES)),
        "picks": picks,
    }


def run_json(subject: Subject, question: str, arguments: Mapping[str, Any], *, send: bool) -> dict[str, Any]:
    """Run a read, a dry run of a write, or (with ``send``) a write. Raises UnknownPattern, Refused."""
    design = needed(subject)
    pattern = design.compiled.pattern(question)
    if isinstance(pattern, ReadPattern):
        return path_json(subject, question, read_path(design, pattern, arguments))
    if not send:
        path = write_path(design, question, arguments, send=False)
        touched = _touched(subject, path)
        before = stored_items(subject, touched.values())
        changes = changes_json(subject, touched, before, _planned(subject, path, before))
        return {**path_json(subject, question, path), "rehearsed": True, "changes": changes}
    require_writable(subject)
    planned = _touched(subject, write_path(design, question, arguments, send=False))
    before = stored_items(subject, planned.values())
    path = write_path(design, question, arguments, send=True)
    touched = _touched(subject, path)
    changes = changes_json(subject, touched, before, stored_items(subject, touched.values()))
    return {
        **path_json(subject, question, path),
        "rehearsed": False,
        "changes": [change for change in changes if change["attributes"]],
    }


def _pick(subject: Subject, entity: CompiledEntity, item: Item) -> dict[str, Any]:
    key = subject.key_of(item)
    words = [attribute_text(value, 40) for name, value in item.items() if name not in key]
    label = " / ".join(map(attribute_text, key.values()))
    return {"entity": entity.name, "label": f"{label}  {' '.join(words[:2])}", "value": {KEY: key}}


def require_writable(subject: Subject) -> None:
    if not subject.writable:
        raise Refused("this studio is read-only", hint="start the studio with --allow-writes to change this store")


def _planned(subject: Subject, path: Path, before: Mapping[str, Item]) -> dict[str, Item]:
    """The items by identity as the write would leave them if all of its conditions are true."""
    after = dict(before)
    for step in path.steps:
        for kind, action in actions(step.operation, step.parameters):
            key = subject.key_of(action.get("Item") or action["Key"])
            name = identity(key)
            if kind == "Put":
                after[name] = action["Item"]
            elif kind == "Delete":
                after.pop(name, None)
            elif kind == "Update":
                given = Placeholders(action.get("ExpressionAttributeNames"), action.get("ExpressionAttributeValues"))
                old = {attribute: dict(value) for attribute, value in after.get(name, key).items()}
                with suppress(UpdateFault):  # the store reports updates that don't match the item
                    after[name] = bind_update(action["UpdateExpression"], given).apply(old)
    return after


def _touched(subject: Subject, path: Path) -> dict[str, Item]:
    keys = [subject.key_of(item) for step in path.steps for _, item in step.touched]
    return {identity(key): key for key in keys}


def stored_items(subject: Subject, keys: Iterable[Item]) -> dict[str, Item]:
    requests = [
        Request("GetItem", {"TableName": subject.table_name, "Key": dict(key), "ConsistentRead": True}) for key in keys
    ]
    answers = subject.transport.call_all(requests) if requests else []
    items = [answer["Item"] for answer in answers if "Item" in answer]
    return {subject.identity_of(item): item for item in items}


def changes_json(
    subject: Subject, keys: Mapping[str, Item], before: Mapping[str, Item], after: Mapping[str, Item]
) -> list[dict[str, Any]]:
    """The changes of items: each changed attribute and index entry."""
    result: list[dict[str, Any]] = []
    for name, key in keys.items():
        old, new = before.get(name), after.get(name)
        attributes: list[str] = sorted({*(old or {}), *(new or {})})
        kind = subject.kind_of(new or old or key)
        result.append(
            {
                "id": name,
                "key": key,
                "kind": kind.label,
                "colour": colour_of(subject, kind),
                "was": old is not None,
                "is": new is not None,
                "attributes": [
                    {"name": attribute, "before": (old or {}).get(attribute), "after": (new or {}).get(attribute)}
                    for attribute in attributes
                    if (old or {}).get(attribute) != (new or {}).get(attribute)
                ],
                "entries": list(_entries(subject, old, new)),
            }
        )
    return result


def _entries(subject: Subject, old: Item | None, new: Item | None) -> Iterator[dict[str, Any]]:
    for index in subject.table.indexes:
        names = [attribute.name for attributes in subject.key_attributes(index) for attribute in attributes]
        texts = [
            " / ".join(attribute_text(item[name]) for name in names) if item and all(n in item for n in names) else None
            for item in (old, new)
        ]
        if texts[0] != texts[1]:
            yield {"index": index.name, "before": texts[0], "after": texts[1]}


IDS = 3
"""Number of values of each key field; few, so that several entities share item collections."""
EACH = 9


def write_generated(design: Design) -> int:
    """Write up to nine sample items of each entity. Returns the number written. Raises StoreError, DynamoDBError."""
    return sum(_is_written(design, item) for entity in design.compiled.entities.values() for item in _items(entity))


def _items(entity: CompiledEntity) -> Iterator[Entity]:
    make, fields = Factory(), entity.cls.model_fields
    keys = [name for name in fields if name in entity.key_fields]
    for number in range(min(EACH, IDS ** len(keys)) if keys else 1):
        given = {name: sample_value(fields[name], name, number // IDS**at % IDS) for at, name in enumerate(keys)}
        try:
            yield make(entity.cls, **given)
        except ArgumentError:  # fields depend on each other, or have a type without sample values
            continue


def _is_written(design: Design, item: Entity) -> bool:
    try:
        design.create(item)
    except KeyplanError as error:
        if error.code in {"StoreError", "DynamoDBError"}:
            raise
        return False  # the sample's unique value is taken, or its key is invalid
    return True
