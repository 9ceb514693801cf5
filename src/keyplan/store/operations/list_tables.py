"""ListTables: the sorted names of the tables."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request

NAMES_MAX = 100


def list_tables(database: Database, request: Request) -> Answer:
    start = request.get("ExclusiveStartTableName") or ""
    limit = request.get("Limit") or NAMES_MAX
    database.refresh()
    names = [table.name for table in database.known_tables() if table.name > start]
    answer: Answer = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer
