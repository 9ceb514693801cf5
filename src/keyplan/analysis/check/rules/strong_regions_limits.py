"""Feature not supported with multi-Region strong consistency.

A global table with multi-Region strong consistency has exactly three Regions. If one of the Regions is a witness, list
it in ``replicas``. Multi-Region strong consistency doesn't support TTL, local indexes or transactions. The rule applies
if the traffic file sets ``strong_across_regions = true``.

Remove the unsupported features, or use an eventually consistent global table.

See "Multi-Region strong consistency" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject

REGIONS = 3


def _find(subject: Subject) -> Remarks:
    table = subject.traffic.table
    if not table.strong_across_regions:
        return
    hint = "use an eventually consistent global table, or remove the unsupported feature"
    count = 1 + len(table.replicas)
    if count != REGIONS:
        message = f"multi-Region strong consistency needs exactly {REGIONS} Regions, but the table has {count}"
        arithmetic = (f"1 Region + {len(table.replicas)} in replicas = {count} Regions, not {REGIONS}",)
        yield Remark(subject.table_place, message, "set two replicas in the traffic file", arithmetic)
    for index in subject.design.table.indexes:
        if index.local:
            yield Remark(index.name, "multi-Region strong consistency doesn't support local indexes", hint)
    for entity in subject.design.entities.values():
        if entity.ttl is not None:
            place = f"{entity.name}.{entity.ttl.name}"
            yield Remark(place, "multi-Region strong consistency doesn't support TTL", hint)
    for written in subject.writes:
        single = [action for action in written.actions if not action.batched]
        claimed = any(action.entity is not None and action.entity.claims for action in single)
        if len(single) > 1 or claimed or any(action.looped for action in single):
            place = written.pattern.place
            yield Remark(place, "multi-Region strong consistency doesn't support transactions", hint)


RULE = Rule("KP605", Severity.ERROR, _find, __name__, __doc__)
