"""A key can be longer than DynamoDB allows.

A partition key may be 2,048 bytes long, a sort key 1,024. The longest text that a template can make is estimated
from the fixed text, the formats, and the bounds of its fields; a character may take four bytes in UTF-8. A value
over the limit is refused when it is written, with ``KeyFieldError``: the bound of the field promises more than the
key can hold.

Give the field a smaller ``max_length``, or keep it out of the key. A field without a bound is not judged here.

Source: "Constraints in Amazon DynamoDB" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, length_max, values_of
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.dynamodb.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.key_formats import IntegerFormat, PartsFormat, TextFormat
from keyplan.model.stored.key_templates import Literal_, Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["RULE"]

CHARACTER_BYTES_MAX = 4
INTEGER_BYTES_MAX = 39


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        for key in (*entity.keys, *entity.claims):
            for templates, limit in ((key.partition, PARTITION_KEY_BYTES_MAX), (key.sort, SORT_KEY_BYTES_MAX)):
                for attribute, template in templates:
                    parts = _parts(entity, template)
                    if parts is None or attribute.type != "S" or sum(size for size, _ in parts) <= limit:
                        continue
                    total = sum(size for size, _ in parts)
                    yield Remark(
                        f"{entity.name}.{key.name}",
                        f"{template} can be {total:,} bytes long, and {attribute.name} takes {limit:,}",
                        "give its fields a smaller max_length, or leave them out of the key",
                        (f"{' + '.join(text for _, text in parts)} = {total:,} bytes, of {limit:,}",),
                    )


def _parts(entity: CompiledEntity, template: Template) -> list[tuple[int, str]] | None:
    """The most bytes of each part, with their arithmetic; None where a part has no bound."""
    result: list[tuple[int, str]] = []
    for part in template.parts:
        if isinstance(part, Literal_):
            size = len(part.text.encode())
            result.append((size, f"{size} ({part.text!r})"))
            continue
        size_of = _longest(entity, part)
        if size_of is None:
            return None
        result.append(size_of)
    return result


def _longest(entity: CompiledEntity, variable: Variable) -> tuple[int, str] | None:
    annotation = entity.fields[variable.field].annotation
    if isinstance(variable.format, IntegerFormat):
        size = variable.format.width or INTEGER_BYTES_MAX
        return size, f"{size} ({variable.field})"
    choices = values_of(annotation)
    if choices is not None:
        size = max(len(str(choice).encode()) for choice in choices)
        return size, f"{size} ({variable.field})"
    if isinstance(variable.format, TextFormat) and kind_of(annotation) is str:
        length = length_max(annotation)
        if length is None:
            return None
        size = length * CHARACTER_BYTES_MAX
        return size, f"{length} × {CHARACTER_BYTES_MAX} ({variable.field})"
    if isinstance(variable.format, PartsFormat):
        return None
    return INTEGER_BYTES_MAX, f"{INTEGER_BYTES_MAX} ({variable.field})"


RULE = Rule("KP101", Severity.WARNING, _find, __name__, __doc__)
