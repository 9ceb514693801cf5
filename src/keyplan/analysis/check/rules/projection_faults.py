"""Invalid attributes in an index projection.

``projection=[...]`` can name at most 20 attributes per index, and 100 in all indexes of a table together. An attribute
in two projections counts twice. Key attributes are always projected, so a projection can't name them. CreateTable
rejects projections that violate these rules. An attribute that no entity stores is probably misspelled.

Name fewer attributes, project ``"ALL"``, or correct the misspelled name.

See CreateTable and Projection in the API Reference, and "Service, account, and table quotas" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.dynamodb.limits import PROJECTED_NAMES_PER_TABLE_MAX

PROJECTED_NAMES_PER_INDEX_MAX = 20


def _find(subject: Subject) -> Remarks:
    table = subject.design.table
    included = [(index, index.projection) for index in table.indexes if isinstance(index.projection, tuple)]
    stored = {field.attribute for entity in subject.design.entities.values() for field in entity.fields.values()}
    for index, names in included:
        keys = {*table.key_names, *(attribute.name for attribute in (*index.partition, *index.sort))}
        for name in names:
            if name in keys:
                message = f"{name} is a key attribute, which is always projected: CreateTable rejects this projection"
                hint = f"remove {name} from projection="
                yield Remark(index.name, message, hint)
            elif name not in stored:
                message = f"the index projects {name}, which no entity stores"
                hint = "use the stored name of the attribute: the field's alias, if it has one"
                yield Remark(index.name, message, hint, severity=Severity.WARNING)
        if len(names) > PROJECTED_NAMES_PER_INDEX_MAX:
            yield Remark(
                index.name,
                f"the index projects {len(names)} named attributes; the limit is {PROJECTED_NAMES_PER_INDEX_MAX}",
                'name fewer attributes, or project "ALL"',
            )
    total = sum(len(names) for _, names in included)
    if total > PROJECTED_NAMES_PER_TABLE_MAX:
        message = f"the indexes project {total} named attributes; the limit is {PROJECTED_NAMES_PER_TABLE_MAX}"
        hint = 'name fewer attributes, or project "ALL"'
        arithmetic = (f"{' + '.join(str(len(names)) for _, names in included)} = {total}",)
        yield Remark(subject.table_place, message, hint, arithmetic)


RULE = Rule("KP104", Severity.ERROR, _find, __name__, __doc__)
