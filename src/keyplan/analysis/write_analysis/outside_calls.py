"""Calls in a write's body that reach outside the process, wait, or can't be followed: found in its syntax tree.

A body that has one isn't run. Calls of classes and functions are followed where they are the author's own; of libraries
only those below are known to have no effect.
"""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import hashlib
import random
import re
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator
from enum import Enum
from types import MethodType, ModuleType
from typing import Any

from pydantic import BaseModel

from keyplan.analysis.write_analysis.body_values import OPEN, BodyValues
from keyplan.model.declared import actions
from keyplan.model.declared.parameters import Page

__all__ = ["outside_calls"]

_OUTSIDE = {
    "open": "opens a file", "print": "prints", "input": "waits for input", "sleep": "sleeps",
    "system": "starts a process", "popen": "starts a process", "unlink": "removes a file", "remove": "removes a file",
    "rmdir": "removes a folder", "mkdir": "makes a folder", "makedirs": "makes a folder", "rename": "renames a file",
    "write_text": "opens a file", "write_bytes": "opens a file", "read_text": "opens a file",
    "read_bytes": "opens a file",
}  # fmt: skip
"""What functions of these names do, of the modules that reach outside."""
_MODULES = {
    "socket": "opens a socket", "ssl": "opens a socket", "subprocess": "starts a process",
    "multiprocessing": "starts a process", "threading": "uses threads", "_thread": "uses threads",
    "concurrent": "uses threads", "asyncio": "uses an event loop", "urllib": "makes a request over the network",
    "http": "makes a request over the network", "requests": "makes a request over the network",
    "httpx": "makes a request over the network", "boto3": "makes a request over the network",
    "smtplib": "makes a request over the network", "ftplib": "makes a request over the network",
    "sqlite3": "opens a database", "shutil": "copies or removes files", "tempfile": "makes a file",
    "logging": "logs", "pathlib": "uses files", "io": "uses files", "os": "uses the operating system",
    "sys": "uses the interpreter's state", "time": "", "builtins": "",
}  # fmt: skip
"""What the functions of these modules do, where their name doesn't say it."""
_WITHOUT_EFFECT = frozenset({
    "_decimal", "_hashlib", "_json", "_operator", "_random", "_struct", "base64", "binascii", "bisect", "calendar",
    "cmath", "collections", "colorsys", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools",
    "hashlib", "heapq", "hmac", "html", "ipaddress", "itertools", "json", "keyplan", "markdown_it", "math", "numbers",
    "operator",
    "orjson", "pydantic", "pydantic_core", "random", "re", "secrets", "statistics", "string", "struct", "textwrap",
    "types", "typing", "typing_extensions", "ulid", "unicodedata", "uuid", "zlib", "zoneinfo",
})  # fmt: skip
_FUNCTIONS_WITHOUT_EFFECT = frozenset(
    {"time.time", "time.time_ns", "time.monotonic", "urllib.parse.quote", "urllib.parse.urlsplit"}
)
_REFUSED_BUILTINS = frozenset(
    {"breakpoint", "compile", "eval", "exec", "exit", "globals", "input", "open", "print", "quit"}
)
_METHODS: frozenset[str] = frozenset(
    name
    for cls in (
        str, bytes, int, float, bool, list, tuple, dict, set, frozenset, dt.datetime, dt.date, dt.time, dt.timedelta,
        type(hashlib.sha256()), random.Random, Counter, deque,
        decimal.Decimal, uuid.UUID, re.Pattern, re.Match, BaseModel, Page,
        actions.Update, actions.Delete, actions.Check,
        actions.Put, actions.Create,
    )
    for name in dir(cls)
)  # fmt: skip
"""Methods of values whose type the code doesn't say. They have no effect outside."""


