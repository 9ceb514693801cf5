"""An entity is read, and no write makes it.

A read of items that nothing in the design writes answers with nothing: the followers are asked for, and only
"following" items are written. Reported where the design has writes, and their code can be read; an entity that a
write changes, deletes or checks is made elsewhere, and not reported.

Write the item in the transaction of the one that it mirrors. Silence it where something else makes the items: a
loader, another service.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, entities_of
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    writes = subject.writes
    made = [action for written in writes for action in written.actions if action.kind in {"Put", "Create"}]
    if not writes or not all(account.known for account in writes) or any(action.entity is None for action in made):
        return
    # What a write changes, deletes or checks is made somewhere: by a plain verb, or by a loader.
    written = {action.entity.name for code in writes for action in code.actions if action.entity is not None}
    for entity in subject.design.entities.values():
        readers = [pattern.name for pattern in subject.design.reads.values() if entity in entities_of(pattern.plan)]
        if readers and entity.name not in written:
            yield Remark(
                entity.name,
                f"{', '.join(readers)} read{'s' if len(readers) == 1 else ''} it, and no write of the design makes one",
                f"yield Create({entity.name}(...)) in the write that it belongs to",
            )


RULE = Rule("KP309", Severity.WARNING, _find, __name__, __doc__)
