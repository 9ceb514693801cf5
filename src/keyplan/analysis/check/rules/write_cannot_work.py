"""A write, or an action of it, can never work.

A write's body is part of the design: an action on a field that the entity doesn't have, a change of a primary key, an
update by class of what an index key is made of, an entity that the design doesn't know, two actions on one item, more
than 100 of them, what an action leaves where a transaction doesn't tell, values of a wrong type fail each time, and
only when somebody calls it. Writes that it joins count as its own. Its code is read, and it is run with typical
arguments against typical items, up to 100 times until a call goes through, without a store; what the client refuses
in all of them is reported. It doesn't reach the world outside meanwhile: files, sockets, processes, pauses are refused.

Correct the action. Where made-up arguments can't get through, give those of a typical call in the traffic file.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for account in subject.writes:
        for fault in account.faults():
            yield Remark(account.pattern.place, fault.message, fault.hint or "correct the action", line=fault.line)


RULE = Rule("KP108", Severity.ERROR, _find, __name__, __doc__)
