"""Side effect in the body of a write.

The body runs before anything is written, and again for each attempt if a condition fails (``attempts=``). Its side
effect, such as sending an email, then happens several times, or happens although the write fails. The rule reports
calls of libraries that use files, sockets, processes, threads or pauses, in the body and in your functions that it
calls. Commands that analyze writes don't run such a body, so its costs are unknown.

Move the side effect before the call and pass its result as an argument, or move it after the call.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        for what in written.code.outside:
            message = f"its body {what}: this happens on each attempt, even if the write fails"
            hint = "do it before the call and pass the result as an argument, or after the call"
            yield Remark(written.pattern.place, message, hint)


RULE = Rule("KP312", Severity.WARNING, _find, __name__, __doc__)
