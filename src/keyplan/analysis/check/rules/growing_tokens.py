"""Tokens of updates stay in their item until something takes them out.

Each ``Update(...).idempotent(token)`` leaves its token in the item's field of type ``IdempotencyTokens``. An item is
paid for whole, in each read and write, so it grows dearer with each event, and ends at 400 KB: then nothing can be
added to it any more. It is reported where a write of the design leaves tokens in an entity's items, and none takes any
out, by ``SetRemove``, by a new value of the field or by deleting the item; items that expire (``Ttl``) are left out.

Discard tokens that can't come again (``Update(account, applied=SetRemove(old))``), in a job or beside the next one; or
let each event be an item of its own, ``Create(Payment(payment_id=...))`` beside the update. Where only few events
ever come to an item, that is a reason to silence it.

Source: "Item size" in "Constraints in Amazon DynamoDB" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.dynamodb.values import item_size
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["RULE"]

TOKEN_LETTERS = 26
"""Those of a ULID."""
WRITE_UNIT_BYTES = 1024


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        tokens = entity.tokens
        if tokens is None or entity.ttl is not None or _are_taken_out(subject, entity, tokens.name):
            continue
        own = [
            account.pattern.name
            for account in subject.writes
            if any(action.once and action.entity is entity for action in account.actions)
        ]
        if not own:
            continue
        each = item_size({tokens.attribute: {"SS": ["x" * TOKEN_LETTERS, "y" * TOKEN_LETTERS]}})
        each -= item_size({tokens.attribute: {"SS": ["x" * TOKEN_LETTERS]}})
        a_unit = f"{WRITE_UNIT_BYTES:,} ÷ {each} = {WRITE_UNIT_BYTES // each} of them are a unit more in each write"
        yield Remark(
            f"{entity.name}.{tokens.name}",
            f"{' and '.join(own)} leaves a token in it for each event, and no write takes any out",
            "take out by Discard those that can't come again, or create an item for each event",
            (
                f"a token of {TOKEN_LETTERS} letters = {each} bytes; {a_unit}",
                f"{ITEM_BYTES_MAX:,} ÷ {each} = {ITEM_BYTES_MAX // each:,} of them, and the item takes no more",
            ),
        )


def _are_taken_out(subject: Subject, entity: CompiledEntity, name: str) -> bool:
    """Whether a write takes tokens out of an entity's items, or the items away."""
    return any(
        action.entity is entity and (action.kind == "Delete" or name in action.changes)
        for account in subject.writes
        for action in account.actions
    )


RULE = Rule("KP318", Severity.INFO, _find, __name__, __doc__)
