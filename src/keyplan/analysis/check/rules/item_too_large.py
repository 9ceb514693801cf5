"""An item can grow beyond 400 KB.

DynamoDB refuses items over 400 KB (409,600 bytes, names included). Four things lead there: a text that holds a whole
document and has no bound, or one beyond that; a list, set or map that writes add to without an end; the tokens of
``Update(...).idempotent(token)``, which stay until a write takes them out (``SetRemove``); and items that are large
already, by the traffic file. A write costs a unit for each KB of the whole item, whichever attribute changes.

Bound the field (``max_length``), refuse longer values before the request, or split the item: parts of their own
under one partition key, or an object store with the address here.

Source: "Constraints in Amazon DynamoDB"; "Best practices for storing large items" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from keyplan.analysis.check.check_subject import Subject, length_max
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.dynamodb.limits import ITEM_BYTES_MAX, KIB_BYTES
from keyplan.model.compiled.constants import domain_of
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

__all__ = ["RULE"]

LARGE_BYTES = 100 * KIB_BYTES


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        for field in subject.documents(entity):
            if length_max(field.annotation) is None:
                yield Remark(
                    f"{entity.name}.{field.name}",
                    f"nothing bounds it, and an item over {ITEM_BYTES_MAX:,} bytes is refused when it is written",
                    "give it a max_length, or refuse what is longer before the request; split what must be longer",
                    (f"400 KB × {KIB_BYTES:,} = {ITEM_BYTES_MAX:,} bytes, names and keys included",),
                )
        size = subject.stored(entity).item_bytes
        if size is not None and size > LARGE_BYTES:
            units = -(-size // KIB_BYTES)
            yield Remark(
                entity.name,
                f"its items are {size:,} bytes, of {ITEM_BYTES_MAX:,} that are allowed",
                "split it: what is read rarely, or changes often, into items of their own",
                (f"{size:,} bytes ÷ {KIB_BYTES:,} = {units:,} write units for every change of any attribute",),
            )
    yield from _bound_too_high(subject)
    yield from _growing(subject)


def _bound_too_high(subject: Subject) -> Iterator[Remark]:
    """Fields whose own bound lets them be longer than an item: a character, or an element, is a byte at least."""
    for entity in subject.design.entities.values():
        for field in entity.fields.values():
            most = length_max(field.annotation)
            if most is not None and most > ITEM_BYTES_MAX and not field.computed:
                yield Remark(
                    f"{entity.name}.{field.name}",
                    f"it may be {most:,} long, and an item over {ITEM_BYTES_MAX:,} bytes is refused when it is written",
                    "give it a lower max_length, or split what must be longer",
                    (f"400 KB × {KIB_BYTES:,} = {ITEM_BYTES_MAX:,} bytes, names and keys included",),
                )


def _growing(subject: Subject) -> Iterator[Remark]:
    for written in subject.writes:
        for action in written.actions:
            entity = action.entity
            if entity is None:
                continue
            further = {name for name, change in action.changes.items() if change in {"Append", "SetAdd"}}
            keyed = {name for name in action.keyed & entity.fields.keys() if _takes_any_key(entity.fields[name])}
            for name in sorted(further | action.grown | keyed):
                if name in entity.fields and length_max(entity.fields[name].annotation) is None:
                    yield Remark(
                        written.pattern.place,
                        f"each call makes {entity.name}.{name} longer, and nothing bounds it",
                        "keep the elements as items of their own in the same partition, or bound the field",
                        (f"an item holds {ITEM_BYTES_MAX:,} bytes, and each change is paid for by its whole size",),
                    )
            tokens = entity.tokens
            if action.once and tokens is not None and not _taken_out(subject, entity, tokens.name):
                yield Remark(
                    written.pattern.place,
                    f"each call leaves a token in {entity.name}.{tokens.name}, and no write takes them out",
                    f"remove old ones, {tokens.name}=SetRemove({{token}}), or Create an item for each event beside it",
                    (f"an item holds {ITEM_BYTES_MAX:,} bytes, and each change is paid for by its whole size",),
                )


def _takes_any_key(field: StoredField) -> bool:
    """Whether a map may have any number of keys."""
    if kind_of(field.annotation) is not dict:
        return False
    arguments = next((get_args(part) for part in (field.annotation, *get_args(field.annotation)) if get_args(part)), ())
    return not arguments or domain_of(arguments[0]) is None


def _taken_out(subject: Subject, entity: CompiledEntity, name: str) -> bool:
    """Whether a write takes tokens out, or sets them anew."""
    actions = (action for account in subject.writes for action in account.actions if action.entity is entity)
    return any(action.changes.get(name) in {"SetRemove", "Remove", "set"} or action.open for action in actions)


RULE = Rule("KP103", Severity.WARNING, _find, __name__, __doc__)
