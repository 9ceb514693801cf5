"""Items slightly larger than a multiple of 1 KB.

Writes are charged in units of 1 KB, rounded up. A few bytes over a multiple of 1 KB cost one more write unit. The rule
reports item sizes up to 5% above a multiple of 1 KB, if the size is in the traffic file or is determined by the types.

Shorten attribute names, or remove attributes.

See "Read and write operations" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.dynamodb.limits import WRITE_UNIT_BYTES

ABOVE = 0.05


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        sizes = subject.sizes(entity)
        if sizes is None or (subject.stored(entity).item_bytes is None and sizes.open_fields):
            continue
        size = sizes.item_bytes
        steps = size // WRITE_UNIT_BYTES
        over = size - steps * WRITE_UNIT_BYTES
        if steps and 0 < over <= ABOVE * steps * WRITE_UNIT_BYTES:
            yield Remark(
                entity.name,
                f"the items are {size:,} bytes, {over} over {steps} KB: a write costs {steps + 1} units, not {steps}",
                "shorten attribute names, or remove attributes",
                (f"{size:,} bytes ÷ {WRITE_UNIT_BYTES:,} = {size / WRITE_UNIT_BYTES:.3f}, rounded up to {steps + 1}",),
            )


RULE = Rule("KP506", Severity.INFO, _find, __name__, __doc__)
