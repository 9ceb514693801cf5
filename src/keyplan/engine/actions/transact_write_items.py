"""TransactWriteItems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson

from keyplan.engine import prepare
from keyplan.engine.actions.common import collection_metrics
from keyplan.engine.database import Database
from keyplan.engine.items import decode
from keyplan.engine.keys import SchemaFault
from keyplan.engine.requests import Answer, Request, consumed_list, wants_capacity
from keyplan.engine.storage.port import Writer
from keyplan.engine.throttle import THROTTLED, cancellation_of
from keyplan.engine.writes import Charge, Outcome, Write, add_units, perform
from keyplan.expressions import ExpressionFault
from keyplan.values import ValueFault
from keyplan.wire.capacity import Consumed, read_units
from keyplan.wire.errors import (
    ConditionalCheckFailedException,
    IdempotentParameterMismatchException,
    ResourceNotFoundException,
    TransactionCanceledException,
    ValidationException,
)
from keyplan.wire.limits import TOKEN_LIFETIME_S, TRANSACT_BYTES_MAX

_PREPARE: dict[str, Callable[[Database, Request], Write]] = {
    "ConditionCheck": prepare.condition_check,
    "Put": prepare.put,
    "Delete": prepare.delete,
    "Update": lambda database, request: prepare.update(database, request)[0],
}
_NO_REASON = {"Code": "None"}

Reason = dict[str, Any]


class _Cancelled(Exception):
    def __init__(self, reasons: list[Reason]) -> None:
        super().__init__()
        self.reasons = reasons


def transact_write_items(database: Database, request: Request) -> Answer:
    """Do up to a hundred writes, all or none. With a ClientRequestToken a repetition writes nothing."""
    actions = [_one_action(action) for action in request["TransactItems"]]
    writes = _steps(database, actions)
    _check_together(writes)
    token: str | None = request.get("ClientRequestToken")
    digest = _digest(request) if token is not None else b""

    charge = None if database.meter is None else partial(database.meter.write, transactional=True)

    def work(writer: Writer) -> Answer:
        now_s = database.clock()
        since_s = now_s - TOKEN_LIFETIME_S
        if token is not None:
            kept = writer.token(token, since_s)
            if kept is not None:
                return _repeated(request, kept, digest)
        outcomes = _perform_all(writer, writes, charge)
        if token is not None:
            sizes = _sizes_by_table(writes, outcomes)
            writer.keep_token(token, digest, orjson.dumps(sizes), now_s, since_s)
        return _answer(request, writes, outcomes)

    try:
        return database.write(work)
    except _Cancelled as cancelled:
        raise TransactionCanceledException(cancelled.reasons) from None


def _steps(database: Database, actions: list[tuple[str, Request]]) -> list[Write]:
    """The writes of all actions. What is wrong with any of them is told before that a table isn't there.

    Raises:
        TransactionCanceledException: one of them doesn't fit its table.
    """
    steps: list[Write | Reason] = []
    missing: ResourceNotFoundException | None = None
    for kind, action in actions:
        try:
            steps.append(_step(database, kind, action))
        except ResourceNotFoundException as error:
            missing = missing or error
    if missing is not None:
        raise missing
    writes: list[Write] = []
    for number, step in enumerate(steps):
        if not isinstance(step, Write):
            # The service stops at the first, and does nothing of the others.
            rest = len(steps) - number - 1
            raise TransactionCanceledException([*[_NO_REASON] * number, step, *[_NO_REASON] * rest])
        writes.append(step)
    return writes


def _step(database: Database, kind: str, action: Request) -> Write | Reason:
    """The write of an action, or why it can't be: what doesn't fit the table cancels the transaction."""
    try:
        return _PREPARE[kind](database, action)
    except SchemaFault as fault:
        return {"Code": "ValidationError", "Message": fault.message}
    except (ExpressionFault, ValueFault):
        prepare.check_form(action)
        raise


def _check_together(writes: list[Write]) -> None:
    if len({(write.table.name, write.key) for write in writes}) < len(writes):
        raise ValidationException("Transaction request cannot include multiple operations on one item")
    size_bytes = sum(write.put.size for write in writes if write.put is not None)
    if size_bytes > TRANSACT_BYTES_MAX:
        raise ValidationException(f"Transaction payload size cannot exceed 4MB. Payload Size: {size_bytes}")


def _one_action(action: dict[str, Any]) -> tuple[str, Request]:
    given = [(kind, member) for kind, member in action.items() if kind in _PREPARE and member is not None]
    if len(given) != 1:
        raise ValidationException(
            "TransactItems can only contain one of Check, Put, Update or Delete"
            if given
            else "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    return given[0]


def _perform_all(writer: Writer, writes: list[Write], charge: Charge | None) -> list[Outcome]:
    """Perform the writes; when some can't be done, find the reason of each and undo all."""
    outcomes: list[Outcome] = []
    reasons: list[Reason] = []
    for write in writes:
        try:
            outcomes.append(perform(writer, write, charge))
            reasons.append(_NO_REASON)
        except ConditionalCheckFailedException as failed:
            reasons.append({"Code": "ConditionalCheckFailed", "Message": failed.message, **failed.fields})
        except THROTTLED as error:
            reasons.append(cancellation_of(error))
        except (ValidationException, ExpressionFault) as fault:
            reasons.append({"Code": "ValidationError", "Message": fault.message})
    if len(outcomes) < len(writes):
        raise _Cancelled(reasons)
    return outcomes


def _digest(request: Request) -> bytes:
    # The capacity and metrics that are asked for don't make another request of it.
    items = orjson.dumps(request["TransactItems"], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(items).digest()


def _sizes_by_table(writes: list[Write], outcomes: list[Outcome]) -> list[tuple[str, int]]:
    return [
        (write.table.name, max(outcome.old_size, outcome.new_size))
        for write, outcome in zip(writes, outcomes, strict=True)
    ]


def _repeated(request: Request, kept: tuple[bytes, bytes], digest: bytes) -> Answer:
    """The answer to a repetition: nothing was written, and what it read is what it costs."""
    if kept[0] != digest:
        raise IdempotentParameterMismatchException(
            "Request parameters do not match the previous request with the same idempotency token"
        )
    level = wants_capacity(request)
    if level is None:
        return {}
    units: dict[str, Consumed] = {}
    for name, size in decode(kept[1]):
        consumed = units.setdefault(name, Consumed(name, "Read"))
        consumed.table_units += read_units(size, transactional=True)
    return {"ConsumedCapacity": consumed_list(units, level, by_direction=True)}


def _answer(request: Request, writes: list[Write], outcomes: list[Outcome]) -> Answer:
    answer: Answer = {}
    level = wants_capacity(request)
    if level is not None:
        units: dict[str, Consumed] = {}
        for write, outcome in zip(writes, outcomes, strict=True):
            consumed = units.setdefault(write.table.name, Consumed(write.table.name, "Write"))
            add_units(consumed, write.table, outcome, transactional=True)
        answer["ConsumedCapacity"] = consumed_list(units, level, by_direction=True)
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics: dict[str, list[Answer]] = {}
        for write, outcome in zip(writes, outcomes, strict=True):
            item = outcome.new or outcome.old
            if write.table.has_local_indexes and item is not None:
                of_table = metrics.setdefault(write.table.name, [])
                metric = collection_metrics(write.table, item)
                if metric not in of_table:
                    of_table.append(metric)
        if metrics:
            answer["ItemCollectionMetrics"] = metrics
    return answer
