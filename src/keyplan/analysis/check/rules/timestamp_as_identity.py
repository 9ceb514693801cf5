"""Items are told apart by a moment alone.

An item is known by its primary key. Where nothing but a time tells two items of a partition apart, two that come at
the same time are one item, and the second replaces the first: contact messages, events, log lines. It is judged
where the partition is shared by all (fixed, or a time itself), so that the moments of everyone meet.

End the sort key with an id: ``{at}#{message_id}``.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        fields = entity.key_fields
        if fields and all(subject.only_time(entity, name) for name in fields):
            yield Remark(
                f"{entity.name}.{entity.primary.name}",
                f"two items with the same {' and '.join(fields)} are one: the second replaces the first",
                "end the sort key with an id that is made for each item, e.g. ulid",
            )


RULE = Rule("KP204", Severity.WARNING, _find, __name__, __doc__)
