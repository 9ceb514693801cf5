"""Results and errors as JSON: in REST responses and in the output of ``--json``.

JSON members have the names of fields, as parameters do. Sets become sorted arrays, datetimes ISO 8601 strings in UTC
with ``Z``, decimals strings, and bytes base64. The stored formats differ (``keyplan.model.stored.field_codec``).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from keyplan.errors import ArgumentError, KeyplanError
from keyplan.model.declared.parameters import Page
from keyplan.model.stored.stored_entity import error_details_of

_WIDTH = 88
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})
"""Exact types: a subclass such as a str enum is converted."""


def answer_json(answer: Any) -> Any:
    """A pattern's result as JSON data: a page has ``items`` and ``cursor``, a list has ``items``."""
    if isinstance(answer, Page):
        return {"items": [plain(item) for item in answer.items], "cursor": answer.cursor}
    if isinstance(answer, list):
        return {"items": [plain(value) for value in answer]}
    return plain(answer)


def plain(value: Any) -> Any:
    """Any value of a design as JSON data."""
    kind = type(value)
    if kind in _AS_THEY_ARE:  # the most frequent case
        return value
    if kind is dict:
        return {name if type(name) is str else str(plain(name)): plain(element) for name, element in value.items()}
    match value:
        case BaseModel():
            return plain(value.model_dump(mode="python", by_alias=False))
        case Mapping():
            return plain(dict(value))
        case tuple() if (names := getattr(value, "_fields", None)) is not None:
            return {name: plain(element) for name, element in zip(names, value, strict=True)}
        case set() | frozenset():
            return sorted((plain(element) for element in value), key=_order)
        case list() | tuple():
            return [plain(element) for element in value]
        case Page():
            return answer_json(value)
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case _:
            return to_jsonable_python(value, by_alias=False, inf_nan_mode="null", bytes_mode="base64")


def _order(value: Any) -> tuple[str, Any]:
    if isinstance(value, int | float):
        return ("", value)
    return ("text", value if isinstance(value, str) else json.dumps(value, sort_keys=True))


def known_error(error: KeyplanError | ValidationError) -> KeyplanError:
    """The error as a KeyplanError. A pydantic error in a write becomes an ArgumentError."""
    if isinstance(error, KeyplanError):
        return error
    return ArgumentError(f"invalid {error.title}", place=error.title, errors=error_details_of(error, error.title))


def error_json(error: KeyplanError) -> dict[str, Any]:
    """The response body of an error: ``{"error": {"code": …, "message": …}}``."""
    return {"error": error.as_json()}


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON data as text. A lone surrogate, as in a quoted argument, is escaped, because UTF-8 can't encode it."""
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def pretty(value: Any, indent: int = 0) -> str:
    """JSON data as indented text, with short objects on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or (len(line) + indent <= _WIDTH and _flat(value)):
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(name, ensure_ascii=False)}: {pretty(element, indent + 2)}" for name, element in value.items()
        ]
        opening, closing = "{}"
    else:
        parts = [pretty(element, indent + 2) for element in value]
        opening, closing = "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * indent}{closing}"


def _flat(value: Any) -> bool:
    """Whether a value contains only scalars or short lists of them."""
    parts = value.values() if isinstance(value, dict) else value
    return not any(isinstance(part, dict) and part for part in parts) and all(
        not isinstance(part, list) or not any(isinstance(inner, dict | list) for inner in part) for part in parts
    )
