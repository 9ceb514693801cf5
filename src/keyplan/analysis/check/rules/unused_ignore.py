"""Unused entry in ``ignore=``.

The finding no longer occurs, or its place has another name. The entry could hide a new finding of the same rule.

Remove the entry from ``ignore=``, or use the place in the finding.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for text in subject.design.ignore:
        if not any(subject.silences(text, code, place) for code, place in subject.found):
            yield Remark(
                f"{subject.design.name}.ignore",
                f"{text!r} matches no finding",
                "remove it, or use the code, or the code and the place, of the finding",
            )


RULE = Rule("KP901", Severity.WARNING, _find, __name__, __doc__)
