"""The number of Python lines that a call executes: a measure of work that doesn't depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

GROWTH_MAX = 2.5
NOISE_LINES = 5_000
"""Lines of Python that are ignored: what a small text takes is no growth."""


def growth(call: Callable[[str], object], small: str, large: str, rejected: type[Exception]) -> float | None:
    """Return how many times as many lines the large text takes, or None if not over GROWTH_MAX. It is twice as long.

    Either text may be rejected.
    """
    few, many = (_executed_lines(call, text, rejected) for text in (small, large))
    return round(many / few, 2) if many > NOISE_LINES and many > GROWTH_MAX * few else None


def _executed_lines(call: Callable[[str], object], text: str, rejected: type[Exception]) -> int:
    """Count lines of every module that the call runs."""
    count = 0

    def line(frame: FrameType, event: str, given: Any) -> Any:
        nonlocal count
        count += 1
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        with suppress(rejected):
            call(text)
    finally:
        sys.settrace(before)
    return count
