"""The exceptions that Keyplan raises, each with a stable code, in one class hierarchy.

::

    KeyplanError
    ├── DesignError          an invalid design, raised when its class is defined
    ├── RequestError         an invalid call, raised before anything is sent
    │   ├── UnknownDesign, UnknownPattern, ArgumentError, CursorError, KeyFieldError, ItemTooLarge, UpdateRejected
    │   ├── TrafficError, PriceError
    ├── ResponseError        a response that doesn't fit the access pattern
    │   ├── ItemNotFound, InvalidItemError
    ├── WriteFailed          a condition failed; nothing was written
    │   ├── ItemExists, ConditionFailed, UniqueValueTaken, TransactionFailed
    ├── Refused              a write rejected by the design's own rules
    ├── AccessDenied         a request rejected by the application's policy
    │   ├── AuthenticationRequired, TooManyRequests
    ├── StoreError           the store can't be opened, read or written
    └── DynamoDBError        an error of DynamoDB's API, with its type and message

Each error says what is wrong (``message``), where (``place``: ``Blog.latest_posts``, ``items[3].title``) and what to do
(``hint``). Codes don't change when messages do. DynamoDB's own errors are in ``keyplan.dynamodb.service_errors``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

__all__ = [
    "AccessDenied",
    "ArgumentError",
    "AuthenticationRequired",
    "ConditionFailed",
    "CursorError",
    "DesignError",
    "DynamoDBError",
    "ErrorDetail",
    "InvalidItemError",
    "ItemExists",
    "ItemNotFound",
    "ItemTooLarge",
    "KeyFieldError",
    "KeyplanError",
    "PriceError",
    "Refused",
    "RequestError",
    "ResponseError",
    "StoreError",
    "TooManyRequests",
    "TrafficError",
    "TransactionFailed",
    "UniqueValueTaken",
    "UnknownDesign",
    "UnknownPattern",
    "UpdateRejected",
    "WriteFailed",
]


SHOWN_MAX = 60


def shown(value: object) -> str:
    """The ``repr`` of a value for a message, truncated; if ``repr`` fails, as for deep nesting, the value's type."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a repr may raise anything
        return f"a {type(value).__name__}"
    return text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 3]}..."


def is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error: a KeyboardInterrupt, or a SchemaError, because Pydantic's core turns every
    exception into a SchemaError while it builds a schema.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        if type(error).__name__ == "SchemaError" and KeyboardInterrupt.__name__ in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """One error in an input.

    ``place`` is a path such as ``Cms.articles_by_author`` or ``items[3].title``; ``hint`` says how to fix the error.
    """

    place: str
    message: str
    hint: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        return f"{text} ({self.hint})" if self.hint else text


