"""Ranking with frequent changes in few partitions.

If the partition key is a board, a league or a season, and the sort key is a score, all ranked items are in few
partitions, often in one. Each change of a score costs a write in the table, or 2 writes in an index, because DynamoDB
also deletes the old index entry. A partition supports 1,000 write units per second.

The rule reports a key if the fields of its partition key have a default or a name such as ``board``, and a write
changes the number in its sort key. Writes with a known rate of at most 10 calls per second aren't reported.

Set ``shards=`` (each read then queries every shard and merges the results), or update the ranking at a limited rate.
Ignore the finding if there are many boards, leagues or seasons of equal size.

See "Using write sharding to distribute workloads evenly" in the Developer Guide.
"""

from __future__ import annotations

from decimal import Decimal

from pydantic_core import PydanticUndefined

from keyplan.analysis.check.check_subject import fields_in
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.dynamodb.limits import PARTITION_WRITE_UNITS_MAX
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

GROUPS = frozenset({
    "board", "category", "channel", "country", "division", "feed", "game", "genre", "kind", "ladder", "leaderboard",
    "league", "level", "list", "mode", "period", "platform", "rank", "ranking", "region", "scope", "season", "section",
    "sport", "tier", "topic", "type",
})  # fmt: skip
"""Last words of the names of groups that are few and have many items."""
SELDOM = 0.01
"""The share of a partition's write units per second up to which a known rate isn't reported."""


def _find(subject: Subject) -> Remarks:
    for entity, key in subject.keys:
        ranked = next(iter(fields_in(key.sort)), None)
        if ranked is None or kind_of(entity.fields[ranked].annotation) not in {int, float, Decimal}:
            continue
        if key.shards > 1 or not _few(subject, entity, key):
            continue
        changing = _changing(subject, entity, ranked)
        if changing:
            groups = ", ".join(fields_in(key.partition))
            units = "2 write units or more" if key.index is not None else "1 write unit or more"
            ranks = f"{key.place} ranks every {entity.name} by {ranked} in few partitions (by {groups})"
            message = f"{ranks}, and calls of {' and '.join(changing)} change {ranked}"
            hint = "set shards=, or update the ranked number at a limited rate"
            arithmetic = (f"each change: {units}; limit of a partition: 1,000 write units/s",)
            yield Remark(f"{entity.name}.{key.name}", message, hint, arithmetic)


def _few(subject: Subject, entity: CompiledEntity, key: CompiledKey) -> bool:
    """Whether a partition key probably has few values. KP202 reports keys whose type lists the values."""
    names = fields_in(key.partition)
    if not names or subject.partitions(entity, key) is not None:
        return False
    return all(name.rpartition("_")[2] in GROUPS or _defaulted(entity, name) for name in names)


def _defaulted(entity: CompiledEntity, name: str) -> bool:
    info = entity.cls.model_fields.get(name)
    return info is not None and info.default is not PydanticUndefined and info.default is not None


def _changing(subject: Subject, entity: CompiledEntity, ranked: str) -> list[str]:
    inputs = {ranked, *entity.inputs(ranked)}
    changing = [
        written.pattern
        for written, action, owner in subject.actions
        if owner is entity and action.kind == "Update" and inputs & action.changes.keys()
    ]
    rates = {pattern.name: subject.load(pattern).peak for pattern in changing}
    least = PARTITION_WRITE_UNITS_MAX * SELDOM  # lower rates are far below the limit of a partition
    return [name for name, rate in rates.items() if rate is None or rate > least]


RULE = Rule("KP214", Severity.WARNING, _find, __name__, __doc__)
