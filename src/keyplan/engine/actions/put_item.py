"""PutItem."""

from __future__ import annotations

from keyplan.engine import prepare
from keyplan.engine.actions.common import write_answer
from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.engine.writes import perform


def put_item(database: Database, request: Request) -> Answer:
    """Write a whole item."""
    write = prepare.put(database, request)
    outcome = database.write_judged(lambda writer: perform(writer, write, database.charge, beforehand=True))
    return write_answer(request, write.table, outcome, outcome.old if write.wants_old else None)
