"""A table that is strongly consistent across regions can't do all that the design asks.

Such a table stands in exactly three regions (one may be a witness, and is named among the replicas), and knows no
expiry, no local indexes and no transactions. It is judged where the traffic file says ``strong_across_regions =
true``.

Leave out what it can't do, or take the eventually consistent kind.

Source: "Multi-Region strong consistency" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]

REGIONS = 3


def _find(subject: Subject) -> Iterator[Remark]:
    table = subject.traffic.table
    if not table.strong_across_regions:
        return
    hint = "leave it out, or make the table eventually consistent across regions"
    count = 1 + len(table.replicas)
    if count != REGIONS:
        yield Remark(
            subject.table_place,
            f"it is to be strongly consistent across {count} regions, and that needs exactly {REGIONS}",
            "name two replicas",
            (f"1 region + {len(table.replicas)} more = {count}, of {REGIONS}",),
        )
    for index in subject.design.table.indexes:
        if index.local:
            yield Remark(index.name, "a table that is strongly consistent across regions has no local indexes", hint)
    for entity in subject.design.entities.values():
        if entity.ttl is not None:
            place = f"{entity.name}.{entity.ttl.name}"
            yield Remark(place, "a table that is strongly consistent across regions has no expiry", hint)
    for written in subject.writes:
        single = [action for action in written.actions if not action.batched]
        claimed = any(action.entity is not None and action.entity.claims for action in single)
        if len(single) > 1 or claimed or any(action.looped for action in single):
            place = written.pattern.place
            yield Remark(place, "a table that is strongly consistent across regions has no transactions", hint)


RULE = Rule("KP605", Severity.ERROR, _find, __name__, __doc__)
