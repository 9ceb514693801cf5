"""Writes repeated in many indexes.

A new item costs write units on the table and in every index that contains it. Each change of a projected attribute also
costs write units in every index that projects it. With four or more indexes, index writes are most of the cost.

Remove keys that no pattern reads, make keys sparse (``when=``), project fewer attributes, or move frequently changed
attributes to an item that is in no index.

See write units of secondary indexes in "Read and write operations" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number
from keyplan.dynamodb.capacity import entry_units, write_units

TIMES = 4


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        sizes = subject.sizes(entity)
        if sizes is None or not sizes.entries:
            continue
        base = write_units(sizes.item_bytes)
        entries = {name: entry_units(size) for name, size in sizes.entries.items()}
        total = sum(entries.values())
        if total >= TIMES * base:
            lines = [f"{name} {number(units)} ({sizes.entries[name]:,} bytes)" for name, units in entries.items()]
            yield Remark(
                entity.name,
                f"a new item costs {number(base)} write unit{'s' if base > 1 else ''} on the table, "
                f"and {number(total)} in {len(entries)} indexes",
                "remove keys that no pattern reads, make keys sparse, or project fewer attributes",
                (f"table {number(base)} ({sizes.item_bytes:,} bytes) + {' + '.join(lines)} = {number(base + total)}",),
            )


RULE = Rule("KP502", Severity.INFO, _find, __name__, __doc__)
