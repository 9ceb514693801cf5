"""Values of a field that differ in letter case.

DynamoDB compares strings byte by byte. If some values of a field are upper case and others are lower case
(``UNPUBLISHED``, ``published``), a query with the wrong case returns an empty result. The rule compares the literal
values of a field, its default, and the constants in ``where=`` and ``when=``.

Use one spelling, and declare the field as a ``Literal`` or an ``Enum``, so that type checkers report other spellings.
"""

from __future__ import annotations

from typing import Any

from keyplan.analysis.check.check_subject import values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.plans import entities_read
from keyplan.model.stored.stored_entity import CompiledEntity


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        for name in entity.fields:
            texts = _texts(subject, entity, name)
            styles = {_style(text) for text in texts} - {""}
            if len(styles) > 1:
                message = f"the values differ in letter case: {', '.join(sorted(texts))}"
                hint = "use one spelling, and list the values in a Literal"
                yield Remark(f"{entity.name}.{name}", message, hint)


def _texts(subject: Subject, entity: CompiledEntity, name: str) -> set[str]:
    result: list[Any] = list(values_of(entity.fields[name].annotation) or ())
    info = entity.cls.model_fields.get(name)
    named = [key.when[name] for key in entity.keys if name in key.when]
    named += [
        values_asked(pattern.constants[name])
        for pattern in subject.design.reads.values()
        if name in pattern.constants and entity in entities_read(pattern.plan)
    ]
    if result or named:
        result += [*(value for values in named for value in values), *([info.default] if info is not None else [])]
    return {text for text in result if isinstance(text, str)}


def _style(text: str) -> str:
    if not any(letter.isalpha() for letter in text):
        return ""
    return "upper" if text.isupper() else "lower" if text.islower() else "mixed"


RULE = Rule("KP205", Severity.WARNING, _find, __name__, __doc__)
