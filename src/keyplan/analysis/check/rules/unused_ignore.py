"""Unused entry in the ignore list.

The ignored finding no longer occurs, or its place has been renamed. An unused entry can hide a new finding.

Remove the entry from ``ignore=``, or change it to the code and place of the finding.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for text in subject.design.ignore:
        if not any(subject.silences(text, code, place) for code, place in subject.found):
            message = f"the entry {text!r} matches no finding"
            hint = "remove the entry, or use the code of the finding, with or without its place"
            yield Remark(f"{subject.design.name}.ignore", message, hint)


RULE = Rule("KP901", Severity.WARNING, _find, __name__, __doc__)
