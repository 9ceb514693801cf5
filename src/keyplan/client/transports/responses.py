"""What a reply means: DynamoDB's answer, DynamoDB's error, or something that no DynamoDB sends.

A call that went wrong is a Failure: which error it is, and whether sending it again may help. Whether it is sent again
is decided in ``retries.py``.
"""

from __future__ import annotations

import inspect
import re
import zlib
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

import orjson

from keyplan.client.transports.http1 import BODY_BYTES_MAX, Reply
from keyplan.dynamodb import service_errors as wire_errors
from keyplan.dynamodb.values.numbers import NumberError, canonical
from keyplan.errors import DynamoDBError, KeyplanError, StoreError

__all__ = ["Failure", "Kind", "answer_of", "date_of"]


class Kind(Enum):
    """What may be done about a failure."""

    FINAL = "final"
    """Nothing: the same request would fail again."""
    TRANSIENT = "transient"
    """Try again soon."""
    THROTTLED = "throttled"
    """Try again, after a longer pause."""
    CLOCK = "clock"
    """Sign it with the store's time."""
    EXPIRED = "expired"
    """Sign it with new credentials."""


class Failure(Exception):
    """One attempt that failed. ``lost``: it isn't known whether the store carried out the request."""

    def __init__(self, error: KeyplanError, kind: Kind = Kind.FINAL, *, lost: bool = False) -> None:
        super().__init__(str(error))
        self.error = error
        self.kind = kind
        self.lost = lost
        self.date: float | None = None
        """What the store's clock showed, in epoch seconds."""


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
"""Transient errors after which nothing was written, for certain."""
_CLOCK = frozenset({"InvalidSignatureException", "RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch"})
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException"})
_HINTS = {
    "AccessDeniedException": "the credentials are good, and aren't allowed to do this: see to the policies",
    "ExpiredTokenException": "sign in again (aws sso login), or renew the session's credentials",
    "IncompleteSignatureException": "see that the access key and its secret are whole",
    "InvalidSignatureException": "see that the secret belongs to the access key, and that region and clock are right",
    "MissingAuthenticationTokenException": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile",
    "ResourceNotFoundException": "see that the table is there, and that region, account and endpoint are right",
    "UnrecognizedClientException": "the access key isn't known there: see that key, token and region are right",
}
_CLASSES: dict[str, type[DynamoDBError]] = {
    var.type: var
    for var in vars(wire_errors).values()
    if inspect.isclass(var) and issubclass(var, DynamoDBError) and var.__name__ == var.type
}
_TEXT_MAX = 200
_MEMBER_TYPES: dict[str, type] = {"Attributes": dict, "Item": dict, "Items": list, "LastEvaluatedKey": dict}
"""Members that the client reads, whose JSON type is the same in the response of every operation."""

_NUMBER = rb'"-?[0-9]{1,126}(?:\.[0-9]{1,130})?"'
_UNUSUAL_NUMBER = re.compile(rb'"NS?"\s*:\s*(?!%s|\[(?:%s,?)+\])|\\u' % (_NUMBER, _NUMBER))
"""A number, or a set of numbers, that isn't written as DynamoDB does; or an escape, which may hide one."""


def answer_of(reply: Reply) -> dict[str, Any]:
    """DynamoDB's answer. Raises Failure."""
    body = reply.body
    headers = reply.headers
    sum_told = headers.get(b"x-amz-crc32")
    if sum_told is not None and sum_told != b"%d" % zlib.crc32(body):
        raise Failure(_garbled("its checksum is wrong"), Kind.TRANSIENT, lost=True)
    if headers.get(b"content-encoding", b"identity") != b"identity":
        body = _unzip(headers[b"content-encoding"], body)
    if reply.status != 200:
        raise _failure(reply, body)
    try:
        answer = _parsed(body)
    except NumberError as error:
        raise Failure(_garbled(f"an N is no number: {str(error)[:_TEXT_MAX]}"), Kind.TRANSIENT, lost=True) from None
    except orjson.JSONDecodeError:
        raise Failure(_garbled(f"it isn't JSON: {_shown(body)}"), Kind.TRANSIENT, lost=True) from None
    if answer.__class__ is not dict:
        raise Failure(_garbled(f"it is no object: {_shown(body)}"), Kind.TRANSIENT, lost=True)
    for name, expected in _MEMBER_TYPES.items():
        if name in answer and answer[name].__class__ is not expected:
            text = f"{name} is {type(answer[name]).__name__}, expected {expected.__name__}: {_shown(body)}"
            raise Failure(_garbled(text), Kind.TRANSIENT, lost=True)
    return answer


def _parsed(body: bytes) -> Any:
    """The JSON of a body. What reads numbers later would take seconds or gigabytes for the digits of 1e999999999, so
    each must be one that DynamoDB can store.

    Raises:
        JSONDecodeError: it isn't JSON.
        NumberError: a number isn't one of DynamoDB's.
    """
    parsed = orjson.loads(body)
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


def _unzip(encoding: bytes, body: bytes) -> bytes:
    if encoding != b"gzip":
        raise Failure(_garbled(f"its encoding is {_shown(encoding)}"))
    unzip = zlib.decompressobj(wbits=31)
    try:
        plain = unzip.decompress(body, BODY_BYTES_MAX)
    except zlib.error:
        raise Failure(_garbled("its compression is broken"), Kind.TRANSIENT, lost=True) from None
    if not unzip.eof:
        raise Failure(_garbled("its compression is cut short, or too good"), Kind.TRANSIENT, lost=True)
    return plain


def _failure(reply: Reply, body: bytes) -> Failure:
    """The failure of a reply that isn't 200."""
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
    """Something between here and DynamoDB answered, or something that isn't DynamoDB."""
    text = f"it answers {reply.status} without an error of DynamoDB's: {_shown(body)}"
    if reply.status >= 500 or reply.status in {408, 429}:
        kind = Kind.THROTTLED if reply.status in {429, 503} else Kind.TRANSIENT
        return Failure(StoreError(text, hint="a proxy or the store is down; retry later"), kind, lost=True)
    return Failure(StoreError(text, hint="check that the URL is that of DynamoDB or of a compatible store"))


def _garbled(why: str) -> StoreError:
    return StoreError(
        f"invalid response: {why}", hint="check that the URL is that of DynamoDB, and any proxy in between"
    )


def _shown(body: bytes) -> str:
    return repr(body[:_TEXT_MAX].decode("utf-8", "replace")) if body else "nothing"


def date_of(reply: Reply) -> float | None:
    """What the store's clock showed, in epoch seconds."""
    try:
        return parsedate_to_datetime(reply.headers[b"date"].decode()).timestamp()
    except (KeyError, ValueError, TypeError, UnicodeDecodeError):
        return None
