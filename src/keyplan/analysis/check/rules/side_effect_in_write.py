"""A write's body reaches the world outside.

A body says what is to be written; it is run again when its conditions don't hold (``attempts=``), and before anything
is written. A mail that it sends, a file that it writes, a pause that it makes is then done twice, or for a write that
never happens. Reported are calls in its code, and in your functions that it calls, of what is known to use files,
sockets, processes, threads or pauses. Such a body isn't run by commands that analyze writes: its costs are unknown.

Do it before the call, and hand the result on as an argument; or after it, by what the call gives back.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for account in subject.writes:
        for what in account.code.outside:
            yield Remark(
                account.pattern.place,
                f"its body {what}: each attempt does that, also one that writes nothing",
                "do it before the call, and give the result as an argument, or after it",
            )


RULE = Rule("KP312", Severity.WARNING, _find, __name__, __doc__)
