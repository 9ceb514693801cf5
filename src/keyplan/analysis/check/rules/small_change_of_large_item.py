"""Counter in a large item.

A write is charged by the size of the whole item, even if only one attribute changes. If each view or like changes a
number in a large item, each change costs a write unit per KB in the table and in every index that contains the item.

Store the number in a separate item under the same partition key, so that one Query reads both. The rule reports numbers
in entities with a large text field such as ``body`` if a write adds to them or computes them from a read.

See "Read and write operations" and "Best practices for storing large items and attributes in DynamoDB" in the Developer
Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import counted
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number
from keyplan.dynamodb.capacity import write_units
from keyplan.dynamodb.limits import WRITE_UNIT_BYTES


def _find(subject: Subject) -> Remarks:
    for written, action, entity in subject.actions:
        names = action.moving
        if action.kind != "Update" or not names:
            continue
        sizes, documents = subject.sizes(entity), [document.name for document in subject.documents(entity)]
        if sizes is None or not documents or sizes.item_bytes <= WRITE_UNIT_BYTES or names & set(documents):
            continue
        units = write_units(sizes.item_bytes)
        peak = subject.load(written.pattern).peak
        lines = [f"{sizes.item_bytes:,} bytes ÷ {WRITE_UNIT_BYTES:,}, rounded up = {counted(units, 'write unit')}"]
        if peak:
            lines.append(f"{number(peak)} calls/s × {number(units)} = {number(peak * units)} write units/s")
        yield Remark(
            written.pattern.place,
            f"each call costs {counted(units, 'write unit')} to change "
            f"{entity.name}.{' and '.join(sorted(names))}, because the item contains {' and '.join(documents)}",
            "store the changing field in a separate item under the same partition key",
            tuple(lines),
        )


RULE = Rule("KP508", Severity.WARNING, _find, __name__, __doc__)
