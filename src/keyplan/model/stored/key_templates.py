"""Key templates: ``"AUTHOR#{author_id}"`` as parts, as text for given values, and back from a text.

Escaping makes the texts injective and keeps them in the order of the values: ``#`` ends a value, so inside a value
``#`` is written ``$c``. ``$`` (the character after ``#``) leads an escape, and itself becomes ``$d``; where something
follows the value in its template, every character that sorts before ``#`` is escaped too (``$@`` … ``$b``), since the
end of a value must sort before everything that can continue it. So tuples of values sort as their joined texts do.

A template that is one variable and nothing else (``"{username}"``) holds the bare value: nothing needs telling apart.
Keys that other programs made have no escapes (``styles.py``).
How a single value is written lives in ``formats.py``.
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

__all__ = ["DELIMITER", "Literal_", "Template", "Variable", "escape", "split_template", "unescape"]

DELIMITER = "#"
_LEAD = "$"
_INNER = re.compile("[\x00-$]")
_LAST = re.compile("[#$]")
_ESCAPED = re.compile(r"\$(.?)", re.DOTALL)


def _code(match: re.Match[str]) -> str:
    return _LEAD + chr(ord(match.group()) + 0x40)


def escape(text: str, *, last: bool) -> str:
    """The text with delimiters escaped. ``last``: nothing follows it in its template."""
    pattern = _LAST if last else _INNER
    return pattern.sub(_code, text) if pattern.search(text) else text


def unescape(text: str) -> str:
    """The inverse of :func:`escape`. Raises ValueError for a text that ``escape`` never gives."""
    if _LEAD not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        code = match.group(1)
        if not code or not "@" <= code <= "d":
            raise ValueError(text)
        return chr(ord(code) - 0x40)

    return _ESCAPED.sub(plain, text)


@dataclass(frozen=True, slots=True)
class Literal_:  # noqa: N801 - Literal is typing's
    """Fixed text of a template."""

    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A field in a template, and its format. ``last``: nothing follows it; ``ends``: the text that does."""

    field: str
    format: Format
    last: bool
    bare: bool
    style: KeyStyle = OURS
    ends: str = DELIMITER

    @property
    def folds(self) -> bool:
        """Whether two of its values can have one text, since they differ in their case alone."""
        return self.style.case is not None and self.format.raw

    @property
    def sorts(self) -> bool:
        """Whether items lie in the order of its values: by a text that isn't escaped only where nothing follows."""
        if self.folds or self.is_open:
            return False
        return bool(getattr(self.format, "sorts", True))

    @property
    def is_open(self) -> bool:
        """Whether its values can hold parts of what ends them, since they have no escapes."""
        return self.style.raw and self.format.raw and not self.last

    def folded(self, value: Any) -> str:
        """The value in the letters of the key, without escapes. Raises KeyFieldError."""
        return self.style.fold(self.format.write(value))

    def text(self, value: Any) -> str:
        """The value as it stands in the key. Raises KeyFieldError."""
        if isinstance(self.format, PartsFormat):
            return self._parts(value)
        plain = self.format.write(value)
        if self.style.case is not None:
            plain = self.style.fold(plain)
        if plain == "":
            raise KeyFieldError("is empty, and a key can't hold an empty value", hint="give it a value")
        if self.bare or self.style.raw or not self.format.raw:
            return plain
        return escape(plain, last=self.last)

    def is_ambiguous(self, value: Any) -> bool:
        """Whether the value's text holds what ends it, so that where it ends can't be told."""
        if not self.is_open:
            return False
        text = self.text(value)
        return (text + self.ends).find(self.ends) != len(text)

    def _parts(self, value: Any) -> str:
        if not value or any(part == "" for part in value):
            raise KeyFieldError("is empty or has an empty part", hint="give every part a value")
        return DELIMITER.join(escape(part, last=False) for part in value)

    def prefix_text(self, value: str) -> str:
        """The start that the texts of all values beginning with ``value`` have in common."""
        folded = self.style.fold(value)
        return folded if self.bare or self.style.raw else escape(folded, last=self.last)

    def value(self, text: str) -> Any:
        """The value of a text in a key. Raises ValueError when the text isn't one of ours."""
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
        """A regular expression of the texts in a key."""
        if not self.format.raw and self.style.case is not None:
            return f"(?i:{self.format.pattern})"
        if self.bare or not self.format.raw:
            return self.format.pattern
        if self.style.raw:
            return ".+" if self.last else ".+?"
        return ".+" if isinstance(self.format, PartsFormat) else f"[^{DELIMITER}]+"


