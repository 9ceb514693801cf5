"""Key templates: ``"AUTHOR#{author_id}"`` is parsed into parts, which write values as strings and read them back.

Escaped strings are different for different values, and sort like the values. ``#`` ends a value, so ``#`` in a value is
written as ``$c``. ``$`` (the character after ``#``) starts an escape, so ``$`` in a value is written as ``$d``. If the
template continues after the value, every character before ``#`` is escaped, too (``$@`` … ``$b``), because the end of
a value must sort before any continuation of it. Therefore, joined strings sort like the tuples of their values.

A template of only one variable (``"{username}"``) contains the unescaped value, because it needs no delimiter. Keys of
other programs aren't escaped (``KeyStyle``). ``key_formats`` writes single values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from keyplan.errors import KeyFieldError
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.keys import OURS, KeyStyle
from keyplan.model.stored.key_formats import Format, PartsFormat, TextFormat

DELIMITER = "#"
_LEAD = "$"
_INNER = re.compile("[\x00-$]")
_LAST = re.compile("[#$]")
_ESCAPED = re.compile(r"\$(.?)", re.DOTALL)


def _code(match: re.Match[str]) -> str:
    return _LEAD + chr(ord(match.group()) + 0x40)


def escape(text: str, *, last: bool) -> str:
    """The string with escaped delimiters. ``last``: whether the string is at the end of its template."""
    pattern = _LAST if last else _INNER
    return pattern.sub(_code, text) if pattern.search(text) else text


def unescape(text: str) -> str:
    if _LEAD not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        code = match.group(1)
        if not code or not "@" <= code <= "d":
            raise ValueError(text)
        return chr(ord(code) - 0x40)

    return _ESCAPED.sub(plain, text)


@dataclass(frozen=True, slots=True)
class Literal_:  # noqa: N801 - to distinguish it from typing.Literal
    """A constant string in a template."""

    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A field in a template, with its format. ``last``: no part follows it; ``ends``: the string after the field."""

    field: str
    format: Format
    last: bool
    bare: bool
    style: KeyStyle = OURS
    ends: str = DELIMITER

    @property
    def folds(self) -> bool:
        """Whether values that differ only in case can have the same string."""
        return self.style.case is not None and self.format.raw

    @property
    def sorts(self) -> bool:
        """Whether items sort by the field's values. Unescaped strings sort only at the end of a template."""
        if self.folds or self.is_open:
            return False
        return bool(getattr(self.format, "sorts", True))

    @property
    def is_open(self) -> bool:
        """Whether values are unescaped, so that a value can contain the string that follows it."""
        return self.style.raw and self.format.raw and not self.last

    def folded(self, value: Any) -> str:
        return self.style.fold(self.format.write(value))

    def text(self, value: Any) -> str:
        if isinstance(self.format, PartsFormat):
            return self._parts(value)
        plain = self.format.write(value)
        if self.style.case is not None:
            plain = self.style.fold(plain)
        if plain == "":
            raise KeyFieldError("the value is empty, and key values can't be empty", hint="set a value")
        if self.bare or self.style.raw or not self.format.raw:
            return plain
        return escape(plain, last=self.last)

    def is_ambiguous(self, value: Any) -> bool:
        """Whether the value contains the string that follows it, so that the end of the value is ambiguous."""
        if not self.is_open:
            return False
        text = self.text(value)
        return (text + self.ends).find(self.ends) != len(text)

    def _parts(self, value: Any) -> str:
        if not value or any(part == "" for part in value):
            raise KeyFieldError("the value is empty or has an empty part", hint="give every part a value")
        return DELIMITER.join(escape(part, last=False) for part in value)

    def prefix_text(self, value: str) -> str:
        """The common prefix of the strings of all values that start with ``value``."""
        folded = self.style.fold(value)
        return folded if self.bare or self.style.raw else escape(folded, last=self.last)

    def value(self, text: str) -> Any:
        if isinstance(self.format, PartsFormat):
            return tuple(unescape(part) for part in text.split(DELIMITER))
        if self.bare or self.style.raw or not self.format.raw:
            return self.format.read(text)
        plain = unescape(text)
        if escape(plain, last=self.last) != text:
            raise ValueError(text)
        return self.format.read(plain)

    @property
    def pattern(self) -> str:
        if not self.format.raw and self.style.case is not None:
            return f"(?i:{self.format.pattern})"
        if self.bare or not self.format.raw:
            return self.format.pattern
        if self.style.raw:
            return ".+" if self.last else ".+?"
        return ".+" if isinstance(self.format, PartsFormat) else f"[^{DELIMITER}]+"


