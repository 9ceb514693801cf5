"""Batch for writes that must be atomic.

A ``Batch`` is a series of independent requests without conditions. If the process or the network fails, some items are
written and others aren't, for example a post without its slug. The rule reports batches of several entities, batches
that delete one item and put another, and writes that yield a batch and other actions.

Yield the actions without ``Batch``, as one transaction of at most 100 actions. Ignore the finding if your code detects
and repairs partial writes.

See BatchWriteItem and TransactWriteItems in the API Reference.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.write_analysis.analysis import WriteAnalysis


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        batched = dict.fromkeys(_names(written, "Put", batched=True))
        beside = dict.fromkeys(name for name in _names(written, batched=False) if name not in batched)
        kinds = {action.kind for action in written.actions if action.batched and not action.looped}
        if kinds >= {"Put", "Delete"}:  # the batch moves an item to another key
            deleted = " and ".join(_names(written, "Delete", batched=True))
            moved = f"the Batch deletes {deleted} and puts {' and '.join(batched)}: either action can fail alone"
            yield Remark(written.pattern.place, moved, "yield the actions without Batch, as one transaction")
            continue
        if not batched or (len(batched) == 1 and not beside):
            continue
        what = f"{' and '.join(batched)} in a batch" + (f" after {' and '.join(beside)}" if beside else "")
        message = f"the write puts {what}: some actions can succeed and others fail"
        hint = "yield the actions without Batch, as one transaction"
        yield Remark(written.pattern.place, message, hint)


def _names(written: WriteAnalysis, kind: str | None = None, *, batched: bool) -> list[str]:
    """Return the entities of a write's actions, if they can be determined from the code."""
    result = (action for action in written.actions if action.batched is batched and kind in {None, action.kind})
    return [action.entity.name for action in result if action.entity is not None]


RULE = Rule("KP307", Severity.WARNING, _find, __name__, __doc__)
