"""Writes that belong together can be done by half.

A ``Batch`` is a run of single requests: when the process or the network fails in between, some items are written
and some are not, and no condition is asked. A post without its slug, a slug without its post. Reported are batches
of several entities, batches that remove an item and write another, and batches beside other actions of the same
write.

Yield the actions one by one: together they are one transaction of up to 100. Where what is left can be noticed and
fixed (a delete that is simply called again), silence it with that.

Source: BatchWriteItem and TransactWriteItems in the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.write_analysis.analysis import WriteAnalysis

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for written in subject.writes:
        batched = dict.fromkeys(_names(written, "Put", batched=True))
        beside = dict.fromkeys(name for name in _names(written, batched=False) if name not in batched)
        if _moves(written):
            yield Remark(
                written.pattern.place,
                f"its Batch removes {' and '.join(_names(written, 'Delete', batched=True))} and writes "
                f"{' and '.join(batched)}: it may do the one, and not the other",
                "yield the actions one by one, as one transaction",
            )
            continue
        if not batched or (len(batched) == 1 and not beside):
            continue
        what = f"{' and '.join(batched)} in a batch" + (f" after {' and '.join(beside)}" if beside else "")
        yield Remark(
            written.pattern.place,
            f"it writes {what}: some of them may be written, and the others not",
            "yield the actions one by one, as one transaction",
        )


def _moves(written: WriteAnalysis) -> bool:
    """Whether a Batch moves something: it removes, and writes."""
    batched = [action for action in written.actions if action.batched and not action.looped]
    return {action.kind for action in batched} >= {"Put", "Delete"}


def _names(written: WriteAnalysis, kind: str | None = None, *, batched: bool) -> list[str]:
    """The entities of a write's actions, where the code tells."""
    result = (action for action in written.actions if action.batched is batched and kind in {None, action.kind})
    return [action.entity.name for action in result if action.entity is not None]


RULE = Rule("KP307", Severity.WARNING, _find, __name__, __doc__)