class KeyplanError(Exception):
    """Base class of all Keyplan errors. ``code`` is stable; ``errors`` lists all errors of one input."""

    code: ClassVar[str] = "KeyplanError"

    def __init__(
        self, message: str, *, place: str | None = None, hint: str | None = None, errors: Iterable[ErrorDetail] = ()
    ) -> None:
        self.message = message
        self.place = place
        self.hint = hint
        self.errors: tuple[ErrorDetail, ...] = tuple(errors)
        super().__init__(message)

    def __str__(self) -> str:
        head = f"{self.place}: {self.message}" if self.place else self.message
        lines = [head, *(f"  - {fault}" for fault in self.errors)]
        if self.hint:
            lines.append(f"  → {self.hint}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The error as JSON data: ``code``, ``message``, and ``place``, ``hint`` and ``errors`` if present."""
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.place:
            body["place"] = self.place
        if self.hint:
            body["hint"] = self.hint
        if self.errors:
            body["errors"] = [
                {
                    key: value
                    for key, value in (
                        ("place", fault.place),
                        ("message", fault.message),
                        ("hint", fault.hint),
                        ("code", fault.code),
                    )
                    if value
                }
                for fault in self.errors
            ]
        return body


class DesignError(KeyplanError, TypeError):
    """An invalid design, with all errors. Raised when the design's class is defined."""

    code = "DesignError"


class RequestError(KeyplanError, ValueError):
    """An invalid call. Nothing was sent to the store."""

    code = "RequestError"


class UnknownDesign(RequestError, LookupError):
    """A design or system that can't be found or read."""

    code = "UnknownDesign"


class UnknownPattern(RequestError, LookupError):
    """The design has no access pattern with the given name."""

    code = "UnknownPattern"


class ArgumentError(RequestError):
    """Missing, unknown or invalid arguments of an access pattern; all of them are in ``errors``."""

    code = "ArgumentError"


class CursorError(RequestError):
    """A cursor that belongs to another access pattern or other arguments, or that was truncated or changed."""

    code = "CursorError"


class KeyFieldError(RequestError):
    """A value that is invalid in a key: empty, too long, or outside its format's range."""

    code = "KeyFieldError"


class ItemTooLarge(RequestError):
    """An item larger than DynamoDB's limit of 400 KB."""

    code = "ItemTooLarge"


class UpdateRejected(RequestError):
    """An update that would leave a wrong key, claim or index entry, or that doesn't fit a field's type."""

    code = "UpdateRejected"


class TrafficError(RequestError):
    """A traffic file that is unreadable or doesn't fit its design; all problems are in ``errors``."""

    code = "TrafficError"


class PriceError(RequestError):
    """A price list that is missing or unreadable; all problems are in ``errors``."""

    code = "PriceError"


class ResponseError(KeyplanError):
    """A response that doesn't fit the access pattern."""

    code = "ResponseError"


class ItemNotFound(ResponseError, LookupError):
    """No item was found, but the access pattern requires one."""

    code = "ItemNotFound"


class InvalidItemError(ResponseError):
    """An item whose attributes don't fit its entity, although its key does."""

    code = "InvalidItemError"


class WriteFailed(KeyplanError):
    """A condition of a write failed. Nothing was written."""

    code = "WriteFailed"


class ItemExists(WriteFailed):
    """The item to create already exists."""

    code = "ItemExists"


class ConditionFailed(WriteFailed):
    """An item doesn't meet the conditions of a write: ``only_if``, its version, or its existence."""

    code = "ConditionFailed"


class UniqueValueTaken(WriteFailed):
    """Another item has the same unique value."""

    code = "UniqueValueTaken"


class TransactionFailed(WriteFailed):
    """A transaction was canceled. ``errors`` describes each failed action; ``reasons`` has, for each operation, its
    exception or None.
    """

    code = "TransactionFailed"

    def __init__(self, message: str, *, reasons: Sequence[KeyplanError | None] = (), **more: Any) -> None:
        super().__init__(message, **more)
        self.reasons: tuple[KeyplanError | None, ...] = tuple(reasons)


class Refused(KeyplanError):
    """A write rejected by the design's own rules, such as an edit of an archived article; raised in the write."""

    code = "Refused"


class AccessDenied(KeyplanError, PermissionError):
    """The application's policy denies the request."""

    code = "AccessDenied"


class AuthenticationRequired(AccessDenied):
    """The caller must be signed in."""

    code = "AuthenticationRequired"


class TooManyRequests(AccessDenied):
    """The caller exceeded the rate limit. ``retry_after_s``: seconds to wait, if the policy sets them."""

    code = "TooManyRequests"
    retry_after_s: int | None = None


class StoreError(KeyplanError, OSError):
    """The store can't be opened, read or written, for example, because its file is missing, damaged, read-only, locked,
    not a Keyplan file, or on a full disk.
    """

    code = "StoreError"


class DynamoDBError(KeyplanError):
    """An error of DynamoDB's API. ``type`` is the error type; ``fields`` has the other members of the response."""

    code = "DynamoDBError"
    type: str = "InternalServerError"

    def __init__(
        self,
        message: str,
        *,
        type: str | None = None,  # noqa: A002 - the name in DynamoDB's API
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        if type is not None:
            self.type = type
        self.fields: dict[str, Any] = dict(fields or {})

    def __str__(self) -> str:
        text = f"{self.type}: {self.message}"
        return f"{text}\n  → {self.hint}" if self.hint else text
