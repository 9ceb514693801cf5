"""Parses query strings and JSON bodies of limited size."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from keyplan import errors
from keyplan.dynamodb.service_errors import THROTTLING_TYPES

BODY_BYTES_MAX = 2 * 1024 * 1024
FIELDS_MAX = 2000
"""Maximum number of ``name=value`` pairs in a query string."""


def query_pairs(request: Request) -> list[tuple[str, str]]:
    """Names and values of the query string, in order. Raises RequestError for invalid UTF-8, or for too many values."""
    raw: bytes = request.scope["query_string"]
    try:
        text = raw.decode("utf-8")
        return parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=FIELDS_MAX)
    except UnicodeDecodeError:
        raise errors.RequestError(
            "the query string isn't valid UTF-8", hint="percent-encode strings as UTF-8"
        ) from None
    except ValueError:
        raise errors.RequestError(
            f"the query string has more than {FIELDS_MAX} values", hint="send the values in several requests"
        ) from None


async def read_body(request: Request) -> bytes:
    """Read a request's body. Even an empty body requires a JSON content type, which other sites can't send. Raises
    HTTPException with status 413 (body too large), 415 (other content type) or 400 (client disconnected).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise HTTPException(415, f"the content type is {kind or 'missing'}; use application/json")
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > BODY_BYTES_MAX:
                raise HTTPException(413, f"the body is larger than {BODY_BYTES_MAX:,} bytes")
            parts.append(part)
    except ClientDisconnect:
        raise HTTPException(400, "the client disconnected before it sent the whole body") from None
    return b"".join(parts)


def object_of(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; an empty body is an empty object. Raises RequestError for any other body."""
    if not body.strip():
        return {}
    try:
        text = body.decode("utf-8")
        sent = json.loads(text, object_pairs_hook=_object, parse_float=_number, parse_constant=_number)
    except UnicodeDecodeError:
        raise errors.RequestError("the body isn't valid UTF-8", hint="send JSON in UTF-8") from None
    except json.JSONDecodeError as error:
        raise errors.RequestError(
            f"the body isn't valid JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}",
            hint="send the parameters as members of a JSON object",
        ) from None
    except RecursionError:
        raise errors.RequestError("the body is nested too deeply", hint="DynamoDB supports at most 32 levels") from None
    except ValueError as error:
        raise errors.RequestError(f"the body isn't valid JSON: {error}") from None
    if not isinstance(sent, dict):
        raise errors.RequestError(
            "the body must be a JSON object", hint='send the parameters as members: {"article_id": "1"}'
        )
    return sent


async def read_object(request: Request) -> dict[str, Any]:
    return object_of(await read_body(request))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        faults = [errors.ErrorDetail(name, "duplicate", "send it once") for name, count in counts.items() if count > 1]
        raise errors.RequestError("duplicate member in an object of the body", errors=faults)
    return result


def _number(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} isn't a finite number")
    return number


_STATUSES: tuple[tuple[type[errors.KeyplanError], int], ...] = (
    (errors.UnknownPattern, 404),
    (errors.ItemNotFound, 404),
    (errors.ItemTooLarge, 413),
    (errors.RequestError, 400),
    (errors.WriteFailed, 409),
    (errors.Refused, 409),
    (errors.AuthenticationRequired, 401),
    (errors.TooManyRequests, 429),
    (errors.AccessDenied, 403),
    (errors.StoreError, 503),
)
_DYNAMODB_STATUSES = {
    "ConditionalCheckFailedException": 409,
    "TransactionCanceledException": 409,
    "TransactionConflictException": 409,
    "TransactionInProgressException": 409,
    "ItemCollectionSizeLimitExceededException": 409,
    "ValidationException": 400,
    "SerializationException": 400,
    "InternalServerError": 503,
    "LimitExceededException": 503,
    "ResourceInUseException": 503,
    "ResourceNotFoundException": 503,
    "ServiceUnavailable": 503,
    **dict.fromkeys(THROTTLING_TYPES, 503),
}


def status_of(error: errors.KeyplanError) -> int:
    """The HTTP status: 4xx for an error of the caller, 503 for an unavailable store, 500 for invalid stored data."""
    if isinstance(error, errors.DynamoDBError):
        return _DYNAMODB_STATUSES.get(error.type, 500)
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
