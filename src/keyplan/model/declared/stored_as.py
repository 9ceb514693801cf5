"""StoredAs: the stored form of a field in other programs. ``keyplan.model.stored.stored_forms`` implements forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema

from keyplan.model.declared.declaration_errors import check_given, is_a, or_none

FormName: TypeAlias = Literal[
    "s",
    "ms",
    "s as text",
    "ms as text",
    "iso s",
    "iso ms",
    "isoformat",
    "text",
    "number",
    "list",
    "json",
    "base64",
    "zlib",
    "gzip",
]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"s": timedelta(seconds=1), "ms": timedelta(milliseconds=1)}


@dataclass(frozen=True, init=False)
class StoredAs:
    """The stored form of a field in other programs: ``Annotated[datetime, StoredAs("ms")]``.

    A datetime is stored as seconds or milliseconds since 1970: a number (``"s"``, ``"ms"``) or a string (``"s as
    text"``, ``"ms as text"``); as in JavaScript, ``2026-11-21T09:42:00.000Z`` (``"iso s"``, ``"iso ms"``); as Python's
    ``isoformat()`` in UTC (``"isoformat"``); or in a strftime format in UTC (``layout=``). Instances truncate such a
    datetime to the precision of the stored form, whole seconds or milliseconds.

    ``"text"`` stores a number or bool as a string, ``"number"`` a bool as 1 or 0, ``"list"`` a set, ``"base64"`` bytes,
    ``"json"`` any type as a string. ``"zlib"`` and ``"gzip"`` store a compressed string, compressed bytes or JSON.

    ``write=`` and ``read=`` are a pair of custom functions for values other than None: ``write`` returns a string,
    number, bytes, bool, list or dict, and ``read`` converts it back.
    """

    form: str | None
    layout: str | None
    write: Callable[[Any], Any] | None
    read: Callable[[Any], Any] | None

    @overload
    def __init__(self, form: FormName) -> None: ...
    @overload
    def __init__(self, *, layout: str) -> None: ...
    @overload
    def __init__(self, *, write: Callable[[Any], Any], read: Callable[[Any], Any]) -> None: ...
    def __init__(
        self,
        form: str | None = None,
        *,
        layout: str | None = None,
        write: Callable[[Any], Any] | None = None,
        read: Callable[[Any], Any] | None = None,
    ) -> None:
        check_given(
            "StoredAs",
            form=(form, or_none(is_a(str)), 'the name of a stored form, such as "json"'),
            layout=(layout, or_none(is_a(str)), "a strftime format string"),
            write=(write, or_none(callable), "a function"),
            read=(read, or_none(callable), "a function"),
        )
        object.__setattr__(self, "form", form)
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "write", write)
        object.__setattr__(self, "read", read)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Truncate datetimes to the form's precision, so that an instance equals what is stored."""
        schema = handler(source)
        unit = self.unit
        if unit is None:
            return schema
        return core_schema.no_info_after_validator_function(lambda value: cut(value, unit), schema)

    @property
    def unit(self) -> timedelta | None:
        """The precision of stored datetimes."""
        if self.layout is not None:
            letters = re.findall(r"%(.)", self.layout)
            return None if "f" in letters else timedelta(seconds=1)
        word = (self.form or "").removesuffix(" as text").removeprefix("iso ")
        return _UNITS.get(word)

    def __repr__(self) -> str:
        if self.write is not None:
            return f"StoredAs(write={getattr(self.write, '__name__', 'function')}, read=...)"
        return f"StoredAs({self.form!r})" if self.layout is None else f"StoredAs(layout={self.layout!r})"


def cut(value: Any, unit: timedelta) -> Any:
    """A datetime truncated to a unit; other values unchanged."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value
    rest = (value - _EPOCH) % unit
    return value - rest if rest else value
