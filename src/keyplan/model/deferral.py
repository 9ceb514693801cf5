"""Defers the compilation of designs, so that the planner can read classes that have no keys yet.

Only the planner defers compilation. Without deferral, a design is compiled when its class is defined.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_deferred: ContextVar[bool] = ContextVar("keyplan_deferred", default=False)


@contextmanager
def deferred() -> Generator[None]:
    """Designs defined in this context aren't compiled, so they raise no errors and can't be opened."""
    token = _deferred.set(True)
    try:
        yield
    finally:
        _deferred.reset(token)


def is_deferred() -> bool:
    """Whether compilation is deferred."""
    return _deferred.get()
