"""Idempotency tokens that are never removed.

Each ``Update(...).idempotent(token)`` adds its token to the ``IdempotencyTokens`` field of the item. Each read and
write is charged by the size of the whole item, so the cost grows with each event. If the item reaches 400 KB, updates
fail. The rule reports entities whose writes add tokens and never remove them with ``SetRemove``, a new value or a
deletion. Entities with a TTL aren't reported.

Remove the tokens of events that can no longer be retried (``Update(account, applied=SetRemove(old))``), in a job or
with the next update. Instead of storing tokens, you can create an item for each event, as in
``Create(Payment(payment_id=...))``. Ignore the finding if each item gets few events.

See the item size in "Constraints in Amazon DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.dynamodb.values import item_size
from keyplan.model.stored.stored_entity import CompiledEntity

TOKEN_LETTERS = 26
"""The characters of a ULID."""
WRITE_UNIT_BYTES = 1024


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        tokens = entity.tokens
        if tokens is None or entity.ttl is not None or _are_taken_out(subject, entity, tokens.name):
            continue
        users = (written.pattern.name for written, each, owner in subject.actions if each.once and owner is entity)
        own = dict.fromkeys(users)
        if not own:
            continue
        each = item_size({tokens.attribute: {"SS": ["x" * TOKEN_LETTERS, "y" * TOKEN_LETTERS]}})
        each -= item_size({tokens.attribute: {"SS": ["x" * TOKEN_LETTERS]}})
        a_unit = f"{WRITE_UNIT_BYTES:,} ÷ {each} = {WRITE_UNIT_BYTES // each} tokens add 1 write unit to each write"
        message = f"calls of {' and '.join(own)} add a token for each event, and no write removes tokens"
        hint = "remove old tokens with SetRemove, or create an item for each event"
        arithmetic = (
            f"a token of {TOKEN_LETTERS} characters = {each} bytes; {a_unit}",
            f"{ITEM_BYTES_MAX:,} ÷ {each} = {ITEM_BYTES_MAX // each:,} tokens fill the item",
        )
        yield Remark(f"{entity.name}.{tokens.name}", message, hint, arithmetic)


def _are_taken_out(subject: Subject, entity: CompiledEntity, name: str) -> bool:
    actions = (action for _, action, owner in subject.actions if owner is entity)
    return any(action.kind == "Delete" or name in action.changes for action in actions)


RULE = Rule("KP318", Severity.INFO, _find, __name__, __doc__)
