"""Partition key with few values.

A partition key that is a status, a flag or a type has as many partitions as it has values, and one value ("published")
is usually much more frequent than the others. A partition supports 1,000 write units and 3,000 read units per second.
Each change of an index key attribute costs 2 writes in the index. A throttled index throttles writes to the table.

An index is reported as info if its partition key is a string field such as ``country``, ``category`` or ``language``.

Add a field with many values to the partition key, set ``shards=``, or set ``when=`` if patterns query only one value.

See "Best practices for designing and using partition keys effectively" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity

FEW = 100


FEW_BY_NAME = frozenset({
    "category", "country", "currency", "gender", "language", "locale", "plan", "region", "role", "state", "status",
    "tier", "type",
})  # fmt: skip
"""Names of string fields with few values."""


def _is_few(entity: CompiledEntity, name: str) -> bool:
    """Whether the name of a string field suggests few values."""
    annotation = entity.fields[name].annotation
    return kind_of(annotation) is str and values_of(annotation) is None and name.rpartition("_")[2] in FEW_BY_NAME


def _find(subject: Subject) -> Remarks:
    for entity, key in subject.keys:
        values, count = subject.partition_values(entity, key), subject.partitions(entity, key)
        if not values or key.shards > 1:
            continue
        if key.index is not None and all(_is_few(entity, name) for name in values):
            few = f"the name of {', '.join(values)} suggests few values, some of them much more frequent than others"
            message = f"{few}: the partitions of the frequent values in {key.place} can be hot"
            hint = "add a field with many values to the partition key, or set shards="
            yield Remark(f"{entity.name}.{key.name}", message, hint, severity=Severity.INFO)
            continue
        if count is None or count >= FEW:
            continue
        parts = [f"{name} ({', '.join(map(str, each or ()))}: {len(each or ())})" for name, each in values.items()]
        several = "s" if count > 1 else ""
        message = f"{key.place} has {count} partition{several} for all items of {entity.name}, by {', '.join(values)}"
        hint = "add a field with many values to the partition key, or set shards="
        arithmetic = (f"{' × '.join(parts)} = {count}, each with 1,000 write units/s and 3,000 read units/s",)
        yield Remark(f"{entity.name}.{key.name}", message, hint, arithmetic)


RULE = Rule("KP202", Severity.WARNING, _find, __name__, __doc__)
