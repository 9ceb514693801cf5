"""Source locations of a design's members, and the syntax trees of its functions.

Each file is parsed once. The locations and the code of a design that was created in a console are unknown.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

from keyplan.model.source_code import parsed

TREES_KEPT = 32
"""Modules whose syntax trees are cached."""


@dataclass(frozen=True, slots=True)
class Source:
    """A location in the source code. ``file``: the path from Python's code object. ``line``: the line number from 1."""

    file: str
    line: int


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Sources:
    """The source files of one design."""

    def function(self, code: CodeType) -> FunctionNode | None:
        return _functions_of(_text(code.co_filename)).get(code.co_firstlineno)

    def of_function(self, code: CodeType, line: int | None = None) -> Source | None:
        """The location of a function's ``def``, or of ``line`` if it is in the function."""
        node = self.function(code)
        if node is None:
            return None
        within = line is not None and node.lineno <= line <= (node.end_lineno or node.lineno)
        return Source(code.co_filename, line if line is not None and within else node.lineno)

    def of_class(self, cls: type, member: str | None = None) -> Source | None:
        """The location of a class, or of a member that is assigned in its body."""
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        node = None if file is None else _classes_of(_text(file)).get(cls.__qualname__)
        return None if file is None or node is None else Source(file, _line_of(node, member))

    def named(self, file: str, place: str) -> Source | None:
        """The location of a place such as ``Blog.latest_posts`` in a file."""
        name, _, member = place.partition(".")
        node = next((each for each in _classes_of(_text(file)).values() if each.name == name), None)
        return None if node is None else Source(file, _line_of(node, member))


def _text(file: str) -> str:
    return "".join(linecache.getlines(file))


@lru_cache(maxsize=TREES_KEPT)
def _parsed(text: str) -> ast.Module | None:
    try:
        return parsed(text)
    except (SyntaxError, ValueError):  # the file has changed since it was imported
        return None


@lru_cache(maxsize=TREES_KEPT)
def _functions_of(text: str) -> Mapping[int, FunctionNode]:
    """The functions of a module, by the first line of each, decorators included."""
    tree = _parsed(text)
    return {
        _first_line(node): node for node in (() if tree is None else ast.walk(tree)) if isinstance(node, FunctionNode)
    }


@lru_cache(maxsize=TREES_KEPT)
def _classes_of(text: str) -> Mapping[str, ast.ClassDef]:
    """The classes of a module by qualified name, outer ones first."""
    classes: dict[str, ast.ClassDef] = {}
    pending: deque[tuple[ast.AST, str]] = deque([(_parsed(text) or ast.Module([], []), "")])
    while pending:
        node, prefix = pending.popleft()
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.ClassDef):
                classes.setdefault(f"{prefix}{child.name}", child)
                inner = f"{prefix}{child.name}."
            elif isinstance(child, FunctionNode):
                inner = f"{prefix}{child.name}.<locals>."
            pending.append((child, inner))
    return classes


def _first_line(node: FunctionNode) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _line_of(node: ast.ClassDef, member: str | None) -> int:
    return next((statement.lineno for name, statement in _members(node) if name == member), node.lineno)


def _members(node: ast.ClassDef) -> Iterator[tuple[str, ast.stmt]]:
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            yield from ((target.id, statement) for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement
        elif isinstance(statement, FunctionNode):
            yield statement.name, statement


def unwrapped(function: object) -> CodeType | None:
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return code if isinstance(code, CodeType) else None


def is_authors(function: Any, package: str) -> bool:
    """Whether a function is from the author of the design, which is in ``package``, and not from a library."""
    own = package_of(function)
    if own == package or inspect.isgeneratorfunction(function):
        return own not in {"keyplan", "pydantic"}
    libraries = ("site-packages", "dist-packages", "<frozen")
    return own not in {"keyplan", "pydantic", *sys.stdlib_module_names} and not any(
        library in function.__code__.co_filename for library in libraries
    )


def package_of(function: Any) -> str:
    return str(function.__module__).partition(".")[0]
