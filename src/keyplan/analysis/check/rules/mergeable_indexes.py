"""Fewer indexes would hold the same keys.

Items of different entities can share an index: its key attributes hold what each entity puts there ("overloading").
An entity that stands in three indexes needs three; one that stands in none of them can use any. A table has 20 at
most, and "a new index for every new query" reaches that soon. Items that share an index still stand in partitions
of their own there.

Give the indexes general names (``GSI1``), and let entities share them. Names that say what each index is for, and
room to spare, are reasons to leave it so. Reported from five global indexes on.

Source: "Overloading global secondary indexes" in the developer guide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.dynamodb.limits import GLOBAL_INDEXES_MAX
from keyplan.model.declared.indexes import Index

__all__ = ["RULE"]

INDEXES_MIN = 5

Types = tuple[tuple[str, ...], tuple[str, ...]]


def _find(subject: Subject) -> Iterator[Remark]:
    indexes = [index for index in subject.design.table.indexes if not index.local]
    if len(indexes) < INDEXES_MIN:
        return
    needed: Counter[Types] = Counter()
    for entity in subject.design.entities.values():
        indexes_of = {key.index.name: key.index for key in entity.index_keys if key.index is not None}
        own = Counter(_types(index) for index in indexes_of.values())
        needed |= own  # the most that any one entity needs, for each form of key
    total = sum(needed.values())
    if total < len(indexes):
        forms = [f"{count} with {_form(types)}" for types, count in needed.items()]
        yield Remark(
            subject.table_place,
            f"it has {len(indexes)} global indexes of {GLOBAL_INDEXES_MAX}, and {total} would do",
            "let entities that never stand in the same index share one",
            (
                f"the most that one entity needs: {' + '.join(forms)} = {total}",
                f"{len(indexes)} of {GLOBAL_INDEXES_MAX}",
            ),
        )


def _types(index: Index) -> Types:
    return tuple(attribute.type for attribute in index.partition), tuple(attribute.type for attribute in index.sort)


def _form(types: Types) -> str:
    partition, sort = ("+".join(kind) for kind in types)
    return f"keys of types {partition}{f' and {sort}' if sort else ''}"


RULE = Rule("KP405", Severity.INFO, _find, __name__, __doc__)
