"""A write, or an action of it, can never work.

A write's body is part of the design: an action on a field that the entity doesn't have, a change of a primary key, an
update by class of what an index key is made of, an entity that the design doesn't know, two actions on one item, more
than 100 of them, what an action leaves where a transaction doesn't tell, values of a wrong type fail each time, and
only when it is called. Writes that it joins count as its own. Its code is read in every branch, and it is run without a
store: once where every read finds a typical item and once where none does. What the client refuses whatever the values
are is reported, and a mistake that ends every dry run.

Correct the action.
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
