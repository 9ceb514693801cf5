"""Retries: their maximum number, the pauses between them, and the requests that can be retried.

Like the AWS SDKs' standard mode: at most four attempts; before each retry, a random pause (full jitter) of up to 25 ms,
or 1 s if throttled, that doubles; and a quota that all calls share, so that retries don't overload the store further.
Source: "Retry behavior" in the AWS SDKs and tools reference guide; the numbers for DynamoDB are those of botocore 1.44.

Unlike in the SDKs, only an idempotent request (see ``Idempotent``) is repeated after a lost response. A lost response
to a request that isn't idempotent, and a condition that fails on a retry, raise StoreError: the outcome is unknown.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from typing import Any

from keyplan.client.conversations import ByToken, Idempotent
from keyplan.client.transports.responses import Failure, Kind
from keyplan.errors import KeyplanError, StoreError

QUOTA = 500
COST = 14
COST_THROTTLED = 5
PAUSE_SECONDS = 0.025
PAUSE_SECONDS_THROTTLED = 1.0
PAUSE_SECONDS_MAX = 20.0

_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_CONDITIONAL = frozenset({"PutItem", "UpdateItem", "DeleteItem"})


class Quota:
    """The retry budget that all calls of a store share. A successful retry returns its cost to the budget."""

    def __init__(self, size: int = QUOTA) -> None:
        self._size = size
        self._left = size
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        return self._left

    def take(self, cost: int) -> bool:
        """Spend ``cost`` if the budget is sufficient. Returns whether the budget was sufficient."""
        with self._lock:
            if self._left < cost:
                return False
            self._left -= cost
            return True

    def give(self, amount: int = 1) -> None:
        """Return an amount to the budget. Each call without a retry returns 1."""
        if self._left >= self._size:  # the budget is usually full, and needs no lock
            return
        with self._lock:
            self._left = min(self._size, self._left + amount)


def repeatable(operation: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a request that is sent twice has the same effect and response as when it is sent once."""
    match operation:
        case "TransactWriteItems":
            return "ClientRequestToken" in parameters
        case "UpdateItem":
            return isinstance(operation, Idempotent)
        case "PutItem":
            return parameters.get("ReturnValues") != "ALL_OLD"
        case _:
            return True


class Attempts:
    """Counts the attempts of one call after its first failure."""

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
        """The pause before the next attempt, in seconds. Raises the call's error if no attempt remains."""
        if failure.lost and not repeatable(self._operation, self._parameters):
            raise self._unknown(failure.error) from failure.error
        kind = failure.kind
        if kind in {Kind.CLOCK, Kind.EXPIRED}:
            if kind in self._healed:
                raise self._last(failure)
            self._healed.add(kind)
            return 0.0
        if kind is Kind.FINAL or self.count >= self._max:
            raise self._last(failure)
        throttled = kind is Kind.THROTTLED
        base = PAUSE_SECONDS_THROTTLED if throttled else PAUSE_SECONDS
        pause: float = random.random() * min(PAUSE_SECONDS_MAX, base * 2 ** (self.count - 1))  # noqa: S311 - jitter, not a secret
        cost = COST_THROTTLED if throttled else COST
        if time.monotonic() + pause >= self._deadline or not self._quota.take(cost):
            raise self._last(failure)
        self._cost = cost
        self.count += 1
        self.lost = self.lost or failure.lost
        return pause

    def succeeded(self) -> None:
        self._quota.give(self._cost)

    def _last(self, failure: Failure) -> KeyplanError:
        error = failure.error
        failed = getattr(error, "type", None) == "ConditionalCheckFailedException"
        if self.lost and failed and self._operation in _CONDITIONAL and not isinstance(self._operation, ByToken):
            return self._unknown(error)
        is_single = self._operation in _CONDITIONAL  # callers repeat throttled batches and transactions
        was_lost = self.lost and (isinstance(error, StoreError) or (is_single and failure.kind is not Kind.FINAL))
        return self._unknown(error) if self._operation in _WRITES and (failure.lost or was_lost) else error

    def _unknown(self, error: KeyplanError) -> StoreError:
        return StoreError(
            f"the outcome of {self._operation} is unknown: {error.message or error}",
            hint="repeat the call with the same token"
            if isinstance(self._operation, ByToken)
            else "read the item before you retry",
        )
