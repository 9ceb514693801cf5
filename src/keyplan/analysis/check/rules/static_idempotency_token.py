"""Idempotency token that is the same for every event.

``Update(...).idempotent(token)`` has no effect if the item already contains the token. If the token is constant or is
built only from the item's key, the first call adds it to the item, and later calls change nothing and report success.
The rule reports such a token if the update adds to a value of the item (``Add``, ``Append``).

Build the token from an id of the event, such as the id of a payment, a message or a request. Ignore the finding if each
item may be changed only once.

See "Making retries safe with idempotent APIs" in the Amazon Builders' Library.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for written, action, entity in subject.actions:
        changed = {*action.changes.values()} & {"Add", "Append"}
        if action.once and changed and action.named_by <= {*entity.key_fields, "self"}:
            made = f"built only from {' and '.join(sorted(action.named_by))}" if action.named_by else "constant"
            message = f"the idempotency token is {made}: only the first call changes each {entity.name}"
            hint = "build the token from an id of the event, such as the id of a payment, a message or a request"
            yield Remark(written.pattern.place, message, hint, line=action.line)


RULE = Rule("KP319", Severity.WARNING, _find, __name__, __doc__)
