"""Transaction with too many actions.

A TransactWriteItems request can have at most 100 actions and 4 MB of items. DynamoDB rejects a larger transaction as a
whole. The number of items per call comes from ``items=`` of the write, or from the traffic file. If neither sets the
number, actions in a loop over an unbounded collection are reported as a warning.

Limit the collection (``Field(max_length=...)``), or write the items that needn't be atomic in a ``Batch``.

See TransactWriteItems in the API Reference.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number
from keyplan.analysis.write_analysis.analysis import WriteAnalysis
from keyplan.dynamodb.limits import TRANSACT_ACTIONS_MAX, TRANSACT_BYTES_MAX


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        load = subject.load(written.pattern)
        if load.items is None:
            yield from _unbounded(written)
        if load.items is None or (written.known and all(action.batched for action in written.actions)):
            continue
        hint = "limit the number of actions per call, or use a Batch for items that don't have to be atomic"
        if load.items > TRANSACT_ACTIONS_MAX:
            message = f"one call writes {number(load.items)} items; the limit per transaction is {TRANSACT_ACTIONS_MAX}"
            arithmetic = (f"{number(load.items)} items > {TRANSACT_ACTIONS_MAX} actions",)
            yield Remark(written.pattern.place, message, hint, arithmetic)
        elif load.item_bytes is not None and load.items * load.item_bytes > TRANSACT_BYTES_MAX:
            size = load.items * load.item_bytes
            message = f"one call writes {number(size)} bytes; the limit per transaction is {TRANSACT_BYTES_MAX:,}"
            arithmetic = (f"{number(load.items)} items × {load.item_bytes:,} bytes = {number(size)} bytes",)
            yield Remark(written.pattern.place, message, hint, arithmetic)


def _unbounded(written: WriteAnalysis) -> Remarks:
    sources = (action.unbounded for action in written.actions if not action.batched)
    for source in dict.fromkeys(filter(None, sources)):
        message = f"the write yields an action for each element of {source}, which can have any number of elements"
        hint = "limit the argument (Field(max_length=...)) or the read (limit=), or set items= to a small number"
        arithmetic = (f"limit of a transaction: {TRANSACT_ACTIONS_MAX} actions",)
        yield Remark(written.pattern.place, message, hint, arithmetic, Severity.WARNING)


RULE = Rule("KP106", Severity.ERROR, _find, __name__, __doc__)
