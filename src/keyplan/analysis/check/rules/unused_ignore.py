"""A silence that silences nothing.

The finding is gone, or its place has another name now. A silence that stays behind would hide the next finding of
its kind.

Take it out of ``silence``, or name the place as the finding does.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for text in subject.design.ignore:
        if not any(subject.silences(text, code, place) for code, place in subject.found):
            yield Remark(
                f"{subject.design.name}.silence",
                f"{text!r} silences nothing",
                "take it out, or write it as the finding has it: its code, or its code and its place",
            )


RULE = Rule("KP901", Severity.WARNING, _find, __name__, __doc__)
