"""An expired item blocks a new one.

DynamoDB removes an item within a few days of its time, not at it. A lock, a reservation or an invitation that is made
with ``Create`` can't be made anew while the expired one is still there: whoever comes after it is refused for days.
Reported is a Create of an item that expires, under a key that isn't made for each item, in a write that looks at no
time.

Write it with ``Put(...).only_if("attribute_not_exists(name) OR expires_at < :now", now=now())``: what has expired
counts as gone.

Source: "Using time to live (TTL)" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.check.findings import Remark, Severity
from keyplan.check.rule import Rule
from keyplan.check.subject import Subject

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for account in subject.writes:
        looked_at = {name for element in account.actions for name in (*element.checked, *element.expects)}
        for action in account.actions:
            entity = action.entity
            if action.kind != "Create" or entity is None or entity.ttl is None or entity.ttl.name in looked_at:
                continue
            if entity.ttl.optional and entity.ttl.name not in (action.built or ()):
                continue
            if any(subject.generated(entity, name) for name in entity.key_fields):
                continue
            first, ttl = (entity.key_fields or ("pk",))[0], entity.ttl.name
            yield Remark(
                account.pattern.place,
                f"its Create fails while an expired {entity.name} is still there, and expired items stay for days",
                f'yield Put(...).only_if("attribute_not_exists({first}) OR {ttl} < :now", now=now())',
                line=action.line,
            )


RULE = Rule("KP315", Severity.WARNING, _find, __name__, __doc__)
