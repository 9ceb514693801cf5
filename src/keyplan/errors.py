"""The errors of Keyplan: one tree, and each error has a stable code.

::

    KeyplanError
    ├── DesignError          a design that can't work, told when its class is made
    ├── RequestError         a call that can't be made: told before anything is sent
    │   ├── UnknownDesign, UnknownPattern, ArgumentError, CursorError, KeyFieldError, ItemTooLarge, UpdateRejected
    │   ├── TrafficError, PriceError
    ├── ResponseError          what came back isn't what the pattern promises
    │   ├── ItemNotFound, InvalidItemError
    ├── WriteFailed          a condition of a write didn't hold; nothing was written
    │   ├── ItemExists, ConditionFailed, UniqueValueTaken, TransactionFailed
    ├── Refused               a write that the design's own rules don't allow
    ├── AccessDenied         a caller who may not do that
    │   ├── AuthenticationRequired, TooManyRequests
    ├── StoreError           the store can't be opened, read or written
    └── DynamoDBError        an error of DynamoDB's API, with its type and its message

Every error says what went wrong (``message``), where (``place``: ``Blog.latest_posts``, ``items[3].title``), and what
to do (``hint``). The code is a promise: it stays when the words change. DynamoDB's own errors by type live in
``keyplan.dynamodb.service_errors``; no error is made anywhere else.
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
    """A value as a message shows it: its ``repr``, cut short; what has none (nested too deep, say) by its type."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a repr is anybody's code
        return f"a {type(value).__name__}"
    return text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 3]}..."


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error comes of Ctrl-C: a KeyboardInterrupt, or what was made of one on its way. Pydantic's core makes
    a SchemaError of whatever ends the building of a schema.
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
    """One thing that is wrong with an input, with the place of it.

    ``place`` is a path such as ``Cms.articles_by_author`` or ``items[3].title``; ``hint`` says what to do about it.
    """

    place: str
    message: str
    hint: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        return f"{text} ({self.hint})" if self.hint else text


class KeyplanError(Exception):
    """The base of all errors of Keyplan. ``code`` is stable; ``errors`` holds every fault of one input."""

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
        """The error as JSON data: ``code``, ``message``, and ``place``, ``hint`` and ``errors`` where there are any."""
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
    """A design that can't work. Raised when its class is made, with every fault found."""

    code = "DesignError"


class RequestError(KeyplanError, ValueError):
    """A call that can't be made. Nothing was sent."""

    code = "RequestError"


class UnknownDesign(RequestError, LookupError):
    """No design of that name."""

    code = "UnknownDesign"


class UnknownPattern(RequestError, LookupError):
    """The design has no access pattern of that name."""

    code = "UnknownPattern"


class ArgumentError(RequestError):
    """Missing, extra or wrong arguments of a pattern; all of them are in ``errors``."""

    code = "ArgumentError"


class CursorError(RequestError):
    """A cursor that isn't of this pattern and these arguments, or that was cut short or changed."""

    code = "CursorError"


class KeyFieldError(RequestError):
    """A value that can't stand in a key: empty, too long, out of its format's range."""

    code = "KeyFieldError"


class ItemTooLarge(RequestError):
    """An item over DynamoDB's 400 KB."""

    code = "ItemTooLarge"


class UpdateRejected(RequestError):
    """An update that would leave a key, a claim or an index entry wrong, or that breaks a field's type."""

    code = "UpdateRejected"


class TrafficError(RequestError):
    """A traffic file that can't be read, or that doesn't fit its design; all that is wrong is in ``errors``."""

    code = "TrafficError"


class PriceError(RequestError):
    """A price list that there is none of, or that can't be read; all that is wrong with it is in ``errors``."""

    code = "PriceError"


class ResponseError(KeyplanError):
    """What came back from the store isn't what the pattern promises."""

    code = "ResponseError"


class ItemNotFound(ResponseError, LookupError):
    """There is no such item, and the pattern promises one."""

    code = "ItemNotFound"


class InvalidItemError(ResponseError):
    """An item whose key fits the entity, but whose attributes don't."""

    code = "InvalidItemError"


class WriteFailed(KeyplanError):
    """A condition of a write didn't hold. Nothing was written."""

    code = "WriteFailed"


class ItemExists(WriteFailed):
    """An item to be created is there already."""

    code = "ItemExists"


class ConditionFailed(WriteFailed):
    """An item isn't as the write expects it: ``only_if`` didn't hold, its version moved on, or it is missing."""

    code = "ConditionFailed"


class UniqueValueTaken(WriteFailed):
    """A unique value belongs to another item."""

    code = "UniqueValueTaken"


class TransactionFailed(WriteFailed):
    """A transaction was cancelled. ``errors`` says per action why; ``reasons`` are the errors of the actions."""

    code = "TransactionFailed"

    def __init__(self, message: str, *, reasons: Sequence[KeyplanError | None] = (), **more: Any) -> None:
        super().__init__(message, **more)
        self.reasons: tuple[KeyplanError | None, ...] = tuple(reasons)


class Refused(KeyplanError):
    """A write that the design's own rules don't allow, raised by the write itself: an archived article isn't edited."""

    code = "Refused"


class AccessDenied(KeyplanError, PermissionError):
    """The caller may not do that, says the application's policy."""

    code = "AccessDenied"


class AuthenticationRequired(AccessDenied):
    """Only a caller who is known may do that."""

    code = "AuthenticationRequired"


class TooManyRequests(AccessDenied):
    """The caller did that too often of late. A policy may say how many seconds to wait: ``retry_after_s``."""

    code = "TooManyRequests"
    retry_after_s: int | None = None


class StoreError(KeyplanError, OSError):
    """The store can't be opened, read or written: no such file, a foreign or corrupt one, read-only, full, locked."""

    code = "StoreError"


class DynamoDBError(KeyplanError):
    """An error of DynamoDB's API. ``type`` is its type; ``fields`` holds further members of the error's body."""

    code = "DynamoDBError"
    type: str = "InternalServerError"

    def __init__(
        self,
        message: str,
        *,
        type: str | None = None,  # noqa: A002 - the API's own word
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        if type is not None:
            self.type = type
        self.fields: dict[str, Any] = dict(fields or {})

    def __str__(self) -> str:
        text = f"{self.type}: {self.message}"
        return f"{text}\n  → {self.hint}" if self.hint else text
