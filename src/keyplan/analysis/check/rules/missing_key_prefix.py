"""Partition key without an entity prefix.

In a table with several entities, a partition key without a prefix can be equal to the partition key of another entity,
for example if a user and an order have the same id. Stream filters and IAM policies can't select the items of an entity
by a key without a prefix, and a person who reads the table can't identify the items.

Start the partition key with the name of the entity, as in ``USER#{user_id}``. Entities in the same item collection use
the same prefix, so change the keys of all these entities together.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.stored.key_templates import Literal_, Template
from keyplan.model.stored.stored_entity import CompiledEntity


def _find(subject: Subject) -> Remarks:
    entities = list(subject.design.entities.values())
    if len({entity.primary.partition[0][1].source for entity in entities}) < 2:
        return  # all entities have the same partition key template
    for entity in entities:
        (attribute, template), *_ = entity.primary.partition
        if attribute.type != "S" or _says_what_it_is(template) or _is_a_field(entity, attribute):
            continue
        together = [each for each in entities if each.primary.partition[0][1].source == template.source]
        word = min(together, key=lambda entity: len(entity.key_fields)).name.upper()
        others = [each.name for each in together if each is not entity]
        also = f" here and in {' and '.join(others)}, which are in the same partitions" if others else ""
        message = f"the partition key, {template.source!r}, has no entity prefix"
        hint = f'add a prefix: "{word}#{template.source}"{also}'
        yield Remark(f"{entity.name}.{entity.primary.name}", message, hint)


def _says_what_it_is(template: Template) -> bool:
    words = [part.text for part in template.parts if isinstance(part, Literal_)]
    return any(letter.isalpha() for text in words for letter in text)


def _is_a_field(entity: CompiledEntity, attribute: KeyAttribute) -> bool:
    """Whether the attribute is also a field of the entity, so that its value can't have a prefix."""
    return any(field.attribute == attribute.name for field in entity.fields.values())


RULE = Rule("KP208", Severity.WARNING, _find, __name__, __doc__)
