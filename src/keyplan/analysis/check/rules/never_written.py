"""Entity that is read but never written.

A read of an entity that no write creates returns an empty result. For example, a design reads followers, but writes
only the "following" items. The rule applies only if Keyplan can analyze the code of all writes. An entity that a write
updates, deletes or checks isn't reported, because another program probably creates its items.

Create the item in the transaction that writes the related item. Ignore the finding if a loader or another service
writes the items.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.plans import entities_read


def _find(subject: Subject) -> Remarks:
    writes = subject.writes
    made = [action for written in writes for action in written.actions if action.kind in {"Put", "Create"}]
    if not writes or not all(account.known for account in writes) or any(action.entity is None for action in made):
        return
    # If writes only update, delete or check items of an entity, another program probably creates these items
    written = {action.entity.name for code in writes for action in code.actions if action.entity is not None}
    for entity in subject.design.entities.values():
        readers = [pattern.name for pattern in subject.design.reads.values() if entity in entities_read(pattern.plan)]
        if readers and entity.name not in written:
            message = f"{', '.join(readers)} read{'s' if len(readers) == 1 else ''} the entity, but no write creates it"
            hint = f"yield Create({entity.name}(...)) in the related write"
            yield Remark(entity.name, message, hint)


RULE = Rule("KP309", Severity.WARNING, _find, __name__, __doc__)
