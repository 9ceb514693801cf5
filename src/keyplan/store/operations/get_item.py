"""GetItem: read one item by key, in one SQL statement."""

from __future__ import annotations

from keyplan.dynamodb.capacity import Consumed, read_units
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.requests.request_expressions import Answer, Request, check_needed, only_projection, wants_capacity
from keyplan.store.tables.item_keys import check_key_values, check_scalars, key_of_request
from keyplan.store.work_budget import spend

_PROJECTING = frozenset({"ProjectionExpression", "ExpressionAttributeNames", "AttributesToGet"})


def get_item(database: Database, request: Request) -> Answer:
    # Most requests have only a table name and a key.
    plain = len(request) == 2
    projection = None
    if not plain and not request.keys().isdisjoint(_PROJECTING):
        check_needed(request, (), "ProjectionExpression")
        check_key_values(request["Key"])
        projection = only_projection(request)
    table = database.table(request["TableName"], request["Key"])
    key = key_of_request(table, request["Key"])
    if projection is not None:
        check_scalars(table, projection.nested)
    row = table.stored.get(*key)
    answer: Answer = {}
    if row is not None:
        if projection is None:
            answer["Item"] = database.show(row[1])
        else:
            spend(len(row[1]))
            answer["Item"] = projection.project(decode(row[1]))
    level = None if plain else wants_capacity(request)
    if level is None and database.meter is None:
        return answer
    consumed = Consumed(table.name, "Read")
    size = 0 if row is None else row[0]
    consumed.table_units = read_units(size, consistent=bool(request.get("ConsistentRead")))
    if database.meter is not None:
        database.meter.read(table, None, key[:1], consumed.table_units)
    if level is not None:
        answer["ConsumedCapacity"] = consumed.as_json(level)
    return answer
