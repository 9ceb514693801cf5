"""Collects the errors of several steps, to report them together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from keyplan.errors import ErrorDetail, KeyplanError, RequestError

__all__ = ["Collector"]

T = TypeVar("T")


class Collector:
    """Runs steps, and collects their errors under one message."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.errors: list[KeyplanError] = []

    def step(self, make: Callable[[], T]) -> T | None:
        """The result of a step; None if it failed."""
        try:
            return make()
        except KeyplanError as error:
            self.errors.append(error)
            return None

    def raise_all(self) -> None:
        """Raise the error if there is one, or one error with all of them."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            faults = [
                fault
                for error in self.errors
                for fault in (error.errors or (ErrorDetail(error.place or "", error.message, error.hint, error.code),))
            ]
            raise RequestError(f"{self.message}: {len(faults)} errors", errors=faults)
