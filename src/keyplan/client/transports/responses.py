"""Classifies responses as results, errors of DynamoDB, or invalid responses. A failed attempt is a Failure;
``retries`` determines whether to retry.
"""

from __future__ import annotations

import inspect
import re
import zlib
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any, TypeVar

import orjson

from keyplan.client.conversations import equal_attributes
from keyplan.client.transports.http1 import BODY_BYTES_MAX, Reply
from keyplan.dynamodb import service_errors as wire_errors
from keyplan.dynamodb.values.numbers import NumberError, canonical
from keyplan.errors import DynamoDBError, KeyplanError, StoreError

T = TypeVar("T")


class Kind(Enum):
    """The kind of a failure, which determines whether to retry."""

    FINAL = "final"
    """Don't retry: a retry would fail too."""
    TRANSIENT = "transient"
    """Retry soon."""
    THROTTLED = "throttled"
    """Retry after a longer pause."""
    CLOCK = "clock"
    """Retry, signed with the store's time."""
    EXPIRED = "expired"
    """Retry, signed with new credentials."""


class Failure(Exception):
    """One failed attempt. ``lost``: the outcome is unknown, because the store may have executed the request."""

    def __init__(self, error: KeyplanError, kind: Kind = Kind.FINAL, *, lost: bool = False) -> None:
        super().__init__(str(error))
        self.error = error
        self.kind = kind
        self.lost = lost
        self.date: float | None = None
        """The store's time, in epoch seconds."""


