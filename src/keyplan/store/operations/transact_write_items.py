"""TransactWriteItems: execute up to 100 writes atomically. A request with a ClientRequestToken is idempotent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyplan.dynamodb import service_errors
from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.dynamodb.values import ValueFault, key_value
from keyplan.store.database import Database
from keyplan.store.items.item_writes import Outcome
from keyplan.store.items.write_outcome import Write
from keyplan.store.operations.common import collection_metrics
from keyplan.store.requests import write_preparation as prepare
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.requests.write_transactions import NO_REASON, Reason, check_together, write_together
from keyplan.store.tables.item_keys import SchemaFault

_PREPARE: dict[str, Callable[[Database, Request], Write]] = {
    "ConditionCheck": prepare.condition_check,
    "Put": prepare.put,
    "Delete": prepare.delete,
    "Update": lambda database, request: prepare.update(database, request)[0],
}


def transact_write_items(database: Database, request: Request) -> Answer:
    actions = [_one_action(action) for action in request["TransactItems"]]
    writes = _steps(database, actions)
    check_together(writes)
    answer, outcomes = write_together(database, request, writes, request["TransactItems"])
    if outcomes is not None and request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = _metrics(writes, outcomes)
        if metrics:
            answer["ItemCollectionMetrics"] = metrics
    return answer


def _steps(database: Database, actions: list[tuple[str, Request]]) -> list[Write]:
    """The writes of all actions. Raises TransactionCanceledException for one that doesn't match its schema."""
    steps: list[Write | Reason] = []
    missing: service_errors.ResourceNotFoundException | None = None
    for kind, action in actions:
        try:
            steps.append(_step(database, kind, action))
        except service_errors.ResourceNotFoundException as error:
            missing = missing or error
    if missing is not None:
        raise missing
    writes: list[Write] = []
    for number, step in enumerate(steps):
        if not isinstance(step, Write):
            # The service stops at the first invalid action and doesn't check later actions.
            rest = len(steps) - number - 1
            raise service_errors.TransactionCanceledException([*[NO_REASON] * number, step, *[NO_REASON] * rest])
        writes.append(step)
    return writes


def _step(database: Database, kind: str, action: Request) -> Write | Reason:
    try:
        return _PREPARE[kind](database, action)
    except service_errors.RequestFault:
        rest = prepare.without_idle(action)
        if rest is action:
            raise
        return _step(database, kind, rest)
    except SchemaFault as fault:
        return {"Code": "ValidationError", "Message": fault.message}
    except (ExpressionFault, ValueFault):
        prepare.check_form(action)
        raise


def _one_action(action: dict[str, Any]) -> tuple[str, Request]:
    given = [(kind, member) for kind, member in action.items() if kind in _PREPARE and member is not None]
    if len(given) != 1:
        raise service_errors.ValidationException(
            "TransactItems can only contain one of Check, Put, Update or Delete"
            if given
            else "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    return given[0]


def _metrics(writes: list[Write], outcomes: list[Outcome]) -> dict[str, list[Answer]]:
    metrics: dict[str, list[Answer]] = {}
    for write, outcome in zip(writes, outcomes, strict=True):
        partition = write.table.partition
        if write.table.has_local_indexes and (outcome.new or outcome.old) is not None:
            of_table = metrics.setdefault(write.table.name, [])
            metric = collection_metrics(write.table, {partition.name: key_value(write.key[0], partition.type)})
            if metric not in of_table:
                of_table.append(metric)
    return metrics
