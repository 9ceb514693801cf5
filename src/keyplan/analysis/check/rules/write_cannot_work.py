"""Write that always fails.

Keyplan analyzes every branch of a write's code, and runs its body without a store, once with typical items as the
result of every read, and once with no items. The rule reports actions that fail for all arguments: an unknown field or
entity, a change of a primary key, an update by class that sets a field of an index key, a value of the wrong type, two
actions on one item, more than 100 actions, and the use of a result that a transaction doesn't return. An exception that
ends every dry run is also reported. Nested writes are checked as part of the outer write.

Correct the action that the finding describes.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        for fault in written.faults():
            yield Remark(written.pattern.place, fault.message, fault.hint or "correct the action", line=fault.line)


RULE = Rule("KP108", Severity.ERROR, _find, __name__, __doc__)
