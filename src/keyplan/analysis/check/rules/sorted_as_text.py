"""Enum or Literal field sorted alphabetically.

A key stores a value of an ``Enum`` or a ``Literal`` as a string, and DynamoDB sorts strings by their bytes ("high"
before "low"). Therefore, ``order_by`` and ``Range`` don't follow the order in which you declare the values.

Store the value's position with ``{priority:rank}``. Ignore the finding if you want alphabetical order.

See "Best practices for using sort keys to organize data" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import Query, values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.key_formats import TextFormat


def _find(subject: Subject) -> Remarks:
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
            f"{query.key.name} sorts {name} alphabetically ({', '.join(sorted(map(str, values)))}), "
            f"not in declaration order ({', '.join(map(str, values))})",
            f"use {{{name}:rank}} in the key",
        )


def _asked_order(query: Query) -> str | None:
    ordered = (query.pattern.options.order_by or "").removeprefix("-")
    first = next((name for name, _ in query.match.order), None)
    if ordered and ordered == first:
        return first
    ranges = (parameter for parameter in query.pattern.signature.parameters if parameter.kind is ParameterKind.RANGE)
    return next((parameter.name for parameter in ranges if parameter.name in query.match.entity.fields), None)


def _is_text(query: Query, name: str) -> bool:
    variables = (variable for _, template in query.key.sort for variable in template.variables)
    return any(each.field == name and isinstance(each.format, TextFormat) for each in variables)


RULE = Rule("KP215", Severity.WARNING, _find, __name__, __doc__)
