"""Two indexes hold the same in the same order.

Where two keys of an entity have the same partition key, and the one's sort key is the other's or the beginning of
it, one index answers what both do. The other is paid for with every write.

A key by which an entity is read together with others is not spare. Keep the longer key and drop the other.

Source: "General guidelines for secondary indexes" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.model.stored.key_templates import DELIMITER
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for entity in subject.design.entities.values():
        for pair in combinations(entity.keys, 2):
            shorter, longer = sorted(pair, key=lambda key: (sum(map(len, _sort(key))), key.index is not None))
            same = _partition(shorter) == _partition(longer) and _begins(_sort(longer), _sort(shorter))
            spare = shorter if shorter.index is not None else longer
            together = any(len(query.plan.matches) > 1 for query in subject.readers(spare))
            covered = shorter.when == longer.when and shorter.shards == longer.shards and not together
            if same and covered and (spare is shorter or _sort(shorter) == _sort(longer)):
                kept = longer if spare is shorter else shorter
                yield Remark(
                    f"{entity.name}.{spare.name}",
                    f"{kept.name} in {kept.place} answers all that it does: {kept}",
                    f"drop {spare.name}, and {spare.place} if nothing else stands in it",
                )


def _begins(longer: list[str], shorter: list[str]) -> bool:
    """Whether a sort key orders by all that another one does, and then maybe by more: by further attributes, or behind
    a delimiter in its last one.
    """
    if not shorter or len(shorter) > len(longer):
        return not shorter
    last = len(shorter) - 1
    return longer[:last] == shorter[:last] and f"{longer[last]}{DELIMITER}".startswith(f"{shorter[last]}{DELIMITER}")


def _partition(key: CompiledKey) -> list[str]:
    return [template.source for _, template in key.partition]


def _sort(key: CompiledKey) -> list[str]:
    return [template.source for _, template in key.sort]


RULE = Rule("KP404", Severity.WARNING, _find, __name__, __doc__)
