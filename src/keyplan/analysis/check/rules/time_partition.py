"""Time as a partition key.

If the partition key is a day, an hour or a month, all current writes go to one partition, which supports 1,000 write
units per second. The partitions of earlier times receive no writes. DynamoDB needs minutes to split a hot partition,
and can't split it if new items arrive in ascending order of their sort keys.

Use the owner of the items as the partition key, and move the time to the sort key (``DEVICE#{id}``, ``READING#{at}``),
or set ``shards=``. If the write rate is below the limit of a partition, ignore the finding, and give the rate as the
reason.

See "Best practices for designing and using partition keys effectively" and "Using write sharding to distribute
workloads evenly" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import fields_in
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for entity, key in subject.keys:
        names = fields_in(key.partition)
        if names and key.shards == 1 and all(subject.only_time(entity, name) for name in names):
            message = f"all writes go to the partition of the current {', '.join(names)} in {key.place}"
            hint = "use the owner of the items as the partition key, or set shards="
            arithmetic = ("1 partition at a time × 1,000 write units/s",)
            yield Remark(f"{entity.name}.{key.name}", message, hint, arithmetic)


RULE = Rule("KP203", Severity.WARNING, _find, __name__, __doc__)
