"""What was read is changed and written back without asking whether it is still so.

A write that reads a value, computes the next one and writes it (a version number, a counter, a sum) loses the change
of whoever did the same in between: two publishers write the same version. Reported are updates, and Puts of a key
that is computed so, without ``only_if`` and without a Version field.

Expect what was read: ``.only_if(current_version=article.current_version)`` with ``attempts=``; change by
``Add(1)``; write the new item with ``Create``; or give the entity a ``Version`` field. Fields of an index key are
expected anyway, when an instance is updated.

Source: "Optimistic locking with version number"; "Condition expressions" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.write_analysis.code import Action
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for written in subject.writes:
        for action in written.actions:
            entity = action.entity
            if entity is None or action.conditional or entity.version is not None:
                continue
            names = sorted(_lost(entity, action))
            if not names:
                continue
            what = "with a key computed" if action.kind == "Put" else "computed"
            create = "; or yield Create instead of Put" if action.kind == "Put" else "; or change it by Add"
            yield Remark(
                written.pattern.place,
                f"{action.kind} {entity.name} sets {' and '.join(names)}, {what} from what was read, "
                "without asking whether that is still so",
                f"add .only_if(...) with what was read, and attempts={10}{create}",
            )


def _lost(entity: CompiledEntity, action: Action) -> set[str]:
    if action.kind == "Put":
        return set(action.from_read) & set(entity.key_fields)
    if action.kind != "Update":
        return set()
    expected = {name for key in entity.index_keys for name in entity.inputs_of(key)} if action.by_instance else set()
    return set(action.from_read) - expected


RULE = Rule("KP308", Severity.WARNING, _find, __name__, __doc__)
