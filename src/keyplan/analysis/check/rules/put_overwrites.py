"""Put that can replace another item.

``Put`` writes the item even if an item with the same key exists. If users choose the key (a slug, a name, a number), a
second Put silently replaces the first item.

The rule ignores keys with a generated id, and entities that have a version field, have only key fields and times, or
store the latest value of something (``LatestPosition``).

Yield ``Create``, which raises ``ItemExists`` if the item exists. If the write has already read the item, yield
``Update`` with the changes, or add ``.only_if(...)``. Ignore the finding if the Put is meant to replace the item.

See PutItem in the API Reference.
"""

from __future__ import annotations

import re

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.write_analysis.code import Action
from keyplan.model.stored.stored_entity import CompiledEntity


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        puts = [each for each in written.actions if each.kind == "Put" and not each.conditional]
        for name, action in {each.entity.name: each for each in puts if each.entity is not None}.items():
            entity = subject.design.by_name[name]
            if entity.version is not None or not _can_meet(subject, entity):
                continue
            batch = ", and a Batch can't have conditions" if action.batched else ""
            key = " and ".join(entity.key_fields) or "key"
            message = f"the Put silently replaces an existing {name} with the same {key}{batch}"
            yield Remark(written.pattern.place, message, _advice(action, name))


def _advice(action: Action, name: str) -> str:
    if action.asked_for:  # the write has read the item, so Create would fail
        return "yield Update(item, field=...) with the changes, or add .only_if(...) with the values that were read"
    return f"yield Create({name}(...)), which raises ItemExists"


def _can_meet(subject: Subject, entity: CompiledEntity) -> bool:
    if any(subject.generated(entity, name) for name in entity.key_fields):
        return False
    if re.match("(Latest|Last|Current|Newest)[A-Z]", entity.name) or entity.name.endswith("Latest"):
        return False
    others = [name for name, field in entity.fields.items() if name not in entity.key_fields and not field.computed]
    return any(not subject.only_time(entity, name) for name in others)


RULE = Rule("KP306", Severity.WARNING, _find, __name__, __doc__)
