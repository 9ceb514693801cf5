"""StoredAs: the stored form of a field in other programs. ``keyplan.model.stored.stored_forms`` implements it."""

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

    Datetimes: ``"s"`` and ``"ms"``, seconds or milliseconds since 1970 as a number (``"s as text"`` and ``"ms as
    text"``: as a string); ``"iso s"`` and ``"iso ms"``, ``2026-11-21T09:42:00.000Z`` as in JavaScript; ``"isoformat"``,
    Python's ``isoformat()`` in UTC; ``layout=``, a strftime format in UTC. Such a field has only the precision of its
    form: instances truncate a datetime to whole seconds or milliseconds.

    Numbers and bool: ``"text"``. bool: ``"number"``, 1 or 0. Sets: ``"list"``. bytes: ``"base64"``, a string. Any type:
    ``"json"``, a string; ``"zlib"`` and ``"gzip"``, compressed bytes (of a string, of bytes, otherwise of JSON).

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
