"""DeleteItem. Deleting a missing item isn't an error."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.items.item_writes import perform
from keyplan.store.operations.common import write_answer
from keyplan.store.requests import write_preparation as prepare
from keyplan.store.requests.request_expressions import Answer, Request


def delete_item(database: Database, request: Request) -> Answer:
    write = prepare.delete(database, request)
    outcome = database.write(lambda writer: perform(writer, write, database.charge))
    return write_answer(request, write.table, outcome, outcome.old if write.wants_old else None)
