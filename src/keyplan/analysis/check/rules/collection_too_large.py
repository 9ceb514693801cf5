"""Item collection over 10 GB on a table with a local index.

On a table with a local secondary index, an item collection, including its local index entries, can have at most 10 GB.
DynamoDB rejects writes that would exceed this limit. Without local indexes, item collections have no size limit.

Add another field to the partition key, or use a global index. You can't delete a local index of an existing table.

See "Item collections in Local Secondary Indexes" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number

COLLECTION_BYTES_MAX = 10 * 1024**3


def _find(subject: Subject) -> Remarks:
    local = [index.name for index in subject.design.table.indexes if index.local]
    for entity in subject.design.entities.values() if local else ():
        count = subject.stored(entity).per_partition_max
        sizes = subject.sizes(entity)
        if count is None or sizes is None:
            continue
        entries = sum(sizes.entries.get(name, 0) for name in local)
        each = sizes.item_bytes + entries
        total = count * each
        if total > COLLECTION_BYTES_MAX / 2:
            gigabytes = number(total / 1024**3)
            message = f"the largest item collection is {gigabytes} GB; the limit with a local index is 10 GB"
            hint = "add another field to the partition key, or replace the local index with a global index"
            arithmetic = (
                f"{sizes.item_bytes:,} bytes + {entries:,} in local indexes = {each:,} bytes per item",
                f"{each:,} × {number(count)} items = {number(total)}",
                f"{number(total)} ÷ {1024**3:,} = {gigabytes} GB; limit: 10 GB",
            )
            severity = Severity.ERROR if total > COLLECTION_BYTES_MAX else Severity.WARNING
            yield Remark(entity.name, message, hint, arithmetic, severity)


RULE = Rule("KP107", Severity.ERROR, _find, __name__, __doc__)
