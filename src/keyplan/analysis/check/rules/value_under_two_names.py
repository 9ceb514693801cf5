"""A key attribute repeats a field under nearly the same name.

A key attribute that holds just a field's value may be the field's own attribute. Stored twice, under names that
differ only in their ending (``created_at`` and ``created_at_sk``), the value costs bytes twice, and sooner or later
somebody writes or queries the wrong one: an item without the key attribute is silently absent from the index.

Give the field the attribute's name, or an alias: ``Field(alias="created_at_sk")``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.model.declared.fields import kind_of

__all__ = ["RULE"]

_ENDING = re.compile(r"_(?:[ps]k|key|\d+)$")
_KINDS: dict[str, set[Any]] = {"S": {str}, "N": {int, float}, "B": {bytes}}


def _find(subject: Subject) -> Iterator[Remark]:
    for entity, key in subject.keys:
        for attribute, template in key.attributes:
            if len(template.parts) != 1 or not template.variables:
                continue
            field = entity.fields[template.variables[0].field]
            same = kind_of(field.annotation) in _KINDS[attribute.type] and not field.computed
            if same and field.attribute != attribute.name and _stem(field.attribute) == _stem(attribute.name):
                yield Remark(
                    f"{entity.name}.{key.name}",
                    f"{attribute.name} holds the same as {field.attribute}: one value under two names",
                    f"call both {attribute.name}: rename the field, or give it that alias",
                )


def _stem(name: str) -> str:
    return _ENDING.sub("", name)


RULE = Rule("KP206", Severity.WARNING, _find, __name__, __doc__)
