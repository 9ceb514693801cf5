"""The order of a pattern is that of a field that may be None.

An item is absent from an index while a field of its key there is None. A pattern that is ordered by such a field, and
doesn't ask for it, omits these items without a word: a list by due date lacks what has none.

That is a sparse index, and right where the field's value is what the pattern is about. Otherwise give the field a
default that sorts to the end, or order by another one.

Source: "Take advantage of sparse indexes" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for query in subject.queries:
        for name in query.match.omits_without:
            yield Remark(
                query.pattern.place,
                f"it is ordered by {query.match.entity.name}.{name}, and omits items in which that is None",
                "silence it where that is meant; else give the field a default, or order by another",
            )


RULE = Rule("KP407", Severity.INFO, _find, __name__, __doc__)
