"""Frequently changed field in an index key.

When an update changes an index key attribute, DynamoDB deletes the old index entry and writes a new one, which costs 2
write units per KB in every index whose key contains the field. If each view or like changes the field, popular items
cause most of these writes, in a few index partitions.

Store the count in a separate item (sharded if the write rate requires it), and update the field in the key at a limited
rate. Fields that change rarely, such as a status, aren't reported.

See write units of secondary indexes in "Read and write operations" in the Developer Guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number
from keyplan.dynamodb.capacity import entry_units
from keyplan.model.stored.stored_keys import CompiledKey


def _find(subject: Subject) -> Remarks:
    for written, action, entity in subject.actions:
        if action.kind != "Update" or not action.moving:
            continue
        keys = [key for key in entity.index_keys if entity.inputs_of(key) & (action.moving - set(key.when))]
        if keys:
            names = " and ".join(sorted(action.moving))
            places = ", ".join(key.place for key in keys)
            message = f"each call changes {entity.name}.{names}, which moves the index entry in {places}"
            hint = "keep the counter in a separate item, and update the key field at a limited rate"
            arithmetic = tuple(_lines(subject, entity.name, keys, subject.load(written.pattern).peak))
            yield Remark(written.pattern.place, message, hint, arithmetic)


def _lines(subject: Subject, entity: str, keys: list[CompiledKey], peak: float | None) -> Iterator[str]:
    sizes = subject.sizes(subject.design.by_name[entity])
    total = 0.0
    for key in keys:
        size = 0 if sizes is None else sizes.entries.get(key.place, 0)
        units = 2 * entry_units(size)
        total += units
        moved = f"2 (old entry removed, new entry written) × {number(units / 2)}"
        yield f"{key.place}: {moved} = {number(units)} write units per call"
    if peak:
        yield f"{number(peak)} calls/s × {number(total)} = {number(peak * total)} write units/s in indexes"


RULE = Rule("KP209", Severity.WARNING, _find, __name__, __doc__)