def outside_calls(
    body: list[ast.stmt], names: BodyValues, is_followed: Callable[[Any], bool]
) -> Iterator[tuple[str | None, str]]:
    """What a function's calls do outside, in words; or None and the name of a call that can't be followed."""
    node = ast.Module(body, [])
    local = _local(node)
    for call in ast.walk(node):
        if isinstance(call, ast.Await | ast.AsyncFor | ast.AsyncWith):
            yield "uses an event loop", ""
        elif isinstance(call, ast.With):
            for item in call.items:
                if not isinstance(item.context_expr, ast.Call):
                    yield None, ast.unparse(item.context_expr)
        elif isinstance(call, ast.Call):
            yield from _judged(call.func, names, is_followed, local)


def _local(node: ast.AST) -> set[str]:
    """The functions that are defined within a function."""
    result = {inner.name for inner in ast.walk(node) if isinstance(inner, ast.FunctionDef) and inner is not node}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Lambda):
            result.update(target.id for target in inner.targets if isinstance(target, ast.Name))
    return result


def _judged(
    target: ast.expr, names: BodyValues, is_followed: Callable[[Any], bool], local: set[str]
) -> Iterator[tuple[str | None, str]]:
    text = ast.unparse(target)
    if isinstance(target, ast.Subscript) and isinstance(names.value_of(target.value), type):
        target = target.value  # ``set[str]()``
    value = names.value_of(target)
    if value is not OPEN:
        yield from _of_value(value, text, is_followed)
    elif isinstance(target, ast.Attribute):
        owner = names.value_of(target.value)
        if isinstance(owner, ModuleType) or target.attr in {"read", "in_transaction"}:
            return  # a name that the module lacks is a mistake, which a dry run finds
        if owner is not OPEN and not isinstance(owner, type):  # a value of the module: a logger, a pattern, a client
            yield from _of_value(getattr(type(owner), target.attr, None), text, is_followed, type(owner))
        elif _is_part_of_plain(target, names):
            return
        elif target.attr not in _METHODS and not any(True for _ in names.called(target)):
            yield _OUTSIDE.get(target.attr), text
    elif isinstance(target, ast.Name):
        if target.id in names.names and target.id not in {*local, "cls"}:
            yield None, text
    elif not isinstance(target, ast.Lambda):
        yield None, text


def _is_part_of_plain(target: ast.expr, names: BodyValues) -> bool:
    """Whether a method is one of a part of a module's value, of a library without effect: ``PARSER.block.parse``."""
    while isinstance(target, ast.Attribute):
        target = target.value
    value = names.value_of(target)
    return value is not OPEN and type(value).__module__.partition(".")[0] in _WITHOUT_EFFECT - {"keyplan"}


def _of_value(
    value: Any, text: str, is_followed: Callable[[Any], bool], owner: type[Any] | None = None
) -> Iterator[tuple[str | None, str]]:
    function = getattr(value, "__func__", value)
    module = _module_of(value, owner)
    name = getattr(value, "__name__", text.rpartition(".")[2])
    top = module.partition(".")[0]
    if f"{module}.{name}" in _FUNCTIONS_WITHOUT_EFFECT or top in _WITHOUT_EFFECT:
        return
    if top == "builtins" and name not in _REFUSED_BUILTINS:
        return
    if isinstance(value, type):
        made = [vars(value)[each] for each in ("__init__", "__new__", "__post_init__") if each in vars(value)]
        plain = issubclass(value, BaseModel | BaseException | Enum | tuple | str | int) or hasattr(
            value, "__dataclass_fields__"
        )
        if plain or (top not in _MODULES and all(map(is_followed, made))):
            return
    elif is_followed(function):
        return
    known = top in _MODULES
    yield (_OUTSIDE.get(name) or _MODULES[top] or None) if known else None, text


def _module_of(value: Any, owner: type[Any] | None) -> str:
    if owner is not None:
        return {"posixpath": "os"}.get(owner.__module__, owner.__module__)
    bound = getattr(value, "__self__", None)
    if isinstance(value, MethodType) or (bound is not None and not isinstance(bound, ModuleType)):
        return type(bound).__module__ if not isinstance(bound, type) else bound.__module__
    if (cls := getattr(value, "__objclass__", None)) is not None:
        return str(cls.__module__)
    module = str(getattr(value, "__module__", None) or "builtins")
    return {"posix": "os", "nt": "os", "_io": "io", "_socket": "socket"}.get(module, module)
