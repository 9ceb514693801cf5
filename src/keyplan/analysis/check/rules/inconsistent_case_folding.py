"""A value is folded by case in one place, and not in another.

"Ada@example.com" and "ada@example.com" are two values to DynamoDB. Where one write folds an email before it is stored,
and another doesn't, or a question asks for it as it was typed, the same address is registered twice, and not found.
Reported is a field of a unique value or of a key that a write folds by hand (``email.lower()``) while its type doesn't,
a unique email or user name that nothing folds (as information), and a question that takes a unique value as it is
while the field's type folds it.

Let the type fold it, everywhere: ``Email = Annotated[str, StringConstraints(to_lower=True)]``, for the field and for
parameters alike.

Source: "Naming rules and data types" in the developer guide: texts are compared by their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from keyplan.analysis.check.check_subject import Subject, entities_of
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["RULE"]


TYPED = frozenset({"email", "mail", "username", "login", "handle", "nickname"})
"""Last words of the names of unique texts that people type in either case."""
_MIXED = ("Aa", "Aa@Example.com", "Aa-Bb")


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        names = {
            name for key in (*entity.claims, *entity.keys) for _, template in key.attributes for name in template.fields
        }
        for name in sorted(names):
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
    """Whether a type folds texts by case; None where it takes none of those that are tried."""
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    for text in _MIXED:
        try:
            return bool(adapter.validate_python(text) != text)
        except ValidationError:
            continue
    return None


def _by_hand(subject: Subject, entity: CompiledEntity, name: str) -> Iterator[Remark]:
    for account in subject.writes:
        if name in account.code.folded and entity in account.entities:
            yield Remark(
                f"{entity.name}.{name}",
                f"{account.pattern.name} folds it by hand, and its type doesn't: elsewhere it stays as it was typed",
                f"let its type fold it: {name}: Annotated[str, StringConstraints(to_lower=True)]",
            )
            return


def _unfolded(entity: CompiledEntity, name: str) -> Iterator[Remark]:
    """A unique value that people type, and that nothing folds."""
    if name.rpartition("_")[2] in TYPED and any(name in claim.fields for claim in entity.claims):
        yield Remark(
            f"{entity.name}.{name}",
            f"{name} is unique by its bytes: 'Ada@example.com' and 'ada@example.com' are two",
            f"let its type fold it: {name}: Annotated[str, StringConstraints(to_lower=True)]",
            severity=Severity.INFO,
        )


def _as_typed(subject: Subject, entity: CompiledEntity, name: str) -> Iterator[Remark]:
    for pattern in subject.design.reads.values():
        parameter = pattern.signature.by_name.get(name)
        if parameter is None or entity not in entities_of(pattern.plan) or kind_of(parameter.annotation) is not str:
            continue
        if _folds(parameter.annotation) is False:
            yield Remark(
                pattern.place,
                f"it takes {name} as it was typed, and {entity.name}.{name} is stored folded: it finds nothing",
                f"give the parameter the type of {entity.name}.{name}",
            )


RULE = Rule("KP213", Severity.WARNING, _find, __name__, __doc__)
