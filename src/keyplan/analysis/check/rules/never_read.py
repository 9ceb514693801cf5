"""An entity is written, and nothing asks for it.

Items that no pattern reads, goes through, or expects are stored and paid for without use; or the question that they
were meant for was forgotten. An entity that a write creates or checks answers by its being there, and is not
reported.

Add the question, or leave the entity out. Silence it where something else reads it: a stream, an export.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, entities_of
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    read = {entity.name for pattern in subject.design.reads.values() for entity in entities_of(pattern.plan)}
    asked = {
        action.entity.name
        for written in subject.writes
        for action in written.actions
        if action.entity is not None and (action.kind in {"Create", "Check"} or action.conditional)
    }
    for entity in subject.design.entities.values():
        if entity.name not in read | asked:
            yield Remark(
                entity.name,
                "no pattern reads it",
                "add the question that it answers, or leave it out",
            )


RULE = Rule("KP310", Severity.WARNING, _find, __name__, __doc__)
