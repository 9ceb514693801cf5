"""UpdateItem: update attributes of an item, or create the item if it is missing."""

from __future__ import annotations

from typing import Any

from keyplan.dynamodb.expressions import BoundUpdate
from keyplan.store.database import Database
from keyplan.store.items.item_writes import Outcome, perform
from keyplan.store.operations.common import write_answer
from keyplan.store.requests import write_preparation as prepare
from keyplan.store.requests.request_expressions import Answer, Request


def update_item(database: Database, request: Request) -> Answer:
    write, bound = prepare.update(database, request, counts_statement=True)
    outcome = database.write(lambda writer: perform(writer, write, database.charge))
    return write_answer(request, write.table, outcome, _returned(request.get("ReturnValues"), outcome, bound))


def _returned(wanted: str | None, outcome: Outcome, bound: BoundUpdate | None) -> dict[str, Any] | None:
    if wanted == "ALL_OLD":
        return outcome.old
    if wanted == "ALL_NEW":
        return outcome.new
    if bound is None:
        return None
    if wanted == "UPDATED_OLD":
        return bound.touched(outcome.old)
    if wanted == "UPDATED_NEW":
        return bound.touched(outcome.new)
    return None
