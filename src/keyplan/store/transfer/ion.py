"""Amazon Ion's text, as far as items need it: read to attribute values, and written from them.

By "DynamoDB table export output format" and "Amazon S3 import formats" of the developer guide: a String is a string,
a Number a decimal, a Binary a blob, a Map a struct, and a set a list annotated ``$dynamodb_SS``, ``$dynamodb_NS`` or
``$dynamodb_BS``. Ion's specification gives the rest: comments, long strings, quoted symbols, nulls with a type.
Timestamps and clobs are values that no item has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

MARKER = "$ion_1_0"
DEPTH_MAX = 64
"""Deeper text isn't read: an item has 32 levels at most, and its record some more."""

_SETS = {"$dynamodb_SS": "SS", "$dynamodb_NS": "NS", "$dynamodb_BS": "BS"}
_ANNOTATIONS = {tag: annotation for annotation, tag in _SETS.items()}

_SPACE = re.compile(r"(?:[\s\x0b\x0c]+|//[^\n]*|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*)(?:\.[\d_]*)?(?:[dDeE][-+]?\d+)?")
_BLOB = re.compile(r"\{\{\s*([A-Za-z0-9+/=\s]*)\}\}")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(("null", "true", "false", "nan"))
_STRING = re.compile(r'"((?:[^"\\\n]++|\\.)*+)"', re.DOTALL)
_SYMBOL = re.compile(r"'((?:[^'\\\n]++|\\.)*+)'", re.DOTALL)
_LONG = re.compile(r"'''((?:[^'\\]++|\\.|'(?!''))*+)'''", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r?\n)|(.))", re.DOTALL)
_ESCAPED = {"0": "\0", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

_SIGN = re.compile(r"\{\{|'''|//|/\*|[\"'{}\[\]]")
"""What begins something in which brackets are no brackets, or a bracket."""
_INSIDE = {
    "{{": (re.compile(r"[^}]*+"), "}}"),
    "'''": (re.compile(r"(?:[^'\\]++|\\.|'(?!''))*+", re.DOTALL), "'''"),
    '"': (re.compile(r'(?:[^"\\\n]++|\\.)*+', re.DOTALL), '"'),
    "'": (re.compile(r"(?:[^'\\\n]++|\\.)*+", re.DOTALL), "'"),
    "//": (re.compile(r"[^\n]*+"), "\n"),
    "/*": (re.compile(r"(?:[^*]++|\*(?!/))*+", re.DOTALL), "*/"),
}
"""What goes on in there, and what ends it."""

Value = dict[str, Any]


class IonError(ValueError):
    """Text that isn't Ion, or holds what no item can."""


class IonEndError(IonError):
    """Text that ends within a value: more lines may make it whole."""


# --- reading ----------------------------------------------------------------------------------------------


def read_struct(text: str) -> dict[str, Value]:
    """The fields of the one struct in a text, after an optional version marker.

    Raises:
        IonEndError: the text ends within it.
        IonError: it is something else.
    """
    reader = _Reader(text)
    reader.skip()
    if text.startswith(MARKER, reader.place):
        reader.place += len(MARKER)
        reader.skip()
    if reader.at_end():
        raise IonEndError("there is no value")
    value = reader.value(0)
    reader.skip()
    if not reader.at_end():
        raise IonError(f"there is more behind the value, at character {reader.place}")
    if "M" not in value:
        raise IonError("an item is a struct")
    fields: dict[str, Value] = value["M"]
    return fields


class Brackets:
    """Follows the brackets of a value through its lines, each of which is looked at once."""

    def __init__(self) -> None:
        self._depth = 0
        self._inside = ""
        """What was begun and not ended: a string, a blob, a comment."""

    def may_end(self, line: str) -> bool:
        """Whether the value may be whole with this line, or can't be any more."""
        place = 0
        closes = False
        while place < len(line):
            if self._inside:
                text, end = _INSIDE[self._inside]
                match = text.match(line, place)
                place = place if match is None else match.end()
                if place >= len(line):
                    break
                if not line.startswith(end, place):
                    return True  # a string with an end of line in it: the reader says so
                place += len(end)
                self._inside = ""
            sign = _SIGN.search(line, place)
            if sign is None:
                break
            place = sign.end()
            if sign[0] in _INSIDE:
                self._inside = sign[0]
            elif sign[0] in "[{":
                self._depth += 1
            else:
                self._depth -= 1
                closes = closes or self._depth <= 0
        return closes


def is_blank(text: str) -> bool:
    """Whether a text has nothing but space, comments and the version marker."""
    reader = _Reader(text)
    reader.skip()
    if text.startswith(MARKER, reader.place):
        reader.place += len(MARKER)
        reader.skip()
    return reader.at_end()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.place = 0

    def at_end(self) -> bool:
        return self.place >= len(self._text)

    def skip(self) -> None:
        """Go past space and comments."""
        match = _SPACE.match(self._text, self.place)
        if match is not None:
            self.place = match.end()

    def value(self, depth: int) -> Value:
        if depth > DEPTH_MAX:
            raise IonError(f"values nest deeper than {DEPTH_MAX} levels")
        self.skip()
        if self.at_end():
            raise IonEndError("a value is missing")
        sign = self._text[self.place]
        if sign == "{":
            blob = self._found(_BLOB)
            if blob is not None:
                return {"B": re.sub(r"\s", "", blob[1])}
            return {"M": self._struct(depth)}
        if sign == "[":
            return {"L": self._list(depth)}
        if sign == '"':
            return {"S": self._string()}
        if self._text.startswith("'''", self.place):
            return {"S": self._long_string()}
        if sign.isdigit() or sign in "-+":
            return self._number()
        return self._word(depth)

    def _found(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self.place)
        if match is not None:
            self.place = match.end()
        return match

    def _string(self) -> str:
        match = self._found(_STRING)
        if match is None:
            raise self._broken("a string")
        return _unescaped(match[1])

    def _long_string(self) -> str:
        parts: list[str] = []
        while self._text.startswith("'''", self.place):
            match = self._found(_LONG)
            if match is None:
                raise self._broken("a string")
            parts.append(_unescaped(match[1]))
            self.skip()
        return "".join(parts)

    def _number(self) -> Value:
        match = self._found(_NUMBER)
        if match is None:
            raise IonError(f"a number was expected at character {self.place}")
        text = match[0].replace("_", "").lower().replace("d", "e")
        following = self._text[self.place : self.place + 1]
        if following.isalnum() or following in {"-", ":", "_"}:
            raise IonError(f"what begins as a number at character {match.start()} is none")
        try:
            Decimal(text)
        except InvalidOperation:
            raise IonError(f"{match[0]} is not a number") from None
        return {"N": text.replace(".e", "e").rstrip(".")}

    def _word(self, depth: int) -> Value:
        """A keyword, or an annotation and the value behind it."""
        start = self.place
        if self._text[start] == "'":
            name = self._symbol()
        else:
            match = self._found(_WORD)
            if match is None:
                raise IonError(f"a value was expected at character {start}")
            name = match[0]
        self.skip()
        if self._text.startswith("::", self.place):
            self.place += 2
            return self._annotated(name, depth)
        if name in {"true", "false"}:
            return {"BOOL": name == "true"}
        if name == "null":
            if self._text.startswith(".", self.place):
                self.place += 1
                if self._found(_WORD) is None:
                    raise IonError(f"a type was expected at character {self.place}")
            return {"NULL": True}
        if self.at_end():
            raise IonEndError("a value is missing")
        raise IonError(f"{name} at character {start} is no value of an item")

    def _annotated(self, name: str, depth: int) -> Value:
        value = self.value(depth + 1)
        tag = _SETS.get(name)
        if tag is None:
            raise IonError(f"the annotation {name} is not known")
        members = value.get("L")
        if members is None:
            raise IonError(f"{name} is a list")
        scalar = tag[0]
        if any(scalar not in member for member in members):
            raise IonError(f"{name} has members of another type")
        return {tag: [member[scalar] for member in members]}

    def _symbol(self) -> str:
        match = self._found(_SYMBOL)
        if match is None:
            raise self._broken("a symbol")
        return _unescaped(match[1])

    def _broken(self, what: str) -> IonError:
        """The fault of a text that isn't closed: on this line, or at all."""
        if "\n" in self._text[self.place :] and not self._text.startswith("'''", self.place):
            return IonError(f"{what} isn't closed at character {self.place}")
        return IonEndError(f"{what} isn't closed at character {self.place}")

    def _list(self, depth: int) -> list[Value]:
        self.place += 1
        members: list[Value] = []
        while not self._closes("]"):
            members.append(self.value(depth + 1))
            self._separates("]")
        return members

    def _struct(self, depth: int) -> dict[str, Value]:
        self.place += 1
        fields: dict[str, Value] = {}
        while not self._closes("}"):
            name = self._field_name()
            self.skip()
            if not self._text.startswith(":", self.place):
                raise IonEndError("a field isn't whole") if self.at_end() else IonError(f"no colon behind {name}")
            self.place += 1
            if name in fields:
                raise IonError(f"the field {name} stands twice")
            fields[name] = self.value(depth + 1)
            self._separates("}")
        return fields

    def _field_name(self) -> str:
        if self._text.startswith("'''", self.place):
            return self._long_string()
        if self._text[self.place] == "'":
            return self._symbol()
        if self._text[self.place] == '"':
            return self._string()
        match = self._found(_WORD)
        if match is None:
            raise IonError(f"a field's name was expected at character {self.place}")
        return match[0]

    def _closes(self, sign: str) -> bool:
        self.skip()
        if self.at_end():
            raise IonEndError(f"{sign} is missing")
        if self._text[self.place] != sign:
            return False
        self.place += 1
        return True

    def _separates(self, end: str) -> None:
        """Go past a comma, or up to the end of the container."""
        self.skip()
        if self.at_end():
            raise IonEndError(f"{end} is missing")
        if self._text[self.place] == ",":
            self.place += 1
        elif self._text[self.place] != end:
            raise IonError(f"a comma or {end} was expected at character {self.place}")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_unescape, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is not None:
        number = int(digits, 16)
        if number > 0x10FFFF:
            raise IonError(f"there is no character {digits}")
        return chr(number)
    if match[4] is not None:
        return ""
    return _ESCAPED.get(match[5], match[5])


# --- writing ----------------------------------------------------------------------------------------------


def write_struct(fields: Mapping[str, Value]) -> str:
    """A struct on one line, behind the version marker."""
    return f"{MARKER} {_struct(fields)}"


def _struct(fields: Mapping[str, Value]) -> str:
    return "{" + ",".join(f"{_name(name)}:{_value(value)}" for name, value in fields.items()) + "}"


def _name(name: str) -> str:
    if _PLAIN.fullmatch(name) and name not in _KEYWORDS:
        return name
    return "'" + _escaped(name, "'") + "'"


def _value(value: Value) -> str:
    ((tag, content),) = value.items()
    match tag:
        case "S":
            return f'"{_escaped(content, chr(34))}"'
        case "N":
            return _decimal(content)
        case "B":
            return f"{{{{{content}}}}}"
        case "BOOL":
            return "true" if content else "false"
        case "NULL":
            return "null"
        case "L":
            return "[" + ",".join(map(_value, content)) + "]"
        case "M":
            return _struct(content)
        case _:
            members = ",".join(_value({tag[0]: member}) for member in content)
            return f"{_ANNOTATIONS[tag]}::[{members}]"


def _decimal(text: str) -> str:
    """A decimal: with a point, so that it isn't an integer, or with an exponent."""
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    if exponent == 0:
        return f"{number}."
    if isinstance(exponent, int) and -20 < exponent < 0:
        return f"{number:f}"
    digits = "".join(map(str, number.as_tuple().digits))
    return f"{'-' if number.is_signed() else ''}{digits}d{exponent}"


def _escaped(text: str, quote: str) -> str:
    if text.isprintable() and "\\" not in text and quote not in text:
        return text
    parts: list[str] = []
    for sign in text:
        if sign in {"\\", quote}:
            parts.append("\\" + sign)
        elif sign.isprintable() or ord(sign) > 0xFF:
            parts.append(sign)
        else:
            parts.append(f"\\x{ord(sign):02x}")
    return "".join(parts)
