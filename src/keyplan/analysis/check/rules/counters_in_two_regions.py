"""Counters and unique values in a global table.

Between the regions of a global table, the last writer wins. Two concurrent increments in two regions become one, two
users can get the same name, and a condition is checked only in its own region. The rule uses ``replicas`` in the
traffic file, and reports ``Add``, ``Unique`` and ``Version``.

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
        kinds = [
            *(["counters"] if entity.name in added else []),
            *(["unique values"] if entity.claims else []),
            *(["a version"] if entity.version is not None else []),
        ]
        if kinds:
            yield Remark(
                entity.name,
                f"it has {' and '.join(kinds)}, and the last writer wins between {1 + len(table.replicas)} regions",
                "write it in one region only, or use multi-Region strong consistency",
                (f"1 region + {len(table.replicas)} more = {1 + len(table.replicas)}",),
            )


RULE = Rule("KP604", Severity.WARNING, _find, __name__, __doc__)
