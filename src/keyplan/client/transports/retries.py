"""Retries, as AWS's SDKs make them in their standard mode, and when none may be made.

At most four attempts; before each a random pause (full jitter) of up to 25 ms that doubles, a second where the store
throttles; and a quota that all calls share, so that a store in trouble isn't flooded with retries. Source: "Retry
behavior" in the AWS SDKs and tools reference guide; the numbers for DynamoDB are those of botocore 1.44.

Where we depart from them: an answer that was lost isn't followed by a second try of a write that isn't the same when
it is made twice (an Add, an Append), and a condition that fails after an answer was lost isn't taken for the truth,
since the first try may have made it so. Both are a StoreError that says so. An update with a token (``Update.once``)
is sent again: the item itself says whether it was carried out.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Mapping
from typing import Any

from keyplan.client.transports.responses import Failure, Kind
from keyplan.errors import KeyplanError, StoreError

__all__ = ["Attempts", "Quota", "repeatable"]

QUOTA = 500
COST = 14
COST_THROTTLED = 5
PAUSE_SECONDS = 0.025
PAUSE_SECONDS_THROTTLED = 1.0
PAUSE_SECONDS_MAX = 20.0

_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_CONDITIONAL = frozenset({"PutItem", "UpdateItem", "DeleteItem"})
_CUMULATES = re.compile(r"[-+]|\blist_append\b", re.IGNORECASE)
_ADDS = re.compile(r"\bADD\b", re.IGNORECASE)
_NOT_YET = re.compile(r"(?:^|\bAND )NOT contains\((#\w+), (:\w+)\)$")


class Quota:
    """What all calls of a store may spend on retries. A retry that helped gets its price back."""

    def __init__(self, size: int = QUOTA) -> None:
        self._size = size
        self._left = size
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """What can be spent now."""
        return self._left

    def take(self, cost: int) -> bool:
        """Spend it, if there is enough."""
        with self._lock:
            if self._left < cost:
                return False
            self._left -= cost
            return True

    def give(self, amount: int = 1) -> None:
        """Give back; 1 is what each call gives that needed no retry."""
        if self._left >= self._size:  # almost always: no lock then
            return
        with self._lock:
            self._left = min(self._size, self._left + amount)


def repeatable(operation: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a request can be carried out twice with the effect of once."""
    if operation == "TransactWriteItems":
        return "ClientRequestToken" in parameters
    if operation in {"PutItem", "UpdateItem"} and parameters.get("ReturnValues") == "ALL_OLD":
        return False  # a second try would meet what the first one left
    if _has_token(parameters):
        return True
    text = parameters.get("UpdateExpression", "")
    if _CUMULATES.search(text):
        return False
    numbers = any("N" in value for value in parameters.get("ExpressionAttributeValues", {}).values())
    return not (numbers and _ADDS.search(text))  # adding to a set twice is adding once


def _has_token(parameters: Mapping[str, Any]) -> bool:
    """Whether an update puts a token into its item, and expects that it isn't there yet: as ``Update.once`` does."""
    condition: str = parameters.get("ConditionExpression", "")
    match = _NOT_YET.search(condition)
    if match is None or re.search(r"\bOR\b", _outside(condition)):
        return False
    names, given = parameters.get("ExpressionAttributeNames", {}), parameters.get("ExpressionAttributeValues", {})
    token = given.get(match[2], {}).get("S")
    own = {placeholder for placeholder, name in names.items() if name == names.get(match[1])}
    added = re.findall(r"(#\w+) (:\w+)", parameters.get("UpdateExpression", "").partition("ADD ")[2])
    return any(name in own and token in given.get(value, {}).get("SS", ()) for name, value in added)


def _outside(condition: str) -> str:
    """A condition without what stands in parentheses."""
    inner = re.compile(r"\([^()]*\)")
    while inner.search(condition):
        condition = inner.sub("", condition)
    return condition


class Attempts:
    """The attempts of one call, counted from the first failure on."""

    __slots__ = ("_cost", "_deadline", "_healed", "_max", "_operation", "_parameters", "_quota", "count", "lost")

    def __init__(
        self, operation: str, parameters: Mapping[str, Any], quota: Quota, attempts_max: int, deadline: float
    ) -> None:
        self._operation = operation
        self._parameters = parameters
        self._quota = quota
        self._max = attempts_max
        self._deadline = deadline
        self._cost = 1
        self._healed: set[Kind] = set()
        self.count = 1
        self.lost = False

    def after(self, failure: Failure) -> float:
        """How long to wait before the next attempt. Raises the call's error where there is none."""
        if failure.lost and not repeatable(self._operation, self._parameters):
            raise self._unknown(failure.error) from failure.error
        kind = failure.kind
        if kind in {Kind.CLOCK, Kind.EXPIRED}:
            if kind in self._healed:
                raise self._last(failure.error)
            self._healed.add(kind)
            return 0.0
        if kind is Kind.FINAL or self.count >= self._max:
            raise self._last(failure.error, lost=failure.lost)
        throttled = kind is Kind.THROTTLED
        base = PAUSE_SECONDS_THROTTLED if throttled else PAUSE_SECONDS
        pause: float = random.random() * min(PAUSE_SECONDS_MAX, base * 2 ** (self.count - 1))  # noqa: S311 - jitter
        cost = COST_THROTTLED if throttled else COST
        if time.monotonic() + pause >= self._deadline or not self._quota.take(cost):
            raise self._last(failure.error, lost=failure.lost)
        self._cost = cost
        self.count += 1
        self.lost = self.lost or failure.lost
        return pause

    def succeeded(self) -> None:
        """The last attempt helped."""
        self._quota.give(self._cost)

    def _last(self, error: KeyplanError, *, lost: bool = False) -> KeyplanError:
        """The error to end with."""
        failed = getattr(error, "type", None) == "ConditionalCheckFailedException"
        if self.lost and failed and self._operation in _CONDITIONAL and not _has_token(self._parameters):
            return self._unknown(error)
        if (lost or self.lost) and self._operation in _WRITES and isinstance(error, StoreError):
            return self._unknown(error)
        return error

    def _unknown(self, error: KeyplanError) -> StoreError:
        return StoreError(
            f"it isn't known whether {self._operation} was carried out: {error.message}",
            hint="call it again, with the same token"
            if _has_token(self._parameters)
            else "read the item, and decide anew",
        )
