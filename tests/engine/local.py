"""A small client of DynamoDB Local, and how its answers are brought into a comparable form."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import Any

# A local store that isn't shared keeps the tables of each access key apart: no process of the tests sees another's.
_AUTHORIZATION = (
    f"AWS4-HMAC-SHA256 Credential=local{os.getpid()}/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=00"
)


def call(url: str, operation: str, params: dict[str, Any]) -> dict[str, Any]:
    """The answer, or ``{"error": type, "message": ...}`` with the further members of the error."""
    request = urllib.request.Request(
        url,
        data=json.dumps(params).encode(),
        headers={
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Content-Type": "application/x-amz-json-1.0",
            "Authorization": _AUTHORIZATION,
        },
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return comparable(json.load(answer))
    except urllib.error.HTTPError as error:
        body = json.loads(error.read())
        type_ = body.pop("__type").split("#")[-1]
        message = body.pop("Message", None) or body.pop("message", "")
        return comparable({"error": type_, "message": message, **body})


def comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """``normal`` of a whole answer."""
    return {name: normal(member) for name, member in answer.items()}


def normal(answer: Any) -> Any:
    """The answer without what is arbitrary: the order within sets, and members that depend on the place."""
    if isinstance(answer, list):
        return [normal(member) for member in answer]
    if isinstance(answer, dict):
        return {
            name: sorted(member) if name in ("SS", "NS", "BS") and isinstance(member, list) else normal(member)
            for name, member in answer.items()
        }
    return answer


def clear(url: str) -> None:
    """Remove all tables."""
    for name in call(url, "ListTables", {})["TableNames"]:
        call(url, "UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
        call(url, "DeleteTable", {"TableName": name})
