"""Expiration field that isn't declared as Ttl.

DynamoDB expires items by one attribute, which contains a time in epoch seconds. If a field named ``expires_at`` has a
type other than ``Ttl``, the items never expire.

Declare the field as ``Ttl``. Keyplan then stores the time in epoch seconds, and enables TTL on the table.

See "Using time to live (TTL) in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.declared.fields import kind_of

NAMES = frozenset({"ttl", "expires", "expires_at", "expires_on", "expire_at", "expiry", "expiration", "time_to_live"})
KINDS = {int, float, Decimal, datetime, date, str}


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        if entity.ttl is not None:
            continue
        for field in entity.fields.values():
            kind = kind_of(field.annotation)
            if field.name.lower() in NAMES and kind in KINDS:
                message = f"the type is {kind.__name__}, so DynamoDB doesn't expire items by this field"
                hint = "declare it as Ttl (or Ttl | None = None)"
                yield Remark(f"{entity.name}.{field.name}", message, hint)


RULE = Rule("KP606", Severity.WARNING, _find, __name__, __doc__)
