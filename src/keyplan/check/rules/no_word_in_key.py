"""A partition key says nothing of what it is.

In a table with several entities, a partition key that is a bare value can't be told from another entity's: the id
of a user and the id of an order meet in one partition when they are equal, filters of streams and policies can't
name them, and nobody reading the table knows what is what.

Begin it with the entity's word: ``USER#{user_id}``.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.check.findings import Remark, Severity
from keyplan.check.rule import Rule
from keyplan.check.subject import Subject
from keyplan.design.templates import Literal_

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    entities = subject.design.entities.values()
    for entity in entities if len(entities) > 1 else ():
        (attribute, template), *_ = entity.primary.partition
        words = [part.text for part in template.parts if isinstance(part, Literal_)]
        if attribute.type == "S" and not any(letter.isalpha() for text in words for letter in text):
            yield Remark(
                f"{entity.name}.{entity.primary.name}",
                f"its partition key, {template.source!r}, doesn't say what it is the key of",
                f'begin it with a word: "{entity.name.upper()}#{template.source}"',
            )


RULE = Rule("KP208", Severity.WARNING, _find, __name__, __doc__)
