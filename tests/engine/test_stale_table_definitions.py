"""If an outdated table definition would reject a request, the request is validated with the current definition."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import create, get, index, n, put, s

TABLE = {"TableName": "orders"}
CREATE_NEW = {"AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}]}
QUERY = {**TABLE, "IndexName": "New", "KeyConditionExpression": "x = :x", "ExpressionAttributeValues": {":x": s("y")}}
ITEM = {"pk": s("b"), "sk": s("1"), "g": n(1)}
PUT = {**TABLE, "Item": ITEM}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "query of a new index": ("Query", QUERY),
    "put of a former index key": ("PutItem", PUT),
    "put in a transaction": ("TransactWriteItems", {"TransactItems": [{"Put": PUT}]}),
}


@pytest.mark.parametrize("name", CALLS)
def test_request_rejected_by_an_outdated_table_definition_is_validated_again(path: str, name: str) -> None:
    operation, params = CALLS[name]
    with Engine.open(path) as engine, Engine.open(path) as other:
        create(engine)
        put(engine, "a", "1", g=s("x"), h=s("h"), x=s("y"))
        assert engine.call("Scan", {**TABLE, "IndexName": "ByG"})["Count"] == 1
        for change in ({"Delete": {"IndexName": "ByG"}}, {"Create": index("New", "x")}):
            other.call("UpdateTable", {**TABLE, **CREATE_NEW, "GlobalSecondaryIndexUpdates": [change]})
        result = engine.call(operation, params)
        if operation == "Query":
            assert result["Count"] == 1
        else:
            assert get(engine, "b", "1") == ITEM
