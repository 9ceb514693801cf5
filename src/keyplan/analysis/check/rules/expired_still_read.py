"""Expired items are still read.

DynamoDB deletes an expired item within a few days of its time, not at it. Until then it is read like any other: a
session that is over still signs in, an offer that is over is still shown. Expiry is for storage, not for time.

Reported too are entities that are named as what must be kept (an audit, a ledger, an invoice) and expire.

Compare the field where the answer is used, or filter: ``where="expires_at > :at"`` with ``at`` as a parameter of type
``datetime``. Where the field may be None, an item that never expires has no such attribute, and no comparison finds
it: ``where="attribute_not_exists(expires_at) OR expires_at > :at"``. Where late answers do no harm, silence it.

Source: "Using time to live (TTL) in DynamoDB" in the developer guide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, entities_of, plans_in
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.model.compiled.plans import Plan
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

__all__ = ["RULE"]


KEPT = frozenset({"audit", "consent", "invoice", "journal", "ledger", "receipt"})
"""Words in the names of entities whose items must be kept."""


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        if entity.ttl is None:
            continue
        kept = [word for word in re.findall("[A-Z][a-z]+", entity.name) if word.lower() in KEPT]
        if kept:
            yield Remark(
                f"{entity.name}.{entity.ttl.name}",
                f"{entity.name} expires, and its name says that it must be kept",
                "leave the Ttl field out, or archive the items by a stream before they expire",
            )
        readers = [
            pattern.name
            for pattern in subject.design.reads.values()
            if entity in entities_of(pattern.plan) and not _filtered(pattern.plan, entity)
        ]
        if readers:
            yield Remark(
                f"{entity.name}.{entity.ttl.name}",
                f"{', '.join(readers)} still find{'s' if len(readers) == 1 else ''} an expired {entity.name} for days",
                f"compare {entity.ttl.name} with the time where it is used, or filter by it: "
                f'where="{_condition(entity.ttl)}", with at: datetime',
            )


def _condition(ttl: StoredField) -> str:
    """What items that aren't over meet; one that never expires has no attribute."""
    later = f"{ttl.name} > :at"
    return f"attribute_not_exists({ttl.name}) OR {later}" if ttl.optional else later


def _filtered(plan: Plan, entity: CompiledEntity) -> bool:
    assert entity.ttl is not None  # noqa: S101 - asked by the caller
    attribute = entity.ttl.attribute
    result = (getattr(element, "filter", None) for element in plans_in(plan))
    return any(value is not None and attribute in value.names.values() for value in result)


RULE = Rule("KP602", Severity.WARNING, _find, __name__, __doc__)
