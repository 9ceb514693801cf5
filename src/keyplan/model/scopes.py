"""Names that are local to the function in which a design is declared, for annotations that are texts until they are
read.

A text of an annotation is resolved by its module's names; those of a function are known only while it runs. Which
function it is, says the method itself, by its qualified name: not who happens to call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["local_names"]


def local_names(functions: Iterable[Callable[..., Any]]) -> dict[str, Any]:
    """The local names of the running functions in which these functions are declared, of each its latest call."""
    scopes = {scope for function in functions if (scope := _scope(inspect.unwrap(function))) is not None}
    names: dict[str, Any] = {}
    frame = inspect.currentframe()
    while scopes and frame is not None:
        scope = (frame.f_code.co_qualname, id(frame.f_globals))
        if scope in scopes:
            names = {**frame.f_locals, **names}
            scopes.remove(scope)
        frame = frame.f_back
    return names


def _scope(function: Callable[..., Any]) -> tuple[str, int] | None:
    """The function around another one and its class, by its qualified name and its module's names. None: a module's."""
    around, local, _ = function.__qualname__.rpartition(".<locals>.")
    return (around, id(getattr(function, "__globals__", None))) if local else None
