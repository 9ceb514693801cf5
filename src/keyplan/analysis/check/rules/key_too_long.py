"""Key that can exceed the maximum length.

A partition key can have at most 2,048 bytes, and a sort key at most 1,024 bytes. Keyplan calculates the maximum length
of a key from its fixed text, its formats and the ``max_length`` of its fields. A character can take 4 bytes in UTF-8. A
write of an item with a longer key raises ``KeyFieldError``.

Reduce the ``max_length`` of a field in the key, or remove the field from the key. A key that contains a string without
``max_length`` isn't reported.

See "Constraints in Amazon DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import length_max, values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.dynamodb.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.key_formats import IntegerFormat, PartsFormat, TextFormat
from keyplan.model.stored.key_templates import Literal_, Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity

CHARACTER_BYTES_MAX = 4
INTEGER_BYTES_MAX = 39


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        for key in (*entity.keys, *entity.claims):
            for templates, limit in ((key.partition, PARTITION_KEY_BYTES_MAX), (key.sort, SORT_KEY_BYTES_MAX)):
                for attribute, template in templates:
                    parts = _parts(entity, template)
                    if parts is None or attribute.type != "S" or sum(size for size, _ in parts) <= limit:
                        continue
                    total = sum(size for size, _ in parts)
                    message = f"{template} can be {total:,} bytes long, but {attribute.name} allows {limit:,}"
                    hint = "reduce the max_length of the fields, or remove them from the key"
                    arithmetic = (f"{' + '.join(text for _, text in parts)} = {total:,} bytes; limit: {limit:,}",)
                    yield Remark(f"{entity.name}.{key.name}", message, hint, arithmetic)


def _parts(entity: CompiledEntity, template: Template) -> list[tuple[int, str]] | None:
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
