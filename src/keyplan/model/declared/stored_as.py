"""Stored: the form in which other programs store a field. What is made of it is in ``design/stored/forms.py``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema

from keyplan.model.declared.declaration_errors import check_given, is_a, or_none

__all__ = ["FormName", "StoredAs", "cut"]

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
    """The form in which other programs store a field: ``Annotated[datetime, StoredAs("ms")]``.

    Moments: ``"s"`` and ``"ms"``, the seconds or milliseconds since 1970 as a number (``"s as text"`` and
    ``"ms as text"``: as a text); ``"iso s"`` and ``"iso ms"``, ``2026-11-21T09:42:00.000Z`` as JavaScript writes it;
    ``"isoformat"``, as Python's ``isoformat()`` in UTC; ``layout=``, what strftime makes of it in UTC. Such a field
    holds no more than its form does: a moment is cut to whole seconds, or milliseconds, when the instance is made.

    Numbers and bool: ``"text"``. bool: ``"number"``, 1 or 0. Sets: ``"list"``. bytes: ``"base64"``, a text. Anything:
    ``"json"``, a text; ``"zlib"`` and ``"gzip"``, compressed bytes (of a text, of bytes, of JSON otherwise).

    ``write=`` and ``read=`` are a pair of functions of your own, for values other than None: ``write`` gives a text,
    number, bytes, bool, list or dict, and ``read`` makes the value of it again.
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
            form=(form, or_none(is_a(str)), 'the name of a form, such as "json"'),
            layout=(layout, or_none(is_a(str)), "what strftime takes, a text"),
            write=(write, or_none(callable), "a function"),
            read=(read, or_none(callable), "a function"),
        )
        object.__setattr__(self, "form", form)
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "write", write)
        object.__setattr__(self, "read", read)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Moments are cut to what the form holds, so that an instance is what is stored."""
        schema = handler(source)
        unit = self.unit
        if unit is None:
            return schema
        return core_schema.no_info_after_validator_function(lambda value: cut(value, unit), schema)

    @property
    def unit(self) -> timedelta | None:
        """The unit below which a moment isn't stored."""
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
    """A moment without what is below the unit; another value as it is."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value
    rest = (value - _EPOCH) % unit
    return value - rest if rest else value
