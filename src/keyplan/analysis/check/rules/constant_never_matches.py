"""Constant that isn't a valid value of its field.

``where=`` and ``when=`` compare a field with a constant. If the constant isn't a valid value of the field's type, no
item matches the constant: the access pattern returns no items, or the sparse index stays empty. Comparisons are
case-sensitive, so ``"Published"`` doesn't match ``"published"``.

Replace the constant with a valid value of the field.
"""

from __future__ import annotations

import enum
from typing import Any

from keyplan.analysis.check.check_subject import values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.plans import entities_read
from keyplan.model.stored.stored_entity import CompiledEntity


def _find(subject: Subject) -> Remarks:
    for pattern in subject.design.reads.values():
        entities = dict.fromkeys(entities_read(pattern.plan))
        for name, value in pattern.constants.items():
            owners = [entity for entity in entities if name in entity.fields]
            wrong = [each for each in values_asked(value) if not any(_can_be(owner, name, each) for owner in owners)]
            if owners and wrong:
                yield Remark(
                    pattern.place,
                    f"where= requires {', '.join(map(repr, wrong))}, which {owners[0].name}.{name} doesn't allow: "
                    "no item matches",
                    _hint(owners[0], name),
                )
    for entity, key in subject.keys:
        for name, values in key.when.items():
            wrong = [value for value in values if not _can_be(entity, name, value)]
            if wrong:
                message = f"when= requires {name} to be {', '.join(map(repr, wrong))}, which the field doesn't allow"
                hint = _hint(entity, name)
                yield Remark(f"{entity.name}.{key.name}", message, hint)


def _can_be(entity: CompiledEntity, name: str, value: Any) -> bool:
    choices = values_of(entity.fields[name].annotation)
    plain = value.value if isinstance(value, enum.Enum) else value
    return choices is None or plain in choices or value is None


def _hint(entity: CompiledEntity, name: str) -> str:
    choices = values_of(entity.fields[name].annotation) or ()
    return f"use a valid value of {name}: {', '.join(map(repr, choices))}"


RULE = Rule("KP105", Severity.ERROR, _find, __name__, __doc__)
