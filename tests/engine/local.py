"""A client for DynamoDB Local, and functions that make responses comparable."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import Any

# DynamoDB Local without -sharedDb keeps the tables of each access key apart, so test processes don't interfere.
_AUTHORIZATION = (
    f"AWS4-HMAC-SHA256 Credential=local{os.getpid()}/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=00"
)


def call(url: str, operation: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the response. An error is returned as ``{"error": type, "message": ...}`` with its other members."""
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
    return {name: normal(member) for name, member in answer.items()}


def normal(answer: Any) -> Any:
    """Return the response with sorted sets, because the order of set members in responses is arbitrary."""
    if isinstance(answer, list):
        return [normal(member) for member in answer]
    if isinstance(answer, dict):
        return {
            name: sorted(member) if name in ("SS", "NS", "BS") and isinstance(member, list) else normal(member)
            for name, member in answer.items()
        }
    return answer


def clear(url: str) -> None:
    """Delete all tables."""
    for name in call(url, "ListTables", {})["TableNames"]:
        call(url, "UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
        call(url, "DeleteTable", {"TableName": name})
