"""Two indexes hold the same in the same order.

Where two keys of an entity have the same partition key, and the one's sort key is the other's or the beginning of
it, one index answers what both do. The other is paid for with every write.

A key by which an entity is read together with others is not spare. Keep the longer key and drop the other.

Source: "General guidelines for secondary indexes" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from keyplan.check.findings import Remark, Severity
from keyplan.check.rule import Rule
from keyplan.check.subject import Subject
from keyplan.design.stored.keys import CompiledKey

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        for compiled_key, other in combinations(entity.keys, 2):
            shorter, longer = sorted((compiled_key, other), key=lambda key: (len(_sort(key)), key.index is not None))
            same = _partition(compiled_key) == _partition(other) and _sort(longer)[: len(_sort(shorter))] == _sort(
                shorter
            )
            spare = shorter if shorter.index is not None else longer
            together = any(len(query.plan.matches) > 1 for query in subject.readers(spare))
            covered = shorter.when == longer.when and compiled_key.shards == other.shards and not together
            if (
                same
                and covered
                and spare.index is not None
                and (spare is shorter or _sort(compiled_key) == _sort(other))
            ):
                kept = longer if spare is shorter else shorter
                yield Remark(
                    f"{entity.name}.{spare.name}",
                    f"{kept.name} in {kept.place} answers all that it does: {kept}",
                    f"drop {spare.name}, and {spare.place} if nothing else stands in it",
                )


def _partition(key: CompiledKey) -> list[str]:
    return [template.source for _, template in key.partition]


def _sort(key: CompiledKey) -> list[str]:
    return [template.source for _, template in key.sort]


RULE = Rule("KP404", Severity.WARNING, _find, __name__, __doc__)
