"""An index that no pattern reads.

An index costs a write for each item that stands in it, and its storage, whether it is read or not. "We'll need it
later" is the dearest reason: a global index can be added to a table at any time, and is filled by DynamoDB.

Drop the index and its keys, or add the question that it answers.

Source: "General guidelines for secondary indexes" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    read = {query.key.index.name for query in subject.queries if query.key.index is not None}
    for index in subject.design.table.indexes:
        if index.name in read:
            continue
        standing = [
            entity.name for entity, key in subject.keys if key.index is not None and key.index.name == index.name
        ]
        what = f"and every {' and '.join(standing)} is written to it" if standing else "and no entity stands in it"
        yield Remark(index.name, f"no pattern reads it, {what}", "drop it, or add the question that it answers")


RULE = Rule("KP401", Severity.WARNING, _find, __name__, __doc__)
