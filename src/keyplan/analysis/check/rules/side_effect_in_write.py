"""Side effect in the body of a write.

The body of a write runs before anything is written, and again for each attempt if a condition fails (``attempts=``). A
side effect in the body, such as sending an email, can happen several times, and happens even if the write fails. The
rule reports calls of libraries that use files, sockets, processes, threads or delays, in the body and in your functions
that the body calls. The cost of a write with side effects is unknown, because Keyplan doesn't run its body.

Run the side effect before the call and pass its result as an argument, or run it after the call.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        for what in written.code.outside:
            message = f"the body {what}: this happens on each attempt, even if the write fails"
            hint = "move this code before the call and pass its result as an argument, or move it after the call"
            yield Remark(written.pattern.place, message, hint)


RULE = Rule("KP312", Severity.WARNING, _find, __name__, __doc__)
