"""Types as texts that a model's description can hold, and back: ``Literal["open", "closed"] | None``.

A text is read as Python's syntax and never run: it may hold the names of types that stand here, those of the design's
own entities, and literals.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import AsyncIterable, AsyncIterator, Collection, Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel

from keyplan.design.declared.fields import TTL, VERSION, is_alias, marks_of
from keyplan.design.declared.parameters import EACH, PREFIX, Cursor, Page, Range

__all__ = ["TYPE_NAMES", "is_type", "literal_text", "type_text"]

_PLAIN: dict[Any, str] = {
    str: "str", int: "int", float: "float", bool: "bool", bytes: "bytes", Decimal: "Decimal", datetime: "datetime",
    date: "date", UUID: "UUID", Any: "Any", object: "Any", type(None): "None", None: "None", list: "list[Any]",
    dict: "dict[str, Any]", tuple: "tuple[str, ...]",
}  # fmt: skip
_GENERIC: dict[Any, str] = {
    list: "list", set: "set", frozenset: "frozenset", tuple: "tuple", dict: "dict", Page: "Page", Range: "Range",
    Iterator: "Iterator", Iterable: "Iterator", AsyncIterator: "Iterator", AsyncIterable: "Iterator",
}  # fmt: skip
_OTHERS = ("Each", "Literal", "Ttl", "Version", "Prefix", "Cursor")
TYPE_NAMES = frozenset({*_PLAIN.values(), *_GENERIC.values(), *_OTHERS} - {"list[Any]", "dict[str, Any]", "None"})
"""The names that a type's text may hold besides those of entities."""


def type_text(annotation: Any, names: Mapping[Any, str]) -> str:
    """A type as text; ``names`` are those of classes of the design. An enum is the literals of its values, a nested
    model a dict. Raises ValueError for what has no text.
    """
    if is_alias(annotation):
        return type_text(annotation.__value__, names)
    if annotation is Cursor:
        return "Cursor"
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        if PREFIX in metadata:
            return "Prefix"
        if EACH in metadata:
            return f"Each[{', '.join(type_text(value, names) for value in get_args(inner))}]"
        marks = marks_of(annotation)
        plain = type_text(inner, names)
        mark = "Ttl" if TTL.name in marks else "Version" if VERSION.name in marks else None
        if mark is None:
            return plain
        return f"{mark} | None" if plain.endswith("| None") else mark
    if get_origin(annotation) in {Union, types.UnionType}:
        return " | ".join(dict.fromkeys(type_text(value, names) for value in get_args(annotation)))
    if get_origin(annotation) is Literal:
        return f"Literal[{', '.join(literal_text(value) for value in get_args(annotation))}]"
    generic = _GENERIC.get(get_origin(annotation))
    if generic is not None:
        arguments = ["..." if value is Ellipsis else type_text(value, names) for value in get_args(annotation)]
        return f"{generic}[{', '.join(arguments)}]"
    return _class_text(annotation, names)


def _class_text(annotation: Any, names: Mapping[Any, str]) -> str:
    try:
        text = names.get(annotation) or _PLAIN.get(annotation)
    except TypeError:
        text = None
    if text is not None:
        return text
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return f"Literal[{', '.join(literal_text(member.value) for member in annotation)}]"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "dict[str, Any]"
    supertype = getattr(annotation, "__supertype__", None)
    if supertype is not None:
        return type_text(supertype, names)
    raise ValueError(annotation)


def literal_text(value: Any) -> str:
    """A value as Python writes it. Raises ValueError for one that isn't read back as it is."""
    plain = value.value if isinstance(value, enum.Enum) else value
    if isinstance(plain, Decimal):
        return f"Decimal({str(plain)!r})"
    text = repr(plain)
    try:
        same = ast.literal_eval(text) == plain
    except (ValueError, SyntaxError, TypeError, RecursionError):
        same = False
    if not same:
        raise ValueError(value)
    return text


def is_type(node: ast.expr, names: Collection[str]) -> bool:
    """Whether a syntax tree is a type's: names of types, literals within ``Literal``, nothing that runs."""
    match node:
        case ast.Name(id=name):
            return name in TYPE_NAMES or name in names
        case ast.Constant(value=value):
            return value is None or value is Ellipsis
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return is_type(left, names) and is_type(right, names)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return all(_is_literal(part) for part in parts)
        case ast.Subscript(value=outer, slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return isinstance(outer, ast.Name) and is_type(outer, names) and all(is_type(part, names) for part in parts)
        case _:
            return False


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, str | int | bool | bytes)
