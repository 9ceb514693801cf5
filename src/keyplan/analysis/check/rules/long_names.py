"""Long attribute names.

Attribute names are stored and charged with every item. The rule reports an entity with at least 1 million items
(``count`` in the traffic file) if attribute names make up more than 30% of each item.

Give the fields short aliases, as in ``Field(alias="ts")``. Your code keeps the long field names.

See "DynamoDB item sizes and formats" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number

SHARE = 0.3
COUNT_MIN = 1_000_000


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        count, sizes = subject.stored(entity).count, subject.sizes(entity)
        if sizes is None or count is None or count < COUNT_MIN:
            continue
        keys = [attribute.name for attribute, _ in entity.primary.attributes]
        names = [field.attribute for field in sizes.fields] + keys
        total = sum(len(name.encode()) for name in names)
        if total > SHARE * sizes.item_bytes:
            message = f"attribute names take up {total / sizes.item_bytes:.0%} of each item"
            hint = 'give fields short aliases: Field(alias="ts")'
            arithmetic = (
                f"{total:,} of {sizes.item_bytes:,} bytes = {total / sizes.item_bytes:.0%}",
                f"{total:,} bytes of names × {number(count)} items = {number(total * count / 1024**3)} GB",
            )
            yield Remark(entity.name, message, hint, arithmetic)


RULE = Rule("KP507", Severity.INFO, _find, __name__, __doc__)
