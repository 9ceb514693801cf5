"""Counters and unique values in a global table.

Between the regions of a global table, the last writer wins. Two concurrent increments in two regions become one, two
users can get the same name, and a condition is checked only in the Region of the write. The rule uses ``replicas`` in
the traffic file, and reports ``Add``, ``Unique`` and ``Version``.

Write these items in one region only, or use a global table with multi-Region strong consistency.

Source: "How DynamoDB global tables work" in the Developer Guide, conflict resolution.
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
            message = f"it has {kinds}, and the last writer wins between {regions} regions"
            hint = "write it in one region only, or use multi-Region strong consistency"
            yield Remark(entity.name, message, hint, (f"1 region + {regions - 1} more = {regions}",))


RULE = Rule("KP604", Severity.WARNING, _find, __name__, __doc__)
