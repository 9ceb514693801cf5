"""An entity stands in an index, and is never read there.

The index is read for other entities; this one's entries are written and stored for nothing.

Drop the key, or add the question that it answers.

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
    for entity, key in subject.keys:
        if key.index is not None and key.index.name in read and not subject.readers(key):
            yield Remark(
                f"{entity.name}.{key.name}",
                f"no pattern reads it: each {entity.name} is written to {key.place} for nothing",
                "drop the key, or add the question that it answers",
            )


RULE = Rule("KP402", Severity.WARNING, _find, __name__, __doc__)
