"""Primary key that is unique only by a timestamp.

If two items have the same primary key, the second item replaces the first. If timestamps are the only fields in a
primary key, two contact messages, events or log lines with the same timestamp have the same key. The rule reports
primary keys whose only fields are times.

Add an id to the end of the sort key, for example ``{at}#{message_id}``.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        fields = entity.key_fields
        if fields and all(subject.only_time(entity, name) for name in fields):
            message = f"two items with the same {' and '.join(fields)} have the same key: the second replaces the first"
            hint = "add a generated id to the end of the sort key, for example a ULID"
            yield Remark(f"{entity.name}.{entity.primary.name}", message, hint)


RULE = Rule("KP204", Severity.WARNING, _find, __name__, __doc__)
