"""Index key that duplicates the order of another key.

If two keys of an entity have the same partition key, and the sort key of one starts with the sort key of the other, one
index supports the access patterns of both. The second index costs a write and storage for each item.

Remove the key with the shorter sort key. A key that a query for several entities uses isn't reported.

See "General guidelines for secondary indexes in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from itertools import combinations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.stored.key_templates import DELIMITER
from keyplan.model.stored.stored_keys import CompiledKey


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        for pair in combinations(entity.keys, 2):
            shorter, longer = sorted(pair, key=lambda key: (sum(map(len, _sort(key))), key.index is not None))
            same = _partition(shorter) == _partition(longer) and _begins(_sort(longer), _sort(shorter))
            spare = shorter if shorter.index is not None else longer
            together = any(len(query.plan.matches) > 1 for query in subject.readers(spare))
            covered = shorter.when == longer.when and shorter.shards == longer.shards and not together
            if same and covered and (spare is shorter or _sort(shorter) == _sort(longer)):
                kept = longer if spare is shorter else shorter
                message = f"{kept} also supports the access patterns of this key"
                hint = f"remove {spare.name}, and {spare.place} if it has no other keys"
                yield Remark(f"{entity.name}.{spare.name}", message, hint)


def _begins(longer: list[str], shorter: list[str]) -> bool:
    """Whether a sort key starts with another, which ends with an attribute or before a delimiter in one."""
    if not shorter or len(shorter) > len(longer):
        return not shorter
    last = len(shorter) - 1
    return longer[:last] == shorter[:last] and f"{longer[last]}{DELIMITER}".startswith(f"{shorter[last]}{DELIMITER}")


def _partition(key: CompiledKey) -> list[str]:
    return [template.source for _, template in key.partition]


def _sort(key: CompiledKey) -> list[str]:
    return [template.source for _, template in key.sort]


RULE = Rule("KP404", Severity.WARNING, _find, __name__, __doc__)
