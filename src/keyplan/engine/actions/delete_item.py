"""DeleteItem."""

from __future__ import annotations

from keyplan.engine import prepare
from keyplan.engine.actions.common import write_answer
from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.engine.writes import perform


def delete_item(database: Database, request: Request) -> Answer:
    """Remove an item; removing one that isn't there is no error."""
    write = prepare.delete(database, request)
    outcome = database.write_judged(lambda writer: perform(writer, write, database.charge, beforehand=True))
    return write_answer(request, write.table, outcome, outcome.old if write.wants_old else None)
