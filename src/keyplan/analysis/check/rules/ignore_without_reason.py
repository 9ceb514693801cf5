"""Entry without a reason in the ignore list.

Without a reason, a reader can't distinguish an accepted finding from an overlooked finding. ``keyplan check --all``
shows the reason, and JSON and SARIF reports contain it.

Add a reason, such as "about 20 messages a day", as the value of the entry in ``ignore=``.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for text, reason in subject.design.ignore.items():
        if not reason.strip():
            message = f"the entry {text!r} has no reason"
            hint = "add the reason why the finding is acceptable"
            yield Remark(f"{subject.design.name}.ignore", message, hint)


RULE = Rule("KP902", Severity.WARNING, _find, __name__, __doc__)
