"""A token is the same for every event of an item.

``Update(...).idempotent(token)`` is carried out where the token isn't in the item yet. A token that stands in the code,
or is made of nothing but what names the item, is there from the first event on: every later one writes nothing, and the
caller is told that all went well. It is reported where the update changes the item further (``Add``, ``Append``): a
mark that is set once may well have such a token.

Let the token name the event: the payment's id, the message's, the request's. Where each item is to be changed just once
by that write, as by a bonus for joining, that is a reason to silence it.

Source: "Idempotent operations" in the Amazon Builders' Library: "Making retries safe with idempotent APIs".
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for account in subject.writes:
        for action in account.actions:
            entity = action.entity
            if not action.once or entity is None or not {*action.changes.values()} & {"Add", "Append"}:
                continue
            if not action.named_by <= {*entity.key_fields, "self"}:
                continue
            made = f"made of {' and '.join(sorted(action.named_by))} alone" if action.named_by else "always the same"
            yield Remark(
                account.pattern.place,
                f"its token is {made}: each {entity.name} is changed by its first call, and by none after it",
                "make the token of what names the event: a payment's id, a message's, a request's",
                line=action.line,
            )


RULE = Rule("KP319", Severity.WARNING, _find, __name__, __doc__)
