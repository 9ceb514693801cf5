"""Key attribute that duplicates a field.

If a key attribute contains only one field, the field can be stored in the key attribute itself. Two attributes whose
names differ only in their suffix (``created_at`` and ``created_at_sk``) store the same value twice. If other code
writes the field without the key attribute, the item is missing from the index.

Give the field the name of the key attribute, or set an alias, as in ``Field(alias="created_at_sk")``.
"""

from __future__ import annotations

import re
from typing import Any

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.declared.fields import kind_of

_ENDING = re.compile(r"_(?:[ps]k|key|\d+)$")
_KINDS: dict[str, set[Any]] = {"S": {str}, "N": {int, float}, "B": {bytes}}


def _find(subject: Subject) -> Remarks:
    for entity, key in subject.keys:
        for attribute, template in key.attributes:
            if len(template.parts) != 1 or not template.variables:
                continue
            field = entity.fields[template.variables[0].field]
            same = kind_of(field.annotation) in _KINDS[attribute.type] and not field.computed
            if same and field.attribute != attribute.name and _stem(field.attribute) == _stem(attribute.name):
                message = f"the key attribute {attribute.name} stores the same value as the field {field.name}"
                hint = f"rename the field to {attribute.name}, or set Field(alias={attribute.name!r})"
                yield Remark(f"{entity.name}.{key.name}", message, hint)


def _stem(name: str) -> str:
    return _ENDING.sub("", name)


RULE = Rule("KP206", Severity.WARNING, _find, __name__, __doc__)
