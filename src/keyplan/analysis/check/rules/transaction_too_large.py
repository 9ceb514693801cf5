"""A write has more actions than a transaction takes.

TransactWriteItems takes 100 actions, and 4 MB in all. A write that makes more is refused as a whole, when it is
called with that much. It is judged by ``items=`` of the write, or of the traffic file: how many items one call
writes; without it a warning says where a loop goes through a list of any length.

Bound what one call can make, or write the part that need not be all-or-nothing as a ``Batch``.

Source: TransactWriteItems in the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.cost.cost_wording import number
from keyplan.analysis.write_analysis.analysis import WriteAnalysis
from keyplan.dynamodb.limits import TRANSACT_ACTIONS_MAX, TRANSACT_BYTES_MAX

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for written in subject.writes:
        load = subject.load(written.pattern)
        if load.items is None:
            yield from _unbounded(written)
        if load.items is None or (written.known and all(action.batched for action in written.actions)):
            continue
        hint = "bound what one call can make, or put what need not be all-or-nothing into a Batch"
        if load.items > TRANSACT_ACTIONS_MAX:
            yield Remark(
                written.pattern.place,
                f"one call writes {number(load.items)} items, and a transaction takes {TRANSACT_ACTIONS_MAX}",
                hint,
                (f"{number(load.items)} items > {TRANSACT_ACTIONS_MAX} actions",),
            )
        elif load.item_bytes is not None and load.items * load.item_bytes > TRANSACT_BYTES_MAX:
            size = load.items * load.item_bytes
            yield Remark(
                written.pattern.place,
                f"one call writes {number(size)} bytes, and a transaction takes {TRANSACT_BYTES_MAX:,}",
                hint,
                (f"{number(load.items)} items × {load.item_bytes:,} bytes = {number(size)} bytes",),
            )


def _unbounded(written: WriteAnalysis) -> Iterator[Remark]:
    """Actions for each of any number of things."""
    sources = dict.fromkeys(
        action.unbounded for action in written.actions if action.unbounded is not None and not action.batched
    )
    for source in sources:
        yield Remark(
            written.pattern.place,
            f"it makes an action for each of {source}, and nothing bounds how many these are",
            "bound the argument (Field(max_length=...)), give the read a limit, or say items= where few are known",
            (f"a transaction takes {TRANSACT_ACTIONS_MAX} actions",),
            Severity.WARNING,
        )


RULE = Rule("KP106", Severity.ERROR, _find, __name__, __doc__)
