"""Find calls in a write's body that do I/O, wait, or can't be followed. A body with these calls isn't run.

Functions of the design's author are followed. Other modules have side effects, unless ``_WITHOUT_EFFECT`` lists them.
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
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from enum import Enum
from types import MethodType, ModuleType
from typing import Any

from pydantic import BaseModel

from keyplan.model.declared import actions
from keyplan.model.declared.parameters import Page

OPEN = object()
"""The value of a name that can't be resolved."""
LOCAL = object()
"""A function that is defined in the body."""

_FILE = "opens a file"
_OUTSIDE = {
    "open": _FILE, "print": "prints", "input": "waits for input", "sleep": "sleeps",
    "system": "starts a process", "popen": "starts a process", "unlink": "removes a file", "remove": "removes a file",
    "rmdir": "removes a folder", "mkdir": "creates a folder", "makedirs": "creates a folder",
    "rename": "renames a file", "write_text": _FILE, "write_bytes": _FILE, "read_text": _FILE, "read_bytes": _FILE,
}  # fmt: skip
"""The side effects of functions with these names in ``_MODULES``."""
_NETWORK = "makes a request over the network"
_MODULES = {
    "socket": "opens a socket", "ssl": "opens a socket", "subprocess": "starts a process",
    "multiprocessing": "starts a process", "threading": "uses threads", "_thread": "uses threads",
    "concurrent": "uses threads", "asyncio": "uses an event loop", "urllib": _NETWORK, "http": _NETWORK,
    "requests": _NETWORK, "httpx": _NETWORK, "boto3": _NETWORK, "smtplib": _NETWORK, "ftplib": _NETWORK,
    "sqlite3": "opens a database", "shutil": "copies or removes files", "tempfile": "creates a file",
    "logging": "logs", "pathlib": "uses files", "io": "uses files", "os": "uses the operating system",
    "sys": "uses the interpreter's state", "time": "", "builtins": "",
}  # fmt: skip
"""The side effects of other functions in these modules."""
_WITHOUT_EFFECT = frozenset({
    "_decimal", "_hashlib", "_json", "_operator", "_random", "_struct", "base64", "binascii", "bisect", "calendar",
    "cmath", "collections", "colorsys", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools",
    "hashlib", "heapq", "hmac", "html", "ipaddress", "itertools", "json", "keyplan", "markdown_it", "math", "numbers",
    "operator", "orjson", "pydantic", "pydantic_core", "random", "re", "secrets", "statistics", "string", "struct",
    "textwrap", "types", "typing", "typing_extensions", "ulid", "unicodedata", "uuid", "zlib", "zoneinfo",
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
        type(hashlib.sha256()), random.Random, Counter, deque, decimal.Decimal, uuid.UUID, re.Pattern, re.Match,
        BaseModel, Page, actions.Update, actions.Delete, actions.Check, actions.Put, actions.Create,
    )
    for name in dir(cls)
)  # fmt: skip
"""Methods of values of unknown type. They have no side effects."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the object ``known``, a member of ``owner``. ``root``: the start of the dotted name, or OPEN."""

    function: ast.expr
    known: Any
    owner: Any
    root: Any
    helper: bool


def outside_calls(
    call: Call, is_followed: Callable[[Any], bool], names: Container[str]
) -> Iterator[tuple[str | None, str]]:
    """A call's side effect in words (None if the call can't be followed) and its name. ``names``: local variables."""
    target, known, owner = call.function, call.known, call.owner
    text = ast.unparse(target)
    if known is LOCAL:
        return
    if known is not OPEN:
        yield from _of_object(known, text, is_followed)
    elif isinstance(target, ast.Attribute):
        if isinstance(owner, ModuleType) or target.attr in {"read", "in_transaction"}:
            return  # a dry run reports a name that the module doesn't contain
        if owner is not OPEN and owner is not LOCAL and not isinstance(owner, type):
            # An object in the module, such as a logger, a regular expression or a client
            yield from _of_object(getattr(type(owner), target.attr, None), text, is_followed, type(owner))
        elif call.root is not OPEN and type(call.root).__module__.partition(".")[0] in _WITHOUT_EFFECT - {"keyplan"}:
            return  # such as ``PARSER.block.parse()`` of markdown_it
        elif target.attr not in _METHODS and not call.helper:
            yield _OUTSIDE.get(target.attr), text
    elif not isinstance(target, ast.Name) or target.id in names:
        yield None, text


def _of_object(
    value: Any, text: str, is_followed: Callable[[Any], bool], owner: type[Any] | None = None
) -> Iterator[tuple[str | None, str]]:
    module = _module_of(value, owner)
    name = getattr(value, "__name__", text.rpartition(".")[2])
    top = module.partition(".")[0]
    if f"{module}.{name}" in _FUNCTIONS_WITHOUT_EFFECT or top in _WITHOUT_EFFECT:
        return
    if top == "builtins" and name not in _REFUSED_BUILTINS:
        return
    if isinstance(value, type):
        own = [vars(value)[each] for each in ("__init__", "__new__", "__post_init__") if each in vars(value)]
        plain = issubclass(value, BaseModel | BaseException | Enum | tuple | str | int)
        if plain or hasattr(value, "__dataclass_fields__") or (top not in _MODULES and all(map(is_followed, own))):
            return
    elif is_followed(getattr(value, "__func__", value)):
        return
    yield (_OUTSIDE.get(name) or _MODULES[top] or None) if top in _MODULES else None, text


def _module_of(value: Any, owner: type[Any] | None) -> str:
    bound = getattr(value, "__self__", None)
    if owner is not None:
        module: str | None = owner.__module__
    elif isinstance(value, MethodType) or (bound is not None and not isinstance(bound, ModuleType)):
        module = (bound if isinstance(bound, type) else type(bound)).__module__
    else:
        module = getattr(getattr(value, "__objclass__", value), "__module__", None)
    named = {"posix": "os", "nt": "os", "posixpath": "os", "_io": "io", "_socket": "socket"}
    return named.get(module or "builtins", module or "builtins")
