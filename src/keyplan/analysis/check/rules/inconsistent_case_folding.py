"""Inconsistent lower-casing of a key or unique value.

DynamoDB compares strings byte by byte, so "Ada@example.com" and "ada@example.com" are two values. If one write
lower-cases an email address, and another write or a read doesn't, the same address can be registered twice, or reads
don't find it.

The rule reports a key or unique field that a write lower-cases in its code (``email.lower()``), but whose type doesn't.
The rule also reports a parameter for a unique, lower-cased field if the parameter's type doesn't lower-case the value,
and, as info, a unique email address or user name that no code or type lower-cases.

For the field and the parameters, use a type that lower-cases the value, such as ``Annotated[str,
StringConstraints(to_lower=True)]``.

See "Naming rules and data types" in the Developer Guide.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from keyplan.analysis.check.check_subject import fields_in
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.plans import entities_read
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity

TYPED = frozenset({"email", "mail", "username", "login", "handle", "nickname"})
"""Last words of the names of unique strings that people type in any case."""
_MIXED = ("Aa", "Aa@Example.com", "Aa-Bb")


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        for name in sorted({name for key in (*entity.claims, *entity.keys) for name in fields_in(key.attributes)}):
            stored = entity.fields[name]
            if stored.computed or kind_of(stored.annotation) is not str:
                continue
            folds = _folds(stored.annotation)
            if folds is False:
                by_hand = list(_by_hand(subject, entity, name))
                yield from by_hand or _unfolded(entity, name)
            elif folds:
                unique = any(name in claim.fields for claim in entity.claims)
                yield from _as_typed(subject, entity, name) if unique else ()


def _folds(annotation: Any) -> bool | None:
    """Whether a type changes the case of strings; None if it accepts none of the samples."""
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    for text in _MIXED:
        try:
            return bool(adapter.validate_python(text) != text)
        except ValidationError:
            continue
    return None


def _by_hand(subject: Subject, entity: CompiledEntity, name: str) -> Remarks:
    for written in subject.writes:
        if name in written.code.folded and entity in written.entities:
            message = f"{written.pattern.name} changes the letter case of the value in code, but the type doesn't"
            hint = f"declare a lower-case type: {name}: Annotated[str, StringConstraints(to_lower=True)]"
            yield Remark(f"{entity.name}.{name}", message, hint)
            return


def _unfolded(entity: CompiledEntity, name: str) -> Remarks:
    """Report a unique value that users type and that no code or type lower-cases."""
    if name.rpartition("_")[2] in TYPED and any(name in claim.fields for claim in entity.claims):
        yield Remark(
            f"{entity.name}.{name}",
            "the name suggests user input, and uniqueness is case-sensitive: 'Ada' and 'ada' are different values",
            f"declare a lower-case type: {name}: Annotated[str, StringConstraints(to_lower=True)]",
            severity=Severity.INFO,
        )


def _as_typed(subject: Subject, entity: CompiledEntity, name: str) -> Remarks:
    for pattern in subject.design.reads.values():
        parameter = pattern.signature.by_name.get(name)
        if parameter is None or entity not in entities_read(pattern.plan) or kind_of(parameter.annotation) is not str:
            continue
        if _folds(parameter.annotation) is False:
            message = f"{entity.name}.{name} is stored in lower case, but the parameter isn't lower-cased"
            hint = f"give the parameter the type of {entity.name}.{name}"
            yield Remark(pattern.place, message, hint)


RULE = Rule("KP213", Severity.WARNING, _find, __name__, __doc__)
