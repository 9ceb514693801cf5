"""Expired item that blocks a new item.

DynamoDB deletes an item within a few days after it expires. Until the item is deleted, ``Create`` fails with
``ItemExists``, so a lock, a reservation or an invitation can't be created again. The rule reports a ``Create`` of an
entity with a TTL, or a Put that requires that no item exists, in a write that doesn't compare the TTL with the current
time. Keys with a generated id or a secret aren't reported.

To replace an expired item, yield ``Put(...).only_if("attribute_not_exists(name) OR expires_at < :now", now=now())``.

Unique values of an entity with a TTL are also reported. DynamoDB deletes the item but not its claim, so no other item
can use the value. In such entities, use a ``datetime``, not a ``Ttl``, and delete expired items with ``Delete(item)``.

See "Using time to live (TTL) in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import is_secret
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    yield from _claims(subject)
    for written in subject.writes:
        looked_at = {name for element in written.actions for name in (*element.checked, *element.expects)}
        for action in written.actions:
            entity = action.entity
            must_be_new = action.kind == "Create" or (action.kind == "Put" and "attribute_not_exists" in action.expects)
            if not must_be_new or entity is None or entity.ttl is None or entity.ttl.name in looked_at:
                continue
            if entity.ttl.optional and entity.ttl.name not in (action.built or ()):
                continue
            if any(subject.generated(entity, name) or is_secret(name) for name in entity.key_fields):
                continue
            first, ttl = (entity.key_fields or ("pk",))[0], entity.ttl.name
            fails = f"the {action.kind} fails until DynamoDB deletes the expired {entity.name}"
            hint = f'yield Put(...).only_if("attribute_not_exists({first}) OR {ttl} < :now", now=now())'
            yield Remark(written.pattern.place, f"{fails}, which can take days", hint, line=action.line)


def _claims(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        for claim in entity.claims if entity.ttl is not None else ():
            names = " and ".join(sorted(claim.fields))
            yield Remark(
                f"{entity.name}.{claim.name}",
                f"DynamoDB deletes an expired {entity.name} but not its claim: its {names} can't be used again",
                f"declare {entity.ttl.name if entity.ttl else 'it'} as a datetime, and delete expired items with "
                "Delete(item), which releases the claims",
            )


RULE = Rule("KP315", Severity.WARNING, _find, __name__, __doc__)
