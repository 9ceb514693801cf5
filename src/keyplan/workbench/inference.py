"""The template behind a key attribute's sample values: ``ORDER#{order_id}`` from ``ORDER#7``, ``ORDER#8``.

A value is split at ``#``. A part that repeats another attribute of its item is that attribute; a part that is the same
in all items is text; any other part is a field of its own, named for the attribute's alias or for the text before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from keyplan.design.formats import iso_text
from keyplan.design.templates import DELIMITER, unescape

__all__ = ["Column", "Inferred", "free_name", "infer", "is_day", "is_moment", "is_padded", "snake"]

_WORD = re.compile(r"[A-Za-z_.-]*")
_UPPER = re.compile(r"[A-Z][A-Z_.-]*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PADDED_DIGITS_MIN = 4
"""From so many digits of the same number on they count as padded, even where none begins with 0."""
TELLING_CHARACTERS_MIN = 3
"""A shorter value, the same in all items, may equal an attribute by chance."""


@dataclass
class Column:
    """A field's values in the items: None where an item hasn't it. ``tag`` is DynamoDB's type, "" if none has it."""

    name: str
    attribute: str
    tag: str
    values: list[Any]

    @property
    def whole(self) -> bool:
        """Whether each item has it."""
        return None not in self.values

    def within(self, places: Sequence[int]) -> list[Any]:
        """Its values in some of the items."""
        return [self.values[place] for place in places]


@dataclass(frozen=True)
class Inferred:
    """A template, and the columns that it adds to the entity: what no attribute holds."""

    template: str
    added: list[Column] = field(default_factory=list[Column])


def infer(
    attribute: str, kind: str, values: Sequence[str], columns: Sequence[Column], alias: str, *, sorts: bool, whole: bool
) -> Inferred:
    """The template of a key attribute of type ``kind`` (S, N, B) with these values, one an item of ``columns``.

    ``sorts``: it is a sort key. ``whole``: each field must be told from it whole, as in a primary key.
    """
    if kind != "S":
        return _native(attribute, kind, values, columns, whole=whole)
    parts = [value.split(DELIMITER) for value in values]
    if len({len(one) for one in parts}) > 1:
        return _ragged(attribute, parts, columns, alias)
    added: list[Column] = []
    texts: list[str] = []
    sole = len(parts[0]) == 1
    for place in range(len(parts[0])):
        segments = [one[place] for one in parts]
        hints = [snake(one) for one in (alias, *texts[-1:]) if one and not one.startswith("{")]
        found = _text(segments, first=place == 0 and not sole)
        if found is None:
            found = _field(segments, [*columns, *added], hints, sorts=sorts)
        if found is None:
            found = _common(segments, sole=sole)
        if found is None:
            name = _own_name(attribute, alias, texts, [*columns, *added])
            added.append(Column(name, attribute if sole else name, "S", [_plain(one) for one in segments]))
            found = f"{{{name}}}"
        texts.append(found)
    return Inferred(DELIMITER.join(texts), added)


