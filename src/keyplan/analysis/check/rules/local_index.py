"""Local secondary index.

You can create a local index only with the table, and can't delete it. A local index limits each item collection to 10
GB and prevents DynamoDB from splitting a hot item collection. The only advantage of a local index over a global index
is a strongly consistent read in another sort order.

Use a global index. If you need the strongly consistent read, ignore the finding, and give the read as the reason.

See "Local Secondary Indexes" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for index in subject.design.table.indexes:
        if index.local:
            strong = any(query.plan.index is index and query.plan.consistent for query in subject.queries)
            why = "" if strong else ", and no pattern reads it with strong consistency"
            message = f"the index is local: it limits item collections to 10 GB and can't be deleted{why}"
            hint = "use a global index, or ignore the finding with the reason for the strongly consistent read"
            arithmetic = ("10 GB for all items with one partition key, including their entries in local indexes",)
            yield Remark(index.name, message, hint, arithmetic)


RULE = Rule("KP403", Severity.WARNING, _find, __name__, __doc__)
