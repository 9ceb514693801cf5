"""More indexes than needed.

Items of different entities can share an index whose key attributes have different values for each entity (index
overloading). A table needs only as many indexes as the entity with the most index keys. The default quota is 20 global
indexes per table. Entities that share an index stay in separate partitions. The rule reports tables with five or more
global indexes.

Give the indexes general names (``GSI1``), and let entities share them. Ignore the finding if you prefer descriptive
names and the number of indexes stays within the quota.

See "Overloading Global Secondary Indexes in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from collections import Counter

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.dynamodb.limits import GLOBAL_INDEXES_MAX
from keyplan.model.declared.indexes import Index

INDEXES_MIN = 5

Types = tuple[tuple[str, ...], tuple[str, ...]]


def _find(subject: Subject) -> Remarks:
    indexes = [index for index in subject.design.table.indexes if not index.local]
    if len(indexes) < INDEXES_MIN:
        return
    needed: Counter[Types] = Counter()
    for entity in subject.design.entities.values():
        indexes_of = {key.index.name: key.index for key in entity.index_keys if key.index is not None}
        own = Counter(_types(index) for index in indexes_of.values())
        needed |= own  # for each combination of key types, the largest number of indexes of one entity
    total = sum(needed.values())
    if total < len(indexes):
        forms = [f"{count} with {_form(types)}" for types, count in needed.items()]
        message = f"the table has {len(indexes)} of at most {GLOBAL_INDEXES_MAX} global indexes, but needs only {total}"
        hint = "let entities that use different indexes share an index"
        arithmetic = (
            f"largest number of index keys of an entity, by key types: {' + '.join(forms)} = {total}",
            f"{len(indexes)} global indexes; quota of a table: {GLOBAL_INDEXES_MAX}",
        )
        yield Remark(subject.table_place, message, hint, arithmetic)


def _types(index: Index) -> Types:
    return tuple(attribute.type for attribute in index.partition), tuple(attribute.type for attribute in index.sort)


def _form(types: Types) -> str:
    partition, sort = ("+".join(kind) for kind in types)
    return f"key types {partition}{f' and {sort}' if sort else ''}"


RULE = Rule("KP405", Severity.INFO, _find, __name__, __doc__)
