"""Helpers for tests of the engine."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from tests.engine.local import comparable


class Clock:
    """A clock that changes only when a test sets it."""

    def __init__(self, now_s: float = 1_800_000_000.0) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s


def answer(engine: Engine, operation: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the engine's response in a comparable form: an error is ``{"error": type, "message": ...}``."""
    try:
        return comparable(engine.call(operation, params))
    except DynamoDBError as error:
        return comparable({"error": error.type, "message": error.message, **error.fields})


def s(value: str) -> dict[str, str]:
    return {"S": value}


def n(value: object) -> dict[str, str]:
    return {"N": str(value)}


def create(engine: Engine, name: str = "orders", **more: Any) -> dict[str, Any]:
    """Create a table with the key attributes ``pk`` and ``sk``, and with a global index ``ByG`` on ``g`` and ``h``."""
    return engine.call(
        "CreateTable",
        {
            "TableName": name,
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "AttributeDefinitions": [
                {"AttributeName": attribute, "AttributeType": "S"} for attribute in ("pk", "sk", "g", "h")
            ],
            "GlobalSecondaryIndexes": [index("ByG", "g", "h")],
            "BillingMode": "PAY_PER_REQUEST",
            **more,
        },
    )


def index(name: str, *names: str, projection: str = "ALL") -> dict[str, Any]:
    """Return an index definition. The first attribute is the partition key; the others are sort key attributes."""
    return {
        "IndexName": name,
        "KeySchema": [
            {"AttributeName": attribute, "KeyType": "RANGE" if number else "HASH"}
            for number, attribute in enumerate(names)
        ],
        "Projection": {"ProjectionType": projection},
    }


def put(engine: Engine, pk: str, sk: str, **attributes: dict[str, Any]) -> None:
    engine.call("PutItem", {"TableName": "orders", "Item": {"pk": s(pk), "sk": s(sk), **attributes}})


def get(engine: Engine, pk: str, sk: str) -> dict[str, Any] | None:
    answered = engine.call("GetItem", {"TableName": "orders", "Key": {"pk": s(pk), "sk": s(sk)}})
    return answered.get("Item")


def pages(engine: Engine, operation: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the items of all pages of a request."""
    items: list[dict[str, Any]] = []
    start = None
    while True:
        answered = engine.call(operation, {**params, "ExclusiveStartKey": start})
        items += answered["Items"]
        start = answered.get("LastEvaluatedKey")
        if start is None:
            return items


def binary(raw: bytes) -> dict[str, str]:
    return {"B": b64encode(raw).decode()}


def keyed(**types: str) -> dict[str, Any]:
    """Return the members of CreateTable for an on-demand table with these key attributes and no index."""
    definitions = [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]
    return {
        "KeySchema": index("", *types)["KeySchema"],
        "AttributeDefinitions": definitions,
        "GlobalSecondaryIndexes": None,
        "BillingMode": "PAY_PER_REQUEST",
    }


def add_index(engine: Engine, new: dict[str, Any], **types: str) -> None:
    """Add a global index to the table ``orders``."""
    definitions = [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]
    change = {"AttributeDefinitions": definitions, "GlobalSecondaryIndexUpdates": [{"Create": new}]}
    engine.call("UpdateTable", {"TableName": "orders", **change})
