"""A tuple in a key may have any number of parts.

A key of a tuple holds all its parts, so a tuple without a bound makes keys without one; over 2,048 bytes (a sort
key: 1,024) they are refused when written. Where an item is written for each combination of the parts, as for search
by several tags at once, n parts are 2ⁿ − 1 items: 31 for five, 1,023 for ten, and a transaction takes 100 actions.

Give the tuple a ``max_length``.

Source: "Constraints in Amazon DynamoDB" in the developer guide; TransactWriteItems in the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, length_max
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.dynamodb.limits import TRANSACT_ACTIONS_MAX
from keyplan.model.declared.fields import kind_of

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        for key in (*entity.keys, *entity.claims):
            for name in dict.fromkeys(name for _, template in key.attributes for name in template.fields):
                annotation = entity.fields[name].annotation
                if kind_of(annotation) is not tuple or length_max(annotation) is not None:
                    continue
                yield Remark(
                    f"{entity.name}.{name}",
                    f"nothing bounds how many parts it has, and {key.name} holds them all",
                    "bound it: Annotated[tuple[str, ...], Field(max_length=5)]",
                    (
                        "an item for each combination of 5 parts: 2^5 - 1 = 31 items; of 10 parts: 2^10 - 1 = 1,023",
                        f"a transaction takes {TRANSACT_ACTIONS_MAX} actions",
                    ),
                )


RULE = Rule("KP102", Severity.WARNING, _find, __name__, __doc__)
