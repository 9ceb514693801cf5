"""Primary key that is unique only by a timestamp.

Two items with the same primary key are one item: the second replaces the first. If a timestamp is the only field that
distinguishes the items of a shared partition, two items with the same timestamp collide. This affects contact
messages, events and log lines. The rule reports keys whose partition key is fixed or is a time.

Add an id to the end of the sort key: ``{at}#{message_id}``.
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
