"""Fixed partition key for all items of an entity.

A partition supports 1,000 write units and 3,000 read units per second. If the partition key of an entity is a constant,
all items of the entity are in one partition. If each new item sorts after all other items, DynamoDB can't split the
partition. An index partition has the same limits, and a throttled index throttles writes to the table.

Add a field with many values to the partition key (a tenant, a user, a team), or set ``shards=``. An entity with a
single item isn't reported. If the partition stays small, ignore the finding, and give the expected size as the reason.

See "Best practices for designing and using partition keys effectively" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for entity, key in subject.keys:
        fixed = not any(template.variables for _, template in key.partition)
        single = key.index is None and not any(template.variables for _, template in key.sort)
        if fixed and not single and key.shards == 1:
            text = ", ".join(template.source for _, template in key.partition)
            message = f"every {entity.name} is in one partition of {key.place}, {text!r}"
            hint = "add a field with many values to the partition key, or set shards="
            arithmetic = ("1 partition × 1,000 write units/s and 3,000 read units/s, for any number of items",)
            yield Remark(f"{entity.name}.{key.name}", message, hint, arithmetic)


RULE = Rule("KP201", Severity.WARNING, _find, __name__, __doc__)
