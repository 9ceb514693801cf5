"""A Put replaces whatever stands under its key.

``Put`` writes without asking what is there. Where the key is a value that people choose (a slug, a name, a number),
a second Put takes the first one's place and nobody notices: two posts share a slug. A key with an id that is made
for each item can't meet another, a version field makes each Put expect what was read, and an item that holds
nothing but its key and times loses nothing, and the latest value of a thing (``LatestPosition``) is replaced on
purpose; those are not reported.

Yield ``Create``, which fails with ``ItemExists``; of an item that was read before, ``Update`` with what changes, or
``.only_if(...)`` with what was read. Where replacing is the point, silence it.

Source: PutItem in the API reference, on conditional puts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.write_analysis.code import Action
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for written in subject.writes:
        result = {
            action.entity.name: action
            for action in written.actions
            if action.kind == "Put" and action.entity is not None and not action.conditional
            and action.entity.version is None and _can_meet(subject, action.entity)
        }  # fmt: skip
        for name, action in result.items():
            entity = subject.design.by_name[name]
            batch = ", and a Batch can't ask" if action.batched else ""
            yield Remark(
                written.pattern.place,
                f"its Put replaces the {name} with the same {' and '.join(entity.key_fields) or 'key'}, "
                f"if there is one{batch}",
                _advice(action, name),
            )


def _advice(action: Action, name: str) -> str:
    if action.asked_for:  # it is there: Create would always fail
        return "yield Update(item, field=...) with what changes, or add .only_if(...) with what was read"
    return f"yield Create({name}(...)), which fails with ItemExists"


def _can_meet(subject: Subject, entity: CompiledEntity) -> bool:
    if any(subject.generated(entity, name) for name in entity.key_fields):
        return False
    if re.match("(Latest|Last|Current|Newest)[A-Z]", entity.name) or entity.name.endswith("Latest"):
        return False
    others = [name for name, field in entity.fields.items() if name not in entity.key_fields and not field.computed]
    return any(not subject.only_time(entity, name) for name in others)


RULE = Rule("KP306", Severity.WARNING, _find, __name__, __doc__)
