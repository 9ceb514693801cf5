"""All items of an entity share one partition key.

A partition takes 1,000 write units and 3,000 read units a second, and can't be split between items that are added
at its end. An entity whose partition key is a fixed text stands in one partition however many items there are: "one
partition key for the whole system". In an index it is the same, and an index that can't keep up throttles the
table.

Put a field into the partition key that spreads (a tenant, a user, a team), or give the key ``shards=``. An entity
with one item only is left alone. A partition that is known to stay small may be silenced with that as the reason.

Source: "Best practices for designing and using partition keys effectively" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for entity, key in subject.keys:
        fixed = not any(template.variables for _, template in key.partition)
        single = key.index is None and not any(template.variables for _, template in key.sort)
        if fixed and not single and key.shards == 1:
            text = ", ".join(template.source for _, template in key.partition)
            yield Remark(
                f"{entity.name}.{key.name}",
                f"every {entity.name} stands in one partition of {key.place}, {text!r}, which only grows",
                "put a field that spreads into the partition key, or give the key shards=",
                ("1 partition × 1,000 write units/s and 3,000 read units/s, however many items there are",),
            )


RULE = Rule("KP201", Severity.WARNING, _find, __name__, __doc__)
