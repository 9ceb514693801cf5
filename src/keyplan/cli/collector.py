"""Keeping the errors of several steps, so that every fault of what was asked for is reported at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from keyplan.errors import ErrorDetail, KeyplanError, RequestError

__all__ = ["Collector"]

T = TypeVar("T")


class Collector:
    """Runs steps, and keeps their errors for one report: ``message`` begins it."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.errors: list[KeyplanError] = []

    def step(self, make: Callable[[], T]) -> T | None:
        """What the step gives, or None where it failed."""
        try:
            return make()
        except KeyplanError as error:
            self.errors.append(error)
            return None

    def raise_all(self) -> None:
        """Raise what was wrong: an error as it is, or all of several as the faults of one."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            faults = [
                fault
                for error in self.errors
                for fault in (error.errors or (ErrorDetail(error.place or "", error.message, error.hint, error.code),))
            ]
            raise RequestError(f"{self.message}: {len(faults)} errors", errors=faults)