def _native(attribute: str, kind: str, values: Sequence[str], columns: Sequence[Column], *, whole: bool) -> Inferred:
    """A Number or a Binary holds one field as it is; a Number also a moment, without what is below its unit."""
    for column in columns:
        if column.tag == kind and column.values == list(values):
            return Inferred(f"{{{column.name}}}")
    for column in columns:
        if not whole and kind == "N" and column.tag == "S" and all(is_moment(one) for one in column.values):
            moments = [datetime.fromisoformat(one) - _EPOCH for one in column.values]
            for unit, step in (("ms", timedelta(milliseconds=1)), ("s", timedelta(seconds=1))):
                if [str(one // step) for one in moments] == list(values):
                    return Inferred(f"{{{column.name}:{unit}}}")
    name = free_name(snake(attribute), columns)
    return Inferred(f"{{{name}}}", [Column(name, attribute, kind, list(values))])


def _text(segments: list[str], *, first: bool) -> str | None:
    """A part that is text, whatever else equals it: nothing, a word in capitals, a word that others follow."""
    text = segments[0]
    if len(set(segments)) > 1 or not _WORD.fullmatch(text):
        return None
    return text if first or not text or _UPPER.fullmatch(text) else None


def _field(segments: list[str], columns: Sequence[Column], hints: Sequence[str], *, sorts: bool) -> str | None:
    """A part that repeats a column. ``hints`` are words that its name may begin with."""
    telling = len(set(segments)) > 1 or len(segments[0]) >= TELLING_CHARACTERS_MIN
    for column in columns:
        spec = _spec(segments, column, sorts=sorts)
        if spec is not None and (telling or any(column.name.startswith(one) for one in hints)):
            return f"{{{column.name}{':' if spec else ''}{spec}}}"
    return None


def _common(segments: list[str], *, sole: bool) -> str | None:
    """A part that is text since nothing else explains it: a word that several items agree on, or one in small letters
    that is all there is.
    """
    text = segments[0]
    if len(set(segments)) > 1 or not _WORD.fullmatch(text):
        return None
    return text if len(segments) > 1 or (sole and text.islower()) else None


def _spec(segments: list[str], column: Column, *, sorts: bool) -> str | None:
    """The format under which a column's values are the segments; None where they aren't."""
    if not column.whole:
        return None
    if column.tag == "S":
        return "" if [_plain(one) for one in segments] == column.values else None
    if column.tag != "N" or not all(re.fullmatch(r"[0-9]+", one) for one in segments):
        return None
    if [str(int(one)) for one in segments] != column.values:
        return None
    widths = {len(one) for one in segments}
    padded = any(one.startswith("0") and len(one) > 1 for one in segments) or min(widths) >= PADDED_DIGITS_MIN
    if len(widths) == 1 and padded:
        return f"{widths.pop():02d}d"
    return None if sorts else ""


def _ragged(attribute: str, parts: list[list[str]], columns: Sequence[Column], alias: str) -> Inferred:
    """Values of several lengths: the text that all begin with, and a field with any number of parts."""
    head: list[str] = []
    shortest = min(map(len, parts))
    while len(head) < shortest - 1 and len({one[len(head)] for one in parts}) == 1 and parts[0][len(head)]:
        head.append(parts[0][len(head)])
    rest = [[_plain(part) for part in one[len(head) :]] for one in parts]
    for column in columns:
        if column.tag == "L" and column.values == rest:
            return Inferred(DELIMITER.join([*head, f"{{{column.name}}}"]))
    name = _own_name(attribute, alias, head, columns)
    return Inferred(DELIMITER.join([*head, f"{{{name}}}"]), [Column(name, name, "L", list(rest))])


def _own_name(attribute: str, alias: str, before: Sequence[str], columns: Sequence[Column]) -> str:
    """A name for a field that no attribute holds."""
    word = re.fullmatch(r"[A-Za-z_]\w*", alias)
    if word is not None and alias != attribute:
        return free_name(snake(alias), columns)
    texts = [one for one in before if not one.startswith("{")]
    return free_name(f"{snake(texts[-1])}_id" if texts else snake(attribute), columns)


def free_name(name: str, columns: Sequence[Column]) -> str:
    """The name, with a number behind it where it is taken."""
    taken = {column.name for column in columns}
    number = 2
    found = name
    while found in taken:
        found = f"{name}_{number}"
        number += 1
    return found


def snake(text: str) -> str:
    """A text as a name in Python: ``customerId`` is ``customer_id``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text)
    word = re.sub(r"[^0-9A-Za-z]+", "_", spaced).strip("_").lower()
    return word if re.match(r"[a-z]", word) else f"field_{word}".rstrip("_")


def is_padded(spec: str) -> bool:
    """Whether a format is a padded number's: ``08d``, ``08d:desc``."""
    return re.fullmatch(r"0?\d+d(:desc)?", spec) is not None


def is_moment(text: Any) -> bool:
    """Whether a text is a moment as Keyplan stores it: UTC, to the microsecond."""
    if not isinstance(text, str) or not text.endswith("Z"):
        return False
    try:
        return iso_text(datetime.fromisoformat(text)) == text
    except ValueError:
        return False


def is_day(text: Any) -> bool:
    """Whether a text is a day: ``2026-11-21``."""
    try:
        return isinstance(text, str) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _plain(segment: str) -> str:
    """A part of a key as the value that it was: unescaped where it is one of Keyplan's."""
    try:
        return unescape(segment)
    except ValueError:
        return segment
