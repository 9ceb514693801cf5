"""A silence without a reason.

Whoever reads the design next can't tell an accepted risk from an overlooked one. The reason is shown with
``--all``, and goes into JSON and SARIF.

Write the reason behind the code: ``ignore={"KP201 Message.primary": "some twenty a day"}``.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for text, reason in subject.design.ignore.items():
        if not reason.strip():
            yield Remark(f"{subject.design.name}.silence", f"{text!r} has no reason", "say why it is right so")


RULE = Rule("KP902", Severity.WARNING, _find, __name__, __doc__)
