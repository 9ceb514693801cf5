"""A partition key is a time.

A day, an hour or a month as partition key sends all writes of the moment to one partition, and leaves the others
cold. DynamoDB splits a busy partition only after minutes, and never between items that arrive in ascending order.

Put what the items belong to into the partition key and the time into the sort key (``DEVICE#{id}``,
``READING#{at}``), or give the key ``shards=``. A rate that one partition takes (1,000 units a second) is a reason
to silence it.

Source: "Best practices for designing and using partition keys effectively"; "Using write sharding to distribute
workloads evenly" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for entity, key in subject.keys:
        names = list(dict.fromkeys(name for _, template in key.partition for name in template.fields))
        if names and key.shards == 1 and all(subject.only_time(entity, name) for name in names):
            yield Remark(
                f"{entity.name}.{key.name}",
                f"all writes of the moment go to one partition of {key.place}, that of the present {', '.join(names)}",
                "put what the items belong to into the partition key, or give the key shards=",
                ("1 partition at a time × 1,000 write units/s",),
            )


RULE = Rule("KP203", Severity.WARNING, _find, __name__, __doc__)
