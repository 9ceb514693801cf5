"""Tuple without a maximum length in a key.

A key that contains a tuple includes every element of the tuple. A partition key over 2,048 bytes or a sort key over
1,024 bytes is rejected when the item is written. If you write an item for each combination of the elements, n elements
need 2ⁿ − 1 items: 31 for 5 elements, 1,023 for 10. A transaction can contain at most 100 actions.

Give the tuple a ``max_length``, as in ``Annotated[tuple[str, ...], Field(max_length=5)]``.

See "Constraints in Amazon DynamoDB" in the Developer Guide, and TransactWriteItems in the API Reference.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import fields_in, length_max
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.dynamodb.limits import TRANSACT_ACTIONS_MAX
from keyplan.model.declared.fields import kind_of


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        for key in (*entity.keys, *entity.claims):
            for name in fields_in(key.attributes):
                annotation = entity.fields[name].annotation
                if kind_of(annotation) is not tuple or length_max(annotation) is not None:
                    continue
                message = f"the tuple has no maximum length, and {key.name} contains all its elements"
                hint = "give the field a max_length: Annotated[tuple[str, ...], Field(max_length=5)]"
                arithmetic = (
                    "one item per combination: 5 elements = 2^5 - 1 = 31 items; 10 elements = 1,023",
                    f"limit of a transaction: {TRANSACT_ACTIONS_MAX} actions",
                )
                yield Remark(f"{entity.name}.{name}", message, hint, arithmetic)


RULE = Rule("KP102", Severity.WARNING, _find, __name__, __doc__)