_THROTTLED = wire_errors.THROTTLING_TYPES | frozenset(
    {
        "LimitExceededException",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
_TRANSIENT = frozenset(
    {
        "InternalServerError",
        "PriorRequestNotComplete",
        "ReplicatedWriteConflictException",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "TransactionConflictException",
    }
)
_REFUSED = frozenset({"ReplicatedWriteConflictException", "TransactionConflictException"})
"""Transient errors, after which the store has written nothing."""
_CLOCK = frozenset({"InvalidSignatureException", "RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch"})
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException"})
_HINTS = {
    "AccessDeniedException": "the credentials are valid, but lack this permission: check the policies",
    "ExpiredTokenException": "sign in again (aws sso login), or refresh the session's credentials",
    "IncompleteSignatureException": "check that the access key and its secret are complete",
    "InvalidSignatureException": "check that the secret belongs to the access key, and check the region and the clock",
    "MissingAuthenticationTokenException": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile",
    "ResourceNotFoundException": "check that the table exists, and check the region, account and endpoint",
    "UnrecognizedClientException": "the access key is unknown to the endpoint: check the key, token and region",
}
_CLASSES: dict[str, type[DynamoDBError]] = {
    var.type: var
    for var in vars(wire_errors).values()
    if inspect.isclass(var) and issubclass(var, DynamoDBError) and var.__name__ == var.type
}
_TEXT_MAX = 200
_OPERATIONS = {
    "Item": {"GetItem"},
    "Items": {"Query", "Scan", "ExecuteStatement"},
    "Responses": {"BatchGetItem", "TransactGetItems", "BatchExecuteStatement", "ExecuteTransaction"},
}
"""Members that are only in responses of these operations."""
_REQUIRED = {"Query": "Items", "Scan": "Items", "BatchGetItem": "Responses"}
_TYPES: dict[str, type] = {"S": str, "N": str, "B": str, "BOOL": bool, "NULL": bool, "M": dict} | dict.fromkeys(
    ("SS", "NS", "BS", "L"), list
)
_BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")

_NUMBER = rb'"-?[0-9]{1,126}(?:\.[0-9]{1,130})?"'
_UNUSUAL_NUMBER = re.compile(rb'"NS?"\s*:\s*(?!%s|\[(?:%s,?)+\])|\\u' % (_NUMBER, _NUMBER))
"""Finds a number or number set not in DynamoDB's notation, or an escape sequence, which could hide such a number."""


def answer_of(reply: Reply) -> dict[str, Any]:
    """The result in a response. Raises Failure for an error or an invalid response."""
    body = reply.body
    headers = reply.headers
    sum_told = headers.get(b"x-amz-crc32")
    if sum_told is not None and sum_told != b"%d" % zlib.crc32(body):
        raise Failure(_garbled("the checksum doesn't match"), Kind.TRANSIENT, lost=True)
    if headers.get(b"content-encoding", b"identity") != b"identity":
        body = _unzip(headers[b"content-encoding"], body)
    if reply.status != 200:
        raise _failure(reply, body)
    try:
        answer = _parsed(body)
    except NumberError as error:
        raise Failure(_garbled(f"a Number is invalid: {str(error)[:_TEXT_MAX]}"), Kind.TRANSIENT, lost=True) from None
    except orjson.JSONDecodeError:
        raise Failure(_garbled(f"it isn't JSON: {_shown(body)}"), Kind.TRANSIENT, lost=True) from None
    except _MalformedError as error:
        raise Failure(_garbled(f"{error}: {_shown(body)}"), Kind.TRANSIENT, lost=True) from None
    return answer  # type: ignore[no-any-return]


def check_answer(operation: str, parameters: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Check that a response belongs to its request, because a proxy may mix up connections. Raises Failure."""
    fault = _foreign_part(operation, parameters, answer)
    if fault is not None:
        raise Failure(_garbled(f"the body isn't the response to this {operation}: {fault}"), Kind.TRANSIENT, lost=True)


def _foreign_part(operation: str, parameters: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """The part of a response that belongs to another request."""
    for name, operations in _OPERATIONS.items():
        if name in answer and operation not in operations:
            return f"the response has the member {name}"
    required = _REQUIRED.get(operation)
    if required is not None and required not in answer and "Select" not in parameters:
        return f"{required} is missing"
    if operation == "GetItem" and not _agrees(answer.get("Item", {}), parameters["Key"]):
        return "the item doesn't have the requested key"
    if operation in {"Query", "Scan"}:
        if answer.get("LastEvaluatedKey", ()) == parameters.get("ExclusiveStartKey"):
            return "LastEvaluatedKey equals the ExclusiveStartKey of the request"
        equal = equal_attributes(parameters)
        if not all(_agrees(item, equal) for item in answer.get("Items", ())):
            return "an item doesn't match the key condition"
    if operation == "BatchGetItem":
        return _foreign_in_batch(parameters["RequestItems"], answer)
    return None


def _foreign_in_batch(requested: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    if answer["Responses"].__class__ is not dict:
        return "Responses isn't a map"
    unprocessed = {table: rest.get("Keys", ()) for table, rest in answer.get("UnprocessedKeys", {}).items()}
    for found in (answer["Responses"], unprocessed):
        for table, items in found.items():
            keys = requested.get(table, {}).get("Keys", ())
            known = {_identity(key, key) for key in keys}
            if any(_identity(item, keys[0]) not in known for item in items) if keys else items:
                return "the response has an item that wasn't requested"
            if len(items) > len(keys):
                return "the response has more items than requested"
    return None


def _identity(item: Mapping[str, Any], key: Mapping[str, Any]) -> bytes:
    return orjson.dumps({name: item.get(name) for name in key}, option=orjson.OPT_SORT_KEYS)


def _agrees(item: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether an item has these values, except those that a projection omits."""
    for name, value in wanted.items():  # noqa: SIM110 -- a loop is faster than all()
        if item.get(name, value) != value:
            return False
    return True


def _parsed(body: bytes) -> Any:
    """Parse a body. Each number must be one that DynamoDB can store: the digits of 1e999999999 would take seconds or
    gigabytes later. Raises JSONDecodeError, NumberError, and _MalformedError for a malformed member.
    """
    parsed = orjson.loads(body)
    _check_items([item for name, value in _typed(parsed, dict, "the body").items() for item in _items_of(name, value)])
    values = [parsed] if _UNUSUAL_NUMBER.search(body) else []
    while values:
        value = values.pop()
        if isinstance(value, list):
            values += value
        elif isinstance(value, dict):
            values += value.values()
            number, numbers = value.get("N"), value.get("NS")
            for text in [number, *(numbers if isinstance(numbers, list) else [])]:
                if isinstance(text, str):
                    canonical(text)
    return parsed


class _MalformedError(ValueError):
    """A member of a response is malformed."""


def _typed(value: Any, expected: type[T], name: str) -> T:
    if value.__class__ is not expected:
        raise _MalformedError(f"{name} is {type(value).__name__}, expected {expected.__name__}")
    return value


def _items_of(name: str, value: Any) -> list[Any]:
    match name:
        case "Item" | "Attributes" | "LastEvaluatedKey":
            return [value]
        case "Items":
            return _typed(value, list, name)
        case "Responses" if value.__class__ is dict:
            return [item for items in value.values() for item in _typed(items, list, name)]
        case "Responses" | "CancellationReasons":
            reasons = [_typed(each, dict, name) for each in _typed(value, list, name)]
            for code in (each.get("Code") or "None" for each in reasons):
                _typed(code, str, "Code")
            return [each["Item"] for each in reasons if each.get("Item") is not None]
        case "UnprocessedKeys":
            keys = [_typed(each, dict, name).get("Keys") for each in _typed(value, dict, name).values()]
            return [key for each in keys for key in _typed(each, list, name)]
        case "UnprocessedItems":
            for requests in _typed(value, dict, name).values():
                _typed(requests, list, name)
        case _:
            pass
    return []


def _check_items(pending: list[Any]) -> None:
    """Raise _MalformedError unless each element is an item, with one known type per attribute value."""
    types: dict[str, Any] = _TYPES
    content: Any
    while pending:
        item = pending.pop()
        for name, value in _typed(item, dict, "an item").items():
            if value.__class__ is not dict or len(value) != 1:
                raise _MalformedError(f"the value of {name} isn't an attribute value")
            ((kind, content),) = value.items()
            if content.__class__ is not types.get(kind):
                raise _MalformedError(f"the value of {name} isn't an attribute value")
            if content.__class__ is dict:
                pending.append(content)
            elif kind == "L":
                pending.append(dict(enumerate(content)))
            elif content.__class__ is list or kind == "B":
                for text in content if kind != "B" else [content]:
                    if text.__class__ is not str or (kind[0] == "B" and not _BASE64.fullmatch(text)):
                        raise _MalformedError(f"{name} has a value that isn't of type {kind[0]}")


def _unzip(encoding: bytes, body: bytes) -> bytes:
    if encoding != b"gzip":
        raise Failure(_garbled(f"the Content-Encoding {_shown(encoding)} isn't supported"))
    unzip = zlib.decompressobj(wbits=31)
    try:
        plain = unzip.decompress(body, BODY_BYTES_MAX)
    except zlib.error:
        raise Failure(_garbled("the gzip data is corrupt"), Kind.TRANSIENT, lost=True) from None
    if not unzip.eof:
        raise Failure(_garbled("the gzip data is truncated or too large"), Kind.TRANSIENT, lost=True)
    return plain


def _failure(reply: Reply, body: bytes) -> Failure:
    try:
        members = _parsed(body)
        kind = str(members.pop("__type")).rpartition("#")[2].partition(":")[0]
    except (ValueError, AttributeError, KeyError, TypeError):
        return _foreign(reply, body)
    message = members.pop("message", None) or members.pop("Message", None) or ""
    error = _CLASSES.get(kind, DynamoDBError)
    made = error.__new__(error)
    DynamoDBError.__init__(made, str(message), type=kind, fields=members)
    made.hint = _HINTS.get(kind)
    failure = Failure(made, _kind(kind, reply.status, members))
    failure.lost = failure.kind is Kind.TRANSIENT and kind not in _REFUSED
    failure.date = date_of(reply)
    return failure


def _kind(error: str, status: int, fields: dict[str, Any]) -> Kind:
    if error in _THROTTLED or status == 429:
        return Kind.THROTTLED
    if error == "TransactionCanceledException":
        reasons = fields.get("CancellationReasons")
        known = [reason for reason in reasons if isinstance(reason, dict)] if isinstance(reasons, list) else []
        codes = {str(reason.get("Code", "None")) for reason in known} - {"None"}
        throttled = bool(codes) and codes <= wire_errors.THROTTLING_CODES
        return Kind.THROTTLED if throttled else Kind.FINAL
    if error in _TRANSIENT or status >= 500:
        return Kind.TRANSIENT
    if error in _CLOCK:
        return Kind.CLOCK
    return Kind.EXPIRED if error in _EXPIRED else Kind.FINAL


def _foreign(reply: Reply, body: bytes) -> Failure:
    """The failure for a response from a proxy, or from a server that isn't DynamoDB."""
    text = f"status {reply.status} without a DynamoDB error: {_shown(body)}"
    if reply.status >= 500 or reply.status in {408, 429}:
        kind = Kind.THROTTLED if reply.status in {429, 503} else Kind.TRANSIENT
        return Failure(StoreError(text, hint="a proxy or the store is down; retry later"), kind, lost=True)
    return Failure(StoreError(text, hint="check that the URL is an endpoint of DynamoDB or a compatible store"))


def _garbled(why: str) -> StoreError:
    return StoreError(
        f"invalid response: {why}", hint="check that the URL is a DynamoDB endpoint, and check any proxy in between"
    )


def _shown(body: bytes) -> str:
    return repr(body[:_TEXT_MAX].decode("utf-8", "replace")) if body else "nothing"


def date_of(reply: Reply) -> float | None:
    """The time in a response's Date header, in epoch seconds; None without a valid header."""
    try:
        return parsedate_to_datetime(reply.headers[b"date"].decode()).timestamp()
    except (KeyError, ValueError, TypeError, UnicodeDecodeError):
        return None
