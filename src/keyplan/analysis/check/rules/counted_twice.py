"""An increment may be counted twice, or not at all, when its answer is lost.

``Add`` and ``Append`` are not the same when they are made twice. A single UpdateItem whose answer is lost (a timeout, a
connection that breaks) may have been carried out: the client doesn't repeat it, and raises StoreError, and a caller who
repeats it may count twice. Of a transaction that is known by its token, a repetition does nothing.

Where the number must be right (money, stock), give the entity a field ``applied: Tokens = set()`` and the update a
token that names the event: ``Update(Account, ...).set(balance=Add(amount)).idempotent(payment_id)`` is carried out
once, however often it is sent or called. Or make the increment part of a transaction with an item for the event:
``Create(Payment(payment_id=...))`` fails the second time. Where the number may be off by a few, silence it; views,
likes and their like aren't reported.

Source: "Error retries and exponential backoff"; TransactWriteItems, ClientRequestToken, in the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


ROUGH = frozenset(
    {"clicks", "downloads", "hits", "impressions", "likes", "plays", "reads", "shares", "views", "visits"}
)
"""Names of numbers that may be off by a few."""


def _find(subject: Subject) -> Iterator[Remark]:
    for account in subject.writes:
        alone = [element for element in account.actions if not element.batched]
        if len(alone) != 1 or account.operation != "UpdateItem":
            continue
        action = alone[0]
        names = sorted(
            name for name, change in action.changes.items() if change in {"Add", "Append"} and name not in ROUGH
        )
        if names and action.entity is not None and not action.conditional and action.entity.version is None:
            if action.once:
                continue
            entity = action.entity.name
            field = (
                "" if action.entity.tokens is not None else f"give {entity} a field applied: IdempotencyTokens, and "
            )
            yield Remark(
                account.pattern.place,
                f"its one request adds to {entity}.{' and '.join(names)}: "
                "when the answer is lost, nobody knows whether that was done",
                f"if it must be exact: {field}end the Update with .idempotent(...), of what names the event; or "
                "yield Create of an item for the event beside it, in one transaction",
                line=action.line,
            )


RULE = Rule("KP314", Severity.INFO, _find, __name__, __doc__)
