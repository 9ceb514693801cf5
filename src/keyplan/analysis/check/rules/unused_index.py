"""Index that no access pattern reads.

Each item in an index costs a write and storage, whether the index is read or not. You can add a global index to a table
at any time, and DynamoDB backfills it with the existing items.

Remove the index and its keys, or add the access pattern that needs the index.

See "General guidelines for secondary indexes in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    read = {query.key.index.name for query in subject.queries if query.key.index is not None}
    for index in subject.design.table.indexes:
        if index.name in read:
            continue
        held = [entity.name for entity, key in subject.keys if key.index is not None and key.index.name == index.name]
        what = f"and every {' and '.join(held)} item is written to it" if held else "and no entity has a key on it"
        yield Remark(index.name, f"no pattern reads the index, {what}", "remove the index, or add an access pattern")


RULE = Rule("KP401", Severity.WARNING, _find, __name__, __doc__)
