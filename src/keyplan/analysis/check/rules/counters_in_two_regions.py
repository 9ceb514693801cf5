"""Counters and unique values in several regions lose writes.

Between the regions of a global table the last writer of an item wins: two increments at the same time become one,
two users take one name in two regions, and a condition holds only where it was asked. It is judged where the
traffic file names ``replicas``, for ``Add``, ``Unique`` and ``Version``.

Write such items in one region only, or use a global table with strong consistency across regions.

Source: "How DynamoDB global tables work", on conflict resolution, in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    table = subject.traffic.table
    if not table.replicas or table.strong_across_regions:
        return
    added = {
        action.entity.name
        for written in subject.writes
        for action in written.actions
        if action.entity is not None and "Add" in action.changes.values()
    }
    for entity in subject.design.entities.values():
        kinds = [
            *(["counters"] if entity.name in added else []),
            *(["unique values"] if entity.claims else []),
            *(["a version"] if entity.version is not None else []),
        ]
        if kinds:
            yield Remark(
                entity.name,
                f"it has {' and '.join(kinds)}, and between {1 + len(table.replicas)} regions the last writer wins",
                "write it in one region only, or make the table strongly consistent across regions",
                (f"1 region + {len(table.replicas)} more = {1 + len(table.replicas)}",),
            )


RULE = Rule("KP604", Severity.WARNING, _find, __name__, __doc__)
