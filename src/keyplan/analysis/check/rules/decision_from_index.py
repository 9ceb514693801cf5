"""A write decides by what an index said.

A global index follows the table after a moment, and can't be read consistently. A write that looks there whether an
email is taken, and then creates the user, finds nothing while another does the same; one that computes a new value
from what the index gave, computes it from an old one; one that takes the first of a waitlist, and frees the place where
nobody waits, frees it while somebody has just been added.

Ask by the primary key or by a ``Unique`` claim, which are read consistently within a write; or let a condition
decide.

Source: "Read consistency" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, plans_in
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.write_analysis.analysis import WriteAnalysis
from keyplan.analysis.write_analysis.code import Ask
from keyplan.model.compiled.plans import QueryPlan

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for written in subject.writes:
        for ask in written.asks:
            index = _global_index(subject, ask)
            entity = subject.design.reads[ask.name].shape.entities[0].__name__ if index else ""
            if index is not None and _decides(written, ask.name):
                yield Remark(
                    written.pattern.place,
                    f"it decides by {ask.name}, which {index} answers eventually, what it writes",
                    "ask by the table's key, or keep a count in an item, and expect it by only_if",
                )
            elif index is not None and _relies(written, entity):
                yield Remark(
                    written.pattern.place,
                    f"it asks {ask.name}, which {index} answers eventually, and writes {entity} by what it finds",
                    "ask by the primary key or a Unique claim, or let a condition decide (Create, only_if)",
                )


def _global_index(subject: Subject, ask: Ask) -> str | None:
    pattern = subject.design.reads.get(ask.name)
    plans = () if pattern is None else plans_in(pattern.plan)
    return next(
        (plan.index.name for plan in plans if isinstance(plan, QueryPlan) and plan.index and not plan.index.local), None
    )


def _decides(written: WriteAnalysis, read: str) -> bool:
    """Whether the read's result decides between actions of which one expects nothing."""
    actions = written.code.decided.get(read, ())
    return any(action.kind in {"Put", "Update"} and not action.conditional for action in actions)


def _relies(written: WriteAnalysis, entity: str) -> bool:
    """Whether the write makes such an item, or computes a change of one, by what it read."""
    return any(
        action.entity is not None and action.entity.name == entity
        and (action.kind in {"Put", "Create"} or (bool(action.from_read) and not action.conditional))
        for action in written.actions
    )  # fmt: skip


RULE = Rule("KP311", Severity.WARNING, _find, __name__, __doc__)