@dataclass(frozen=True)
class Template:
    """A parsed template with its formats. ``source`` is the text it was declared with."""

    source: str
    parts: tuple[Literal_ | Variable, ...]
    attribute_type: str = "S"

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in order."""
        return tuple(part for part in self.parts if isinstance(part, Variable))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields that the variables name, each once."""
        return tuple(dict.fromkeys(variable.field for variable in self.variables))

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The shape of the template's texts (a quick look: whether the values can be read is not told by it)."""
        text = "".join(
            re.escape(part.text) if isinstance(part, Literal_) else f"({part.pattern})" for part in self.parts
        )
        return re.compile(text, re.DOTALL)

    @cached_property
    def exact(self) -> bool:
        """Whether every variable can be read back whole from the text."""
        return all(variable.format.exact for variable in self.variables)

    @cached_property
    def _quick(self) -> tuple[str, str] | None:
        """The fixed start and the field of a template that ends in its one text, or (its text, "") of a fixed one."""
        if not self.variables:
            return self.source, ""
        *start, last = self.parts
        if len(self.variables) > 1 or not isinstance(last, Variable) or not isinstance(last.format, TextFormat):
            return None
        if last.style is not OURS:
            return None
        return "".join(part.text for part in start if isinstance(part, Literal_)), last.field

    def text(self, values: Mapping[str, Any]) -> str:
        """The key text for these field values. Raises KeyFieldError, with the field as its place."""
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
                raise KeyFieldError("is None, and a key can't hold that", place=part.field, hint="give it a value")
            try:
                out.append(part.text(value))
            except KeyFieldError as error:
                raise KeyFieldError(error.message, place=part.field, hint=error.hint) from None
        return "".join(out)

    @cached_property
    def _longest(self) -> re.Pattern[str]:
        """As ``regex``, but values that aren't escaped are as long as can be."""
        return re.compile(self.regex.pattern.replace("(.+?)", "(.+)"), re.DOTALL)

    def values(self, text: str) -> dict[str, Any] | None:
        """The field values in a key text, or None when the text isn't of this template, or could be of several."""
        match = self.regex.fullmatch(text)
        if match is None:
            return None
        longest = self._longest.fullmatch(text)
        if longest is None or longest.groups() != match.groups():
            return None
        result: dict[str, Any] = {}
        for variable, piece in zip(self.variables, match.groups(), strict=True):
            if variable.style.case is not None:
                continue  # its letters can't be told from the key
            try:
                value = variable.value(piece)
            except (ValueError, OverflowError):
                return None
            if variable.format.exact and result.setdefault(variable.field, value) != value:
                return None
        return result

    def ambiguous(self, values: Mapping[str, Any]) -> str | None:
        """The first field whose value holds the text that ends it; None where all can be told apart."""
        return next(
            (variable.field for variable in self.variables if variable.is_ambiguous(values[variable.field])), None
        )

    def __str__(self) -> str:
        return self.source


def split_template(source: str, *, raw: bool = False) -> list[str | tuple[str, str]]:
    """The template's pieces: literal texts, and (field, format spec) pairs. Raises Problem for a malformed one.

    ``raw``: any text ends a value.
    """
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
            raise Problem(
                f"{{{before[0]}}} is followed by {after!r}: where one value ends and the next begins could not be told",
                f"put {DELIMITER!r} behind it"
                + (
                    "" if isinstance(after, tuple) else "; or say KeyStyle(raw=True), for keys that other programs made"
                ),
            )
    return pieces
