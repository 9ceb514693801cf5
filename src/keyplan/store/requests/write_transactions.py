"""Write transactions, which are atomic, and idempotent if they have a ClientRequestToken."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson

from keyplan.dynamodb import service_errors
from keyplan.dynamodb.capacity import ConsumedByTable, read_units
from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.dynamodb.limits import TOKEN_LIFETIME_S, TRANSACT_BYTES_MAX
from keyplan.store.database import Database
from keyplan.store.items.item_writes import Charge, Outcome, add_units, perform
from keyplan.store.items.write_outcome import Write
from keyplan.store.requests.request_expressions import Answer, Request, consumed_capacity, wants_capacity
from keyplan.store.simulation import cancellation_of
from keyplan.store.storage.storage_transactions import Writer

Reason = dict[str, Any]
NO_REASON: Reason = {"Code": "None"}


class _Cancelled(Exception):
    def __init__(self, reasons: list[Reason]) -> None:
        super().__init__()
        self.reasons = reasons


def check_together(writes: Sequence[Write]) -> None:
    if len({(write.table.name, write.key) for write in writes}) < len(writes):
        raise service_errors.ValidationException("Transaction request cannot include multiple operations on one item")
    size_bytes = sum([write.put.size for write in writes if write.put is not None])
    if size_bytes > TRANSACT_BYTES_MAX:
        raise service_errors.ValidationException(
            f"Transaction payload size cannot exceed 4MB. Payload Size: {size_bytes}"
        )


def write_together(
    database: Database, request: Request, writes: Sequence[Write], actions: Any
) -> tuple[Answer, list[Outcome] | None]:
    """Execute writes atomically. Returns the consumed capacity for the response, and the outcomes; None if the request
    repeats a ClientRequestToken and its ``actions``, and writes nothing. Raises TransactionCanceledException.
    """
    token: str | None = request.get("ClientRequestToken")
    digest = b"" if token is None else hashlib.sha256(orjson.dumps(actions, option=orjson.OPT_SORT_KEYS)).digest()
    charge = None if database.meter is None else partial(database.meter.write, transactional=True)

    def work(writer: Writer) -> tuple[Answer, list[Outcome] | None]:
        now_s = database.clock()
        since_s = now_s - TOKEN_LIFETIME_S
        if token is not None:
            kept = writer.token(token, since_s)
            if kept is not None:
                return _repeated(request, kept, digest), None
        outcomes = _perform_all(writer, writes, charge)
        if token is not None:
            sizes = [
                (write.table.name, max(outcome.old_size, outcome.new_size))
                for write, outcome in zip(writes, outcomes, strict=True)
            ]
            writer.keep_token(token, digest, orjson.dumps(sizes), now_s, since_s)
        return _answer(request, writes, outcomes), outcomes

    try:
        return database.write(work)
    except _Cancelled as cancelled:
        raise service_errors.TransactionCanceledException(cancelled.reasons) from None


def _perform_all(writer: Writer, writes: Sequence[Write], charge: Charge | None) -> list[Outcome]:
    """Execute the writes; if any fails, find the reason of each and roll back."""
    outcomes: list[Outcome] = []
    reasons: list[Reason] = []

    for write in writes:
        try:
            outcomes.append(perform(writer, write, charge))
            reasons.append(NO_REASON)
        except service_errors.ConditionalCheckFailedException as failed:
            reasons.append({"Code": "ConditionalCheckFailed", "Message": failed.message, **failed.fields})
        except service_errors.DuplicateItemException as duplicate:
            reasons.append({"Code": "DuplicateItem", "Message": duplicate.message})
        except service_errors.THROTTLING as error:
            reasons.append(cancellation_of(error))
        except (service_errors.ValidationException, ExpressionFault) as fault:
            reasons.append({"Code": "ValidationError", "Message": fault.message})
    if len(outcomes) < len(writes):
        raise _Cancelled(reasons)
    return outcomes


def _repeated(request: Request, kept: tuple[bytes, bytes], digest: bytes) -> Answer:
    if kept[0] != digest:
        raise service_errors.IdempotentParameterMismatchException(
            "Request parameters do not match the previous request with the same idempotency token"
        )
    units = ConsumedByTable("Read")
    for name, size in orjson.loads(kept[1]):
        units[name].table_units += read_units(size, transactional=True)
    return consumed_capacity(request, units, by_direction=True)


def _answer(request: Request, writes: Sequence[Write], outcomes: Sequence[Outcome]) -> Answer:
    if wants_capacity(request) is None:
        return {}
    units = ConsumedByTable("Write")
    for write, outcome in zip(writes, outcomes, strict=True):
        add_units(units[write.table.name], write.table, outcome, transactional=True)
    return consumed_capacity(request, units, by_direction=True)