@dataclass(frozen=True)
class Template:
    """A parsed template with its formats. ``source`` is the declared string."""

    source: str
    parts: tuple[Literal_ | Variable, ...]
    attribute_type: str = "S"

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(part for part in self.parts if isinstance(part, Variable))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(variable.field for variable in self.variables))

    @cached_property
    def regex(self) -> re.Pattern[str]:
        text = "".join(
            re.escape(part.text) if isinstance(part, Literal_) else f"({part.pattern})" for part in self.parts
        )
        return re.compile(text, re.DOTALL)

    @cached_property
    def exact(self) -> bool:
        return all(variable.format.exact for variable in self.variables)

    @cached_property
    def _quick(self) -> tuple[str, str] | None:
        """The prefix and the field of a template that ends in its only string variable, or (string, "")."""
        if not self.variables:
            return self.source, ""
        *start, last = self.parts
        if len(self.variables) > 1 or not isinstance(last, Variable) or not isinstance(last.format, TextFormat):
            return None
        if last.style is not OURS:
            return None
        return "".join(part.text for part in start if isinstance(part, Literal_)), last.field

    def text(self, values: Mapping[str, Any]) -> str:
        if self._quick is not None:
            start, field = self._quick
            if not field:
                return start
            value = values[field]
            if value.__class__ is str and value and not _LAST.search(value):
                return start + value
        out: list[str] = []
        for part in self.parts:
            if isinstance(part, Literal_):
                out.append(part.text)
                continue
            value = values[part.field]
            if value is None:
                raise KeyFieldError("the value is None, which keys can't contain", place=part.field, hint="set a value")
            try:
                out.append(part.text(value))
            except KeyFieldError as error:
                raise KeyFieldError(error.message, place=part.field, hint=error.hint) from None
        return "".join(out)

    @cached_property
    def _longest(self) -> re.Pattern[str]:
        """Like ``regex``, but with unescaped values as long as possible."""
        return re.compile(self.regex.pattern.replace("(.+?)", "(.+)"), re.DOTALL)

    def values(self, text: str) -> dict[str, Any] | None:
        """The field values of a key string; None if the string doesn't match the template, or is ambiguous."""
        match = self.regex.fullmatch(text)
        if match is None:
            return None
        longest = self._longest.fullmatch(text)
        if longest is None or longest.groups() != match.groups():
            return None
        result: dict[str, Any] = {}
        for variable, piece in zip(self.variables, match.groups(), strict=True):
            if variable.style.case is not None:
                continue  # the key doesn't contain the value's original case
            try:
                value = variable.value(piece)
            except (ValueError, OverflowError):
                return None
            if variable.format.exact and result.setdefault(variable.field, value) != value:
                return None
        return result

    def ambiguous(self, values: Mapping[str, Any]) -> str | None:
        """The first field whose value contains the string that follows it; None if all values are unambiguous."""
        return next(
            (variable.field for variable in self.variables if variable.is_ambiguous(values[variable.field])), None
        )

    def __str__(self) -> str:
        return self.source


def split_template(source: str, *, raw: bool = False) -> list[str | tuple[str, str]]:
    """The constant strings and (field, format) pairs. ``raw``: any string can follow a value. Raises Problem."""
    pieces: list[str | tuple[str, str]] = []
    position = 0
    for match in re.finditer(r"\{([^{}]*)\}", source):
        literal = source[position : match.start()]
        if literal:
            pieces.append(literal)
        name, _, spec = match.group(1).partition(":")
        if not name.isidentifier():
            raise Problem(f"{{{match.group(1)}}} doesn't name a field")
        pieces.append((name, spec))
        position = match.end()
    if source[position:]:
        pieces.append(source[position:])
    if any("{" in piece or "}" in piece for piece in pieces if isinstance(piece, str)):
        raise Problem(f"the braces of {source!r} don't match")
    if not pieces:
        raise Problem("the template is empty")
    for before, after in pairwise(pieces):
        if isinstance(before, tuple) and (isinstance(after, tuple) or not (raw or after.startswith(DELIMITER))):
            follows = f"{{{after[0]}}}" if isinstance(after, tuple) else repr(after)
            also = "" if isinstance(after, tuple) else ", or use KeyStyle(raw=True) for keys that other programs create"
            raise Problem(
                f"{{{before[0]}}} is followed by {follows}, so the end of its value is ambiguous",
                f"put {DELIMITER!r} after {{{before[0]}}}{also}",
            )
    return pieces
