"""What the form of a table as this engine knew it refuses is judged again by the form that another one gave it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine

TABLE = "things"


def index(name: str, attribute: str) -> dict[str, Any]:
    schema = [{"AttributeName": attribute, "KeyType": "HASH"}]
    return {"IndexName": name, "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}


def attributes(**types: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "store.db")
    with Engine.open(path) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": TABLE,
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": attributes(pk="S", g="S"),
                "GlobalSecondaryIndexes": [index("Old", "g")],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        engine.call("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "a"}, "g": {"S": "x"}, "h": {"S": "y"}}})
    return path


def changed(path: str) -> None:
    """Another engine exchanges the table's index."""
    with Engine.open(path) as other:
        other.call(
            "UpdateTable", {"TableName": TABLE, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "Old"}}]}
        )
        other.call(
            "UpdateTable",
            {
                "TableName": TABLE,
                "AttributeDefinitions": attributes(h="S"),
                "GlobalSecondaryIndexUpdates": [{"Create": index("New", "h")}],
            },
        )


QUERY = {
    "TableName": TABLE,
    "IndexName": "New",
    "KeyConditionExpression": "h = :h",
    "ExpressionAttributeValues": {":h": {"S": "y"}},
}
ITEM = {"pk": {"S": "b"}, "g": {"N": "1"}}
PUT = {"TableName": TABLE, "Item": ITEM}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "an index that is new": ("Query", QUERY),
    "a key that is one no more": ("PutItem", PUT),
    "and in a transaction": ("TransactWriteItems", {"TransactItems": [{"Put": PUT}]}),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_an_old_form_refuses_is_judged_by_the_new_one(path: str, name: str) -> None:
    operation, params = CALLS[name]
    with Engine.open(path) as engine:
        assert engine.call("Scan", {"TableName": TABLE, "IndexName": "Old"})["Count"] == 1
        changed(path)
        answer = engine.call(operation, params)
        if operation == "Query":
            assert answer["Count"] == 1
        else:
            assert engine.call("GetItem", {"TableName": TABLE, "Key": {"pk": ITEM["pk"]}})["Item"] == ITEM
