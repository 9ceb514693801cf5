"""Unused index key of an entity.

Access patterns read only other entities in the index. Index entries of this entity cost writes and storage without use.

Remove the key, or add an access pattern that reads the entity in the index.

See "General guidelines for secondary indexes in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    read = {query.key.index.name for query in subject.queries if query.key.index is not None}
    for entity, key in subject.keys:
        if key.index is not None and key.index.name in read and not subject.readers(key):
            message = f"no access pattern reads this key, and each {entity.name} item is written to {key.place}"
            hint = "remove the key, or add an access pattern that reads it"
            yield Remark(f"{entity.name}.{key.name}", message, hint)


RULE = Rule("KP402", Severity.WARNING, _find, __name__, __doc__)
