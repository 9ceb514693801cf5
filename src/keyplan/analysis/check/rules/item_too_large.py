"""Item that can exceed 400 KB.

DynamoDB rejects items over 400 KB (409,600 bytes, including attribute names). A write costs 1 write unit per KB of the
item, even if only one attribute changes. The rule reports fields without ``max_length`` that contain a document or to
which a write adds elements, idempotency tokens that no write removes, and items over 100 KB in the traffic file.

Set a ``max_length`` for the field, or store each element as a separate item under the same partition key. Store large
objects in Amazon S3, and their URLs in the item. Remove old idempotency tokens with ``SetRemove``.

See "Constraints in Amazon DynamoDB" and "Best practices for storing large items" in the Developer Guide.
"""

from __future__ import annotations

from typing import get_args

from keyplan.analysis.check.check_subject import length_max
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.dynamodb.limits import ITEM_BYTES_MAX, KIB_BYTES
from keyplan.model.compiled.constants import domain_of
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

LARGE_BYTES = 100 * KIB_BYTES


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        for field in subject.documents(entity):
            if length_max(field.annotation) is None:
                message = f"the field has no maximum length, and an item over {ITEM_BYTES_MAX:,} bytes is rejected"
                hint = "give the field a max_length, or split longer values into several items"
                arithmetic = (f"400 KB × {KIB_BYTES:,} = {ITEM_BYTES_MAX:,} bytes, including attribute names",)
                yield Remark(f"{entity.name}.{field.name}", message, hint, arithmetic)
        size = subject.stored(entity).item_bytes
        if size is not None and size > LARGE_BYTES:
            units = -(-size // KIB_BYTES)
            message = f"the items are {size:,} bytes; the limit is {ITEM_BYTES_MAX:,}"
            hint = "move the attributes that are rarely read, or often changed, to separate items"
            arithmetic = (f"{size:,} bytes ÷ {KIB_BYTES:,}, rounded up = {units:,} write units per change",)
            yield Remark(entity.name, message, hint, arithmetic)
    yield from _bound_too_high(subject)
    yield from _growing(subject)


def _bound_too_high(subject: Subject) -> Remarks:
    """Report fields whose max_length exceeds the item size limit: a character or element has at least one byte."""
    for entity in subject.design.entities.values():
        for field in entity.fields.values():
            most = length_max(field.annotation)
            if most is not None and most > ITEM_BYTES_MAX and not field.computed:
                message = f"the max_length is {most:,}, and an item over {ITEM_BYTES_MAX:,} bytes is rejected"
                hint = "reduce the max_length, or split longer values into several items"
                arithmetic = (f"400 KB × {KIB_BYTES:,} = {ITEM_BYTES_MAX:,} bytes, including attribute names",)
                yield Remark(f"{entity.name}.{field.name}", message, hint, arithmetic)


def _growing(subject: Subject) -> Remarks:
    for written, action, entity in subject.actions:
        further = {name for name, change in action.changes.items() if change in {"Append", "SetAdd"}}
        keyed = {name for name in action.keyed & entity.fields.keys() if _takes_any_key(entity.fields[name])}
        for name in sorted(further | action.grown | keyed):
            if name in entity.fields and length_max(entity.fields[name].annotation) is None:
                yield Remark(
                    written.pattern.place,
                    f"each call adds to {entity.name}.{name}, which has no maximum length",
                    "store the elements as items in the same partition, or give the field a max_length",
                    (f"limit of an item: {ITEM_BYTES_MAX:,} bytes; each change is charged for the whole item",),
                )
        tokens = entity.tokens
        if action.once and tokens is not None and not _taken_out(subject, entity, tokens.name):
            message = f"each call adds a token to {entity.name}.{tokens.name}, and no write removes tokens"
            hint = f"remove old tokens with {tokens.name}=SetRemove({{token}}), or create an item for each event"
            arithmetic = (f"limit of an item: {ITEM_BYTES_MAX:,} bytes; each change is charged for the whole item",)
            yield Remark(written.pattern.place, message, hint, arithmetic)


def _takes_any_key(field: StoredField) -> bool:
    if kind_of(field.annotation) is not dict:
        return False
    arguments = next((get_args(part) for part in (field.annotation, *get_args(field.annotation)) if get_args(part)), ())
    return not arguments or domain_of(arguments[0]) is None


def _taken_out(subject: Subject, entity: CompiledEntity, name: str) -> bool:
    actions = (action for _, action, owner in subject.actions if owner is entity)
    return any(action.changes.get(name) in {"SetRemove", "Remove", "set"} or action.open for action in actions)


RULE = Rule("KP103", Severity.WARNING, _find, __name__, __doc__)
