"""The API reference: a Markdown page per public module, from the docstrings of its public names."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

__all__ = ["REFERENCES", "reference_page"]

REFERENCES = {
    "keyplan": "keyplan",
    "errors": "keyplan.errors",
    "testing": "keyplan.testing",
    "telemetry": "keyplan.telemetry",
    "systems": "keyplan.systems",
}
"""The pages of the reference, and the module that each is about."""


def reference_page(module: str) -> str:
    """The page of a module: its docstring, then each public name in alphabetical order."""
    imported = importlib.import_module(module)
    lines = [f"# `{module}`", "", _markdown(inspect.getdoc(imported) or ""), ""]
    for name in sorted(imported.__all__, key=str.lower):
        if not name.startswith("_"):
            lines += _entry(module, name, getattr(imported, name))
    return "\n".join(lines)


def _entry(module: str, name: str, value: Any) -> Iterator[str]:
    yield f"## `{name}`"
    yield ""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        yield _documentation_of_variable(module, name)
        yield ""
        return
    yield from _code(_signature(name, value))
    yield _markdown(inspect.getdoc(value) or "")
    yield ""
    if inspect.isclass(value):
        for member, method in sorted(vars(value).items()):
            yield from _member(name, member, method)


def _documentation_of_variable(module: str, name: str) -> str:
    """The string after a module's variable, looked up where the variable is defined."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
            return _documentation_of_variable(node.module, name)
    for node, after in pairwise(tree.body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        if named and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return _markdown(inspect.cleandoc(str(after.value.value)))
    return ""


def _member(owner: str, name: str, value: Any) -> Iterator[str]:
    """A method or property with a docstring of its own."""
    value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    doc = inspect.getdoc(value.fget if isinstance(value, property) else value)
    if name.startswith("_") or not doc or not (isinstance(value, property) or inspect.isroutine(value)):
        return
    yield f"### `{owner}.{name}`"
    yield ""
    if not isinstance(value, property):
        yield from _code(_signature(name, value))
    yield _markdown(doc)
    yield ""


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    shown = re.sub(r"\b(?:typing|collections\.abc|keyplan(?:\.\w+)+)\.(?=\w)", "", f"{name}{signature}")
    return re.sub(r"<[^<>]+>", "...", shown).replace("'", "")


def _code(signature: str) -> list[str]:
    wrapped = textwrap.fill(signature, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return ["```python", wrapped, "```", ""]


def _markdown(doc: str) -> str:
    """A docstring as Markdown: double backticks become single ones, trees stay as they are."""
    parts = doc.replace("``", "`").split("\n\n")
    return "\n\n".join(
        f"```text\n{part}\n```" if re.search(r"^( {2,}|[├└│])", part, re.MULTILINE) else part for part in parts
    )
