"""An index includes attributes that it can't, or that nothing has.

``projection=[...]`` may name 20 attributes for one index and 100 for all indexes of a table together, each counted
every time; key attributes are projected anyway and may not be named. CreateTable refuses the rest. An attribute
that no entity stores is most likely misspelt.

Source: CreateTable and Projection in the API reference; "Service, account, and table quotas" in the developer
guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.dynamodb.limits import PROJECTED_NAMES_PER_TABLE_MAX
from keyplan.model.declared.indexes import Index

__all__ = ["RULE"]

PROJECTED_NAMES_PER_INDEX_MAX = 20


def _find(subject: Subject) -> Iterator[Remark]:
    table = subject.design.table
    included = [(index, index.projection) for index in table.indexes if isinstance(index.projection, tuple)]
    stored = {field.attribute for entity in subject.design.entities.values() for field in entity.fields.values()}
    for index, names in included:
        keys = _key_names(subject, index)
        for name in names:
            if name in keys:
                yield Remark(
                    index.name,
                    f"it includes {name}, which is a key attribute and projected anyway: CreateTable refuses it",
                    f"take {name} out of projection=",
                )
            elif name not in stored:
                yield Remark(
                    index.name,
                    f"it includes {name}, which no entity stores",
                    "write the attribute's name as it is stored: the field's alias where it has one",
                    severity=Severity.WARNING,
                )
        if len(names) > PROJECTED_NAMES_PER_INDEX_MAX:
            yield Remark(
                index.name,
                f"it includes {len(names)} attributes, and an index takes {PROJECTED_NAMES_PER_INDEX_MAX}",
                'include fewer, or project "ALL"',
            )
    total = sum(len(names) for _, names in included)
    if total > PROJECTED_NAMES_PER_TABLE_MAX:
        yield Remark(
            subject.table_place,
            f"its indexes include {total} attributes, and a table takes {PROJECTED_NAMES_PER_TABLE_MAX}",
            'include fewer, or project "ALL" where most are wanted',
            (f"{' + '.join(str(len(names)) for _, names in included)} = {total}",),
        )


def _key_names(subject: Subject, index: Index) -> set[str]:
    return {*subject.design.table.key_names, *(attribute.name for attribute in (*index.partition, *index.sort))}


RULE = Rule("KP104", Severity.ERROR, _find, __name__, __doc__)
