"""Increment that can be applied twice.

``Add`` and ``Append`` aren't idempotent. If the response to a single UpdateItem is lost (a timeout, a broken
connection), the outcome is unknown: the client doesn't retry the request, and raises ``StoreError``. If the caller
retries the write, the value can be counted twice. A transaction has a client request token, so the client can retry it
safely.

If the number must be exact (money, stock), add an ``IdempotencyTokens`` field to the entity, and the id of the event to
the update, as in ``Update(...).set(balance=Add(amount)).idempotent(payment_id)``. Or create an item for the event in
the same transaction, so that a second ``Create(Payment(payment_id=...))`` fails. Ignore the finding if the number can
be off by a few. Fields such as ``views`` and ``likes`` aren't reported.

See "Error retries and exponential backoff" in the Developer Guide, and TransactWriteItems in the API Reference.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject

ROUGH = frozenset(
    {"clicks", "downloads", "hits", "impressions", "likes", "plays", "reads", "shares", "views", "visits"}
)
"""Names of numbers that can be off by a few."""


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        alone = [element for element in written.actions if not element.batched]
        if len(alone) != 1 or written.operation != "UpdateItem":
            continue
        action = alone[0]
        names = sorted(
            name for name, change in action.changes.items() if change in {"Add", "Append"} and name not in ROUGH
        )
        safe = action.once or action.conditional
        if names and action.entity is not None and not safe and action.entity.version is None:
            entity = action.entity.name
            field = "" if action.entity.tokens else f"give {entity} a field applied: IdempotencyTokens, and "
            added = f"a single request adds to {entity}.{' and '.join(names)}"
            message = f"{added}: if the response is lost, the outcome is unknown"
            exact = f"if the value must be exact, {field}add .idempotent(...) with an id of the event"
            hint = f"{exact}, or create an item for the event in the same transaction"
            yield Remark(written.pattern.place, message, hint, line=action.line)


RULE = Rule("KP314", Severity.INFO, _find, __name__, __doc__)
