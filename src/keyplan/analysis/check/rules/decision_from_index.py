"""Write decision based on an index read.

A global secondary index is eventually consistent. A write that reads an index to check whether an email address is
available can miss an item that another write has just created. A value that is computed from an index read, or a branch
that depends on an index read, can also be based on stale data.

Read by primary key or by a ``Unique`` claim, which are strongly consistent within a write, or add a condition.

See "DynamoDB read consistency" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.write_analysis.analysis import WriteAnalysis
from keyplan.analysis.write_analysis.code import Ask
from keyplan.model.compiled.plans import QueryPlan, plans_in


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        for ask in written.asks:
            index = _global_index(subject, ask)
            entity = subject.design.reads[ask.name].shape.entities[0].__name__ if index else ""
            decided = [each for each in written.code.decided.get(ask.name, ()) if not each.conditional]
            if index is not None and any(action.kind in {"Put", "Update"} for action in decided):
                message = f"the actions depend on {ask.name}, an eventually consistent read of {index}"
                hint = "read by the primary key, or keep a counter in an item and check it with only_if"
                yield Remark(written.pattern.place, message, hint)
            elif index is not None and _relies(written, entity):
                yield Remark(
                    written.pattern.place,
                    f"the write of {entity} is based on {ask.name}, an eventually consistent read of {index}",
                    "read by the primary key or a Unique claim, or use a condition (Create, only_if)",
                )


def _global_index(subject: Subject, ask: Ask) -> str | None:
    pattern = subject.design.reads.get(ask.name)
    plans = () if pattern is None else plans_in(pattern.plan)
    indexes = (plan.index for plan in plans if isinstance(plan, QueryPlan))
    return next((index.name for index in indexes if index is not None and not index.local), None)


def _relies(written: WriteAnalysis, entity: str) -> bool:
    """Whether the write creates an item of the entity, or changes one to a value computed from a read."""
    return any(
        action.entity is not None and action.entity.name == entity
        and (action.kind in {"Put", "Create"} or (bool(action.from_read) and not action.conditional))
        for action in written.actions
    )  # fmt: skip


RULE = Rule("KP311", Severity.WARNING, _find, __name__, __doc__)
