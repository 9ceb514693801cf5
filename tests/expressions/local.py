"""A client for DynamoDB Local that records and compares responses, if KEYPLAN_DYNAMODB_LOCAL is set."""

from __future__ import annotations

import http.client
import json
import os
from typing import Any
from urllib.parse import urlsplit

from tests.expressions.cases import ITEM, Case

TABLE = f"keyplan-expressions-{os.getpid()}"
KEY = {"pk": ITEM["pk"], "sk": ITEM["sk"]}
_AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
)


def address() -> str | None:
    """The address of DynamoDB Local, or None if KEYPLAN_DYNAMODB_LOCAL isn't set."""
    return os.environ.get("KEYPLAN_DYNAMODB_LOCAL")


class Local:
    """A connection to DynamoDB Local, and a table that contains the item of the cases."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc)
        self.call(
            "CreateTable",
            {
                "TableName": TABLE,
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": "N"},
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        self.reset()

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        headers = {
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Content-Type": "application/x-amz-json-1.0",
            "Authorization": _AUTHORIZATION,
        }
        self._connection.request("POST", "/", json.dumps(request), headers)
        answer: dict[str, Any] = json.loads(self._connection.getresponse().read())
        return answer

    def close(self) -> None:
        self._connection.close()

    def reset(self, item: dict[str, Any] = ITEM) -> None:
        self.call("PutItem", {"TableName": TABLE, "Item": item})

    def answer(self, kind: str, case: Case) -> Any:
        """The error, whether the item matches a condition, the projected item, or the updated item."""
        request: dict[str, Any] = {"TableName": TABLE, kind: case["text"]}
        if case["names"] is not None:
            request["ExpressionAttributeNames"] = case["names"]
        if case["values"] is not None:
            request["ExpressionAttributeValues"] = case["values"]
        if kind == "FilterExpression":
            answer = self.call("Scan", request)
        elif kind == "KeyConditionExpression":
            answer = self.call("Query", request)
        elif kind == "ProjectionExpression":
            answer = self.call("GetItem", {**request, "Key": KEY})
        else:
            answer = self.call("UpdateItem", {**request, "Key": KEY, "ReturnValues": "ALL_NEW"})
            if "Attributes" in answer:
                self.reset()
        return _short(answer)


def _short(answer: dict[str, Any]) -> Any:
    message = answer.get("message") or answer.get("Message")
    if message is not None:
        return {"error": message}
    if "Count" in answer:
        return answer["Count"] == 1
    return answer.get("Item", answer.get("Attributes"))
