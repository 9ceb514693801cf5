"""An order of few values is that of their texts.

A value of an ``Enum`` or a ``Literal`` stands in a key as its text, and texts sort by their letters: "high" before
"low" before "medium", "10" before "9". An ``order_by`` of such a field, or a ``Range`` of it, is then another order
than the one in which the values are declared, which is mostly the one that is meant.

Let the key hold their places: ``{priority:rank}``. Where the order of the letters is meant, that is a reason to silence
it.

Source: "Best practices for using sort keys to organize data" in the developer guide: strings are sorted by their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Query, Subject, values_of
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.key_formats import TextFormat

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    seen: set[str] = set()
    for query in subject.queries:
        pattern = query.pattern
        name = _asked_order(query)
        if pattern.name in seen or name is None or not _is_text(query, name):
            continue
        values = values_of(query.match.entity.fields[name].annotation) or ()
        if kind_of(query.match.entity.fields[name].annotation) is bool or list(values) == sorted(values, key=str):
            continue
        seen.add(pattern.name)
        yield Remark(
            pattern.place,
            f"{query.key.name} sorts {name} by its letters ({', '.join(sorted(map(str, values)))}), "
            f"not as it is declared ({', '.join(map(str, values))})",
            f"write {{{name}:rank}} in the key",
        )


def _asked_order(query: Query) -> str | None:
    """The field by which a question asks for an order, or for a range."""
    ordered = (query.pattern.options.order_by or "").removeprefix("-")
    first = next((name for name, _ in query.match.order), None)
    if ordered and ordered == first:
        return first
    ranges = (parameter for parameter in query.pattern.signature.parameters if parameter.kind is ParameterKind.RANGE)
    return next((parameter.name for parameter in ranges if parameter.name in query.match.entity.fields), None)


def _is_text(query: Query, name: str) -> bool:
    """Whether a field stands in the sort key as its text."""
    return any(
        variable.field == name and isinstance(variable.format, TextFormat)
        for _, template in query.key.sort
        for variable in template.variables
    )


RULE = Rule("KP215", Severity.WARNING, _find, __name__, __doc__)
