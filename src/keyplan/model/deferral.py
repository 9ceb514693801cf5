"""Designs whose compiling is put off: the planner reads classes that have no keys yet.

Only what plans a design switches this on. Everywhere else a design is compiled when its class is made.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["deferred", "is_deferred"]

_deferred: ContextVar[bool] = ContextVar("keyplan_deferred", default=False)


@contextmanager
def deferred() -> Generator[None]:
    """Designs whose classes are made meanwhile aren't compiled, and so can't be refused, nor opened."""
    token = _deferred.set(True)
    try:
        yield
    finally:
        _deferred.reset(token)


def is_deferred() -> bool:
    """Whether compiling is put off."""
    return _deferred.get()
