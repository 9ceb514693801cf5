"""What the author's own code of a write raises where it computes with its arguments: a number too large for a date, a
text that is no number. Who calls a write by its name (a server, a command line) gives it what others sent, and is
answered as for any wrong argument; who calls it as a method gets what it raised.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from keyplan.client.conversations import Conversation
from keyplan.errors import ArgumentError, KeyplanError

__all__ = ["by_name"]

T = TypeVar("T")

_OF_VALUES = (ValueError, ArithmeticError, MemoryError)
"""What computing with a value raises that doesn't fit. Others (AttributeError, TypeError, KeyError …) are mistakes of
the code, whatever it is given.
"""


def by_name(conversation: Conversation[T], function: Callable[..., Any], place: str) -> Conversation[T]:
    """The conversation of a write that is called by its name.

    Raises:
        ArgumentError: ``function``, the write itself, raised an error of values; it is the cause, and not shown, since
            its text may hold anything.
    """
    try:
        return (yield from conversation)
    except _OF_VALUES as error:
        if isinstance(error, KeyplanError) or not _is_within(error, function):
            raise
        raise ArgumentError(
            f"it can't be done with these arguments: it ended in {type(error).__name__}",
            place=place,
            hint="where the design has a rule for it, it raises Refused",
        ) from error


def _is_within(error: BaseException, function: Callable[..., Any]) -> bool:
    """Whether an error was raised in a function, or in what it called."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            return True
        trace = trace.tb_next
    return False
