"""Expired items in read results.

DynamoDB deletes an item within a few days after it expires. Until the item is deleted, reads return it, so a user can
still sign in with an expired session, and an expired offer is still shown. The rule reports, as info, a TTL in an
entity whose name suggests records that must be kept (an audit, a ledger, an invoice).

Compare the TTL field with the current time in your code, or filter with ``where="expires_at > :at"`` and a parameter
``at: datetime``. If the field can be None, use ``where="attribute_not_exists(expires_at) OR expires_at > :at"``. Ignore
the finding if expired items in results do no harm.

See "Using time to live (TTL) in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

import re

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.plans import Plan, entities_read, plans_in

KEPT = frozenset({"audit", "consent", "invoice", "journal", "ledger", "receipt"})
"""Words in the names of entities whose items must be kept."""


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        if entity.ttl is None:
            continue
        kept = [word for word in re.findall("[A-Z][a-z]+", entity.name) if word.lower() in KEPT]
        if kept:
            message = f"{entity.name} has a TTL, but its name suggests records that must be kept"
            hint = "remove the Ttl field, or archive the items with a stream before they expire"
            yield Remark(f"{entity.name}.{entity.ttl.name}", message, hint, severity=Severity.INFO)
        reads = [each for each in subject.design.reads.values() if entity in entities_read(each.plan)]
        readers = [read.name for read in reads if not _filtered(read.plan, entity.ttl.attribute)]
        if readers:
            ttl = entity.ttl.name
            message = f"{', '.join(readers)} can return {entity.name} items for days after they expire"
            later = f"attribute_not_exists({ttl}) OR {ttl} > :at" if entity.ttl.optional else f"{ttl} > :at"
            hint = f'compare {ttl} with the current time, or set where="{later}", with a parameter at: datetime'
            yield Remark(f"{entity.name}.{ttl}", message, hint)


def _filtered(plan: Plan, attribute: str) -> bool:
    result = (getattr(element, "filter", None) for element in plans_in(plan))
    return any(value is not None and attribute in value.names.values() for value in result)


RULE = Rule("KP602", Severity.WARNING, _find, __name__, __doc__)
