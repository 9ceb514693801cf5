"""A partition key has only few values.

A status, a flag or a type as partition key gives as many partitions as it has values, and mostly one of them is
busy: all published posts, all pending orders. It takes 1,000 write units a second, and in an index each change of
its sort key costs two. An index that can't keep up throttles writes to the table.

Add a field that spreads to the partition key, give the key ``shards=``, or ``when=`` if only one value is asked
for.

Source: "Best practices for designing and using partition keys effectively" in the developer guide, table of
uniformity.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]

FEW = 100


def _find(subject: Subject) -> Iterator[Remark]:
    for entity, key in subject.keys:
        values = subject.partition_values(entity, key)
        count = subject.partitions(entity, key)
        if not values or count is None or count >= FEW or key.shards > 1:
            continue
        parts = [
            f"{name} ({', '.join(map(str, result or ()))}: {len(result or ())})" for name, result in values.items()
        ]
        several = "s" if count > 1 else ""
        yield Remark(
            f"{entity.name}.{key.name}",
            f"{key.place} has {count} busy partition key{several} for every {entity.name}, by {', '.join(values)}",
            "add a field that spreads to the partition key, or give the key shards=",
            (f"{' × '.join(parts)} = {count}, each with 1,000 write units/s and 3,000 read units/s",),
        )


RULE = Rule("KP202", Severity.WARNING, _find, __name__, __doc__)
