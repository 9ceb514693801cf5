"""Access pattern that scans the table.

A Scan reads every item of a table or an index. Each MB that the Scan reads costs 128 read units if the read is
eventually consistent, even if the Scan returns few items. The cost of a Scan grows with the table. A Scan is suitable
for rare exports and repairs, but not for user requests. The finding is an error if the rate of the pattern is known.

Declare a key for the access pattern. Ignore the finding if you intend the Scan.

See "Best practices for querying and scanning data" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import fields_in
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number
from keyplan.dynamodb.capacity import read_units
from keyplan.model.compiled.plans import ReadPattern, ScanPlan
from keyplan.model.declared.indexes import Index
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey


def _find(subject: Subject) -> Remarks:
    for pattern in subject.design.reads.values():
        if not isinstance(pattern.plan, ScanPlan):
            continue
        if pattern.plan.index is not None:
            yield from _whole(subject, pattern, pattern.plan.index)
            continue
        load = subject.load(pattern)
        lines: list[str] = []
        counted = [(subject.stored(each).count or 0, subject.sizes(each)) for each in subject.design.entities.values()]
        stored = sum(count * sizes.item_bytes for count, sizes in counted if sizes is not None)
        if stored:
            units = read_units(int(stored), consistent=pattern.plan.consistent)
            half = "" if pattern.plan.consistent else " × 0.5"
            lines.append(f"{number(stored)} bytes stored ÷ 4,096{half} = {number(units)} read units per call")
            if load.per_second:
                total = number(units * load.per_second)
                lines.append(f"{number(load.per_second)} calls/s × {number(units)} = {total} units/s")
        often = f", {number(load.per_second)} times per second" if load.per_second else ""
        message = f"the pattern reads the whole table{often}"
        hint = "declare a key with the parameters as its partition key, or ignore the finding if you intend the scan"
        yield Remark(
            pattern.place, message, hint, tuple(lines), Severity.ERROR if load.per_second else Severity.WARNING
        )


def _whole(subject: Subject, pattern: ReadPattern, index: Index) -> Remarks:
    """Report a read of a whole index that isn't sparse, because it scans all items of an entity."""
    for entity in subject.design.entities.values():
        for key in entity.index_keys:
            if key.index is not None and key.index.name == index.name and not _is_sparse(entity, key):
                yield Remark(
                    pattern.place,
                    f"the pattern scans {index.name}, which contains every {entity.name}",
                    "make the key sparse with when= or with a field that is None in most items, or query its "
                    "partition key",
                )
                return


def _is_sparse(entity: CompiledEntity, key: CompiledKey) -> bool:
    named = (entity.fields[name] for name in fields_in(key.attributes))
    return bool(key.when) or any(field.optional for field in named)


RULE = Rule("KP301", Severity.WARNING, _find, __name__, __doc__)
