"""Counters and unique values in a global table.

If two Regions of a global table write the same item concurrently, the last writer wins. One of two concurrent
increments is lost, two users can get the same name, and a condition is checked only in the Region of the write. The
rule uses ``replicas`` in the traffic file, and reports entities with ``Add``, ``Unique`` or ``Version``.

Write these items in one Region only, or use a global table with multi-Region strong consistency.

See conflict resolution in "How DynamoDB global tables work" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    table = subject.traffic.table
    if not table.replicas or table.strong_across_regions:
        return
    added = {entity.name for _, action, entity in subject.actions if "Add" in action.changes.values()}
    for entity in subject.design.entities.values():
        has = {"counters": entity.name in added, "unique values": entity.claims, "a version": entity.version}
        kinds = " and ".join(kind for kind, value in has.items() if value)
        if kinds:
            regions = 1 + len(table.replicas)
            message = f"the entity has {kinds}: if {regions} Regions write concurrently, the last writer wins"
            hint = "write its items in one Region only, or use multi-Region strong consistency"
            yield Remark(entity.name, message, hint, (f"1 Region + {regions - 1} in replicas = {regions} Regions",))


RULE = Rule("KP604", Severity.WARNING, _find, __name__, __doc__)
