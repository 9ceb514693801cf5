"""An expired item blocks a new one.

DynamoDB deletes an item within a few days of its expiry, not at it. A lock, a reservation or an invitation that a
``Create`` writes can't be created again while the expired one is still there: the next client is refused for days.
Reported is a Create of an item that expires, or a Put that requires that no item exists, in a write that looks at no
time, where the key isn't generated for each item, nor a token or a secret's hash. Reported is also a unique value of
items that expire: DynamoDB deletes the item alone, and its claim remains, so that no other item can have the value.

Write it with ``Put(...).only_if("attribute_not_exists(name) OR expires_at < :now", now=now())``: what has expired
counts as gone. An item with claims is deleted by a write (``Delete(item)``), which gives them up: let its time be a
plain ``datetime``, and delete what is over in a job.

Source: "Using time to live (TTL)" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, is_secret
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.write_analysis.code import Action

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    yield from _claims(subject)
    for account in subject.writes:
        looked_at = {name for element in account.actions for name in (*element.checked, *element.expects)}
        for action in account.actions:
            entity = action.entity
            if not _must_be_new(action) or entity is None or entity.ttl is None or entity.ttl.name in looked_at:
                continue
            if entity.ttl.optional and entity.ttl.name not in (action.built or ()):
                continue
            if any(subject.generated(entity, name) or is_secret(name) for name in entity.key_fields):
                continue
            first, ttl = (entity.key_fields or ("pk",))[0], entity.ttl.name
            yield Remark(
                account.pattern.place,
                f"its {action.kind} fails while an expired {entity.name} is still there, "
                "and expired items stay for days",
                f'yield Put(...).only_if("attribute_not_exists({first}) OR {ttl} < :now", now=now())',
                line=action.line,
            )


def _must_be_new(action: Action) -> bool:
    """Whether it fails where an item is there."""
    return action.kind == "Create" or (action.kind == "Put" and "attribute_not_exists" in action.expects)


def _claims(subject: Subject) -> Iterator[Remark]:
    """The unique values of items that DynamoDB removes."""
    for entity in subject.design.entities.values():
        for claim in entity.claims if entity.ttl is not None else ():
            names = " and ".join(sorted(claim.fields))
            yield Remark(
                f"{entity.name}.{claim.name}",
                f"an expired {entity.name} is removed alone, and its claim stays: nobody can have its {names} any more",
                f"let {entity.ttl.name if entity.ttl else 'it'} be a datetime, and delete what is over by "
                "Delete(item), which gives up its claims",
            )


RULE = Rule("KP315", Severity.WARNING, _find, __name__, __doc__)
