"""The table has a local index.

A local index can only be made together with the table, and never be dropped. While it is there, each item
collection is held to 10 GB, and a busy partition can't be split within one. What it gives is the strongly
consistent read of another order.

Use a global index, unless that read is what you need; then say so in the reason.

Source: "Local secondary indexes" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for index in subject.design.table.indexes:
        if index.local:
            strong = [
                query.pattern.name for query in subject.queries if query.plan.index is index and query.plan.consistent
            ]
            why = "" if strong else ", and no pattern reads it consistently"
            yield Remark(
                index.name,
                f"it is local: item collections are held to 10 GB, and it can't be dropped{why}",
                "make it a global index, or silence it with the reason for the strongly consistent read",
                ("10 GB for all items with one partition key, their entries in local indexes included",),
            )


RULE = Rule("KP403", Severity.WARNING, _find, __name__, __doc__)
