"""A counter stands in a large item.

A write is paid for by the size of the whole item, whichever attribute changes. A number that each view or like
changes, beside a text of many kilobytes, costs a unit for each of them, every time, and as much again in every
index that projects it.

Keep the number in an item of its own under the same partition key: it is read with the other in one Query. Reported
are numbers that writes add to, or compute from what they read, in entities that hold a whole document.

Source: "Read and write operations"; "Best practices for storing large items" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, counted
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.cost.cost_wording import number
from keyplan.dynamodb.capacity import write_units
from keyplan.dynamodb.limits import WRITE_UNIT_BYTES

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for written in subject.writes:
        for action in written.actions:
            entity = action.entity
            names = action.moving
            if entity is None or action.kind != "Update" or not names:
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
                f"each call changes {entity.name}.{' and '.join(sorted(names))}, and pays "
                f"{counted(units, 'write unit')} for {' and '.join(documents)} beside it",
                "keep the number in an item of its own under the same partition key",
                tuple(lines),
            )


RULE = Rule("KP508", Severity.WARNING, _find, __name__, __doc__)
