"""Types as texts that a model's description can hold, and back: ``Literal["open", "closed"] | None``.

A text is read as Python's syntax and never run: it may hold the names of types that stand here, those of the design's
own entities and views, stored forms, and literals.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from keyplan.model.declared.fields import ID, TOKENS, TTL, VERSION, is_alias, marks_of
from keyplan.model.declared.parameters import EACH, PREFIX, Cursor, InvalidItem, Page, Range
from keyplan.model.declared.stored_as import FormName, StoredAs

__all__ = ["TYPE_NAMES", "is_type", "is_value", "literal_text", "serialized_text", "stored_text", "type_text"]

_PLAIN: dict[Any, str] = {
    str: "str", int: "int", float: "float", bool: "bool", bytes: "bytes", Decimal: "Decimal", datetime: "datetime",
    date: "date", time: "time", timedelta: "timedelta", UUID: "UUID", Any: "Any", object: "Any", type(None): "None",
    None: "None", list: "list[Any]", dict: "dict[str, Any]", tuple: "tuple[str, ...]", InvalidItem: "InvalidItem",
}  # fmt: skip
_GENERIC: dict[Any, str] = {
    list: "list", set: "set", frozenset: "frozenset", tuple: "tuple", dict: "dict", Page: "Page", Range: "Range",
    Iterator: "Iterator", Iterable: "Iterator", AsyncIterator: "Iterator", AsyncIterable: "Iterator",
}  # fmt: skip
_MARKS = {TTL.name: "Ttl", VERSION.name: "Version", TOKENS.name: "IdempotencyTokens"}
_OTHERS = ("Annotated", "Each", "Id", "Literal", "StoredAs", "Prefix", "Cursor", *_MARKS.values())
_BOUNDS = ("ge", "gt", "le", "lt")
TYPE_NAMES = frozenset(
    {*_PLAIN.values(), *_GENERIC.values(), *_OTHERS} - {"list[Any]", "dict[str, Any]", "tuple[str, ...]", "None"}
)
"""The names that a type's text may hold besides those of entities and views."""
_JSON_TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list[Any]",
    "object": "dict[str, Any]",
}  # fmt: skip
"""Types by what pydantic dumps them as."""
_MADE: dict[str, Callable[..., Any]] = {
    "Decimal": Decimal, "UUID": UUID, "timedelta": timedelta, "date.fromisoformat": date.fromisoformat,
    "datetime.fromisoformat": datetime.fromisoformat, "time.fromisoformat": time.fromisoformat,
}  # fmt: skip
"""What a value without a literal of its own may be made by."""


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
        stored = next((value for value in metadata if isinstance(value, StoredAs)), None)
        if stored is not None and stored.write is not None:
            raise ValueError(annotation)  # functions are code
        marks = marks_of(annotation)
        plain = type_text(inner, names)
        mark = next((text for name, text in _MARKS.items() if name in marks), None)
        if mark is not None:
            return f"{mark} | None" if plain.endswith("| None") else mark
        if stored is not None:
            plain = f"Annotated[{plain}, {stored!r}]"
        return f"Id[{plain}]" if ID in metadata else plain
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


def stored_text(annotation: Any) -> str:
    """The type of what a field without a type of such a text is stored as: that of what pydantic dumps."""
    with suppress(PydanticUserError, TypeError, ValueError, KeyError):
        return _schema_text(TypeAdapter(annotation).json_schema(mode="serialization"))
    return "Any"


def serialized_text(cls: type[BaseModel], attribute: str) -> str:
    """The type of what a serializer of a model makes of a field."""
    with suppress(PydanticUserError, TypeError, ValueError, KeyError):
        return _schema_text(cls.model_json_schema(mode="serialization")["properties"][attribute])
    return "Any"


def _schema_text(schema: Mapping[str, Any]) -> str:
    """The type of a JSON schema. Raises KeyError for one that says another thing than a type."""
    kinds = [option["type"] for option in schema.get("anyOf", [schema])]
    texts = {_JSON_TYPES[kind] for kind in kinds if kind != "null"}
    if len(texts) != 1:
        return "Any"
    text = texts.pop()
    return f"{text} | None" if "null" in kinds else text


def literal_text(value: Any) -> str:
    """A value as Python writes it. Raises ValueError for one that isn't read back as it is."""
    plain = value.value if isinstance(value, enum.Enum) else value
    if isinstance(plain, BaseModel):
        plain = plain.model_dump(mode="json", by_alias=True)
    if isinstance(plain, Decimal | UUID):
        return f"{type(plain).__name__}({str(plain)!r})"
    if isinstance(plain, date | time):
        return f"{type(plain).__name__}.fromisoformat({plain.isoformat()!r})"
    if isinstance(plain, timedelta):
        return f"timedelta({plain.days}, {plain.seconds}, {plain.microseconds})"
    if isinstance(plain, Range):
        bounds: dict[str, Any] = {name: getattr(plain, name) for name in _BOUNDS}
        given = (f"{name}={literal_text(bound)}" for name, bound in bounds.items() if bound is not None)
        return f"Range({', '.join(given)})"
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
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[inner, ast.Call() as call])):
            return is_type(inner, names) and _is_form(call)
        case ast.Subscript(value=outer, slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return isinstance(outer, ast.Name) and is_type(outer, names) and all(is_type(part, names) for part in parts)
        case _:
            return False


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, str | int | bool | bytes)


def _is_form(call: ast.Call) -> bool:
    """Whether it is ``StoredAs("ms")``, or ``StoredAs(layout="%Y-%m-%d")``."""
    match call:
        case ast.Call(func=ast.Name(id="StoredAs"), args=[ast.Constant(value=form)], keywords=[]):
            return form in get_args(FormName)
        case ast.Call(
            func=ast.Name(id="StoredAs"), args=[], keywords=[ast.keyword(arg="layout", value=ast.Constant(value=str()))]
        ):
            return True
        case _:
            return False


def is_value(node: ast.expr) -> bool:
    """Whether it is a literal, or a value that is made of literals: ``Decimal('1')``, ``Range(ge=1)``."""
    match node:
        case ast.Call(func=ast.Name(id="Range"), args=[], keywords=[_, *_] as bounds):
            if not all(bound.arg in _BOUNDS and is_value(bound.value) for bound in bounds):
                return False
            ends = {str(bound.arg)[0] for bound in bounds}  # ge and gt are one end
            return len(ends) == len(bounds)
        case _:
            pass
    if isinstance(node, ast.Call):
        make = _MADE.get(ast.unparse(node.func))
        if make is None or node.keywords or not all(isinstance(part, ast.Constant) for part in node.args):
            return False
        with suppress(ValueError, TypeError, ArithmeticError):
            make(*(part.value for part in node.args if isinstance(part, ast.Constant)))
            return True
        return False
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return False
    return True
