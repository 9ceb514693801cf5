"""What the source of a function says: its definition as a syntax tree, and the local names around a class that is
declared in a function.

Annotations of such a class are texts that the module's names don't resolve. The names of a function are known only
while it runs, so its frame is read; which function that is, the method's qualified name says.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["definition_of", "local_names"]


def definition_of(function: Callable[..., Any]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The definition of a function, decorators included. None where its source can't be read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    node = tree.body[0] if tree.body else None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function.__name__:
        return node
    return None


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
