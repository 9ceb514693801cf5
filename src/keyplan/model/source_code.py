"""Returns the source of functions as syntax trees, and the local names around a class declared in a function.

Names of the module don't resolve the annotations of a class in a function. A function's local names are known only
while the function runs, so the frame with the function's qualified name is read.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from types import FunctionType
from typing import Any

from pydantic import BaseModel

_PARSING = threading.Lock()
"""Held while a syntax tree is created, because CPython counts the depth of all threads' trees together, and raises
SystemError: https://github.com/python/cpython/issues/106905.
"""


def parsed(text: str) -> ast.Module:
    """The syntax tree of a module. Raises SyntaxError, ValueError."""
    with _PARSING:
        return ast.parse(text)


def definition_of(function: Callable[..., Any]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The definition of a function with its decorators; None if the source of the function can't be read."""
    try:
        tree = parsed(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    node = tree.body[0] if tree.body else None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function.__name__:
        return node
    return None


def local_names(functions: Iterable[Callable[..., Any]]) -> dict[str, Any]:
    """The local names of the running functions that declare these functions, from the latest call of each."""
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


_DECORATORS = frozenset({"computed_field", "property", "cached_property"})
_WHOLE = frozenset({"super", "locals", "vars", "__class__"})
"""Names by which code gets at the instance without naming it."""


def fields_read(cls: type[BaseModel], name: str) -> frozenset[str]:
    """The fields that a computed field of a model depends on."""
    fields: set[str] = set()
    if _read(cls, name, fields, set()) and fields:
        return frozenset(fields)
    return frozenset(cls.model_fields)


def _read(cls: type[BaseModel], name: str, fields: set[str], seen: set[str]) -> bool:
    if name in seen:
        return True
    seen.add(name)
    declared: Any = inspect.getattr_static(cls, name, None)
    if declared is not None and not hasattr(type(declared), "__get__"):
        return True  # a constant of the class
    function = declared.fget if isinstance(declared, property) else getattr(declared, "func", declared)
    plain = isinstance(declared, property | cached_property | FunctionType)
    body = _body(function) if plain and isinstance(function, FunctionType) else None
    if body is None or name in vars(BaseModel):
        return False
    instance = body.args.args[0].arg
    nodes = [node for statement in body.body for node in ast.walk(statement)]
    reads = [node for node in nodes if isinstance(node, ast.Attribute) and _is_name(node.value, instance)]
    uses = sum(_is_name(node, instance) for node in nodes)
    if uses != len(reads) or any(isinstance(node, ast.Name) and node.id in _WHOLE for node in nodes):
        return False
    for read in reads:
        if read.attr in cls.model_fields:
            fields.add(read.attr)
        elif not _read(cls, read.attr, fields, seen):
            return False
    return True


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _body(function: FunctionType) -> ast.FunctionDef | None:
    """The source of a function of one instance. None where it can't be fields or has an unknown decorator."""
    tree = definition_of(function)
    if not isinstance(tree, ast.FunctionDef) or not tree.args.args:
        return None
    decorators = {_decorator(node) for node in tree.decorator_list}
    return tree if decorators <= _DECORATORS else None


def _decorator(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
