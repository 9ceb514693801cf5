"""DeleteItem."""

from __future__ import annotations

from keyplan.engine import prepare
from keyplan.engine.actions.common import old_or_none, write_answer
from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.engine.writes import perform


def delete_item(database: Database, request: Request) -> Answer:
    """Remove an item; removing one that isn't there is no error."""
    returns_old = old_or_none(request)
    table = database.table(request["TableName"])
    write = prepare.delete(table, request, wants_old=returns_old)
    outcome = database.write(lambda writer: perform(writer, write))
    return write_answer(request, table, outcome, outcome.old if returns_old else None)
