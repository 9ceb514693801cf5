"""Formats of field values in keys, for writing and reading: one class per format.

Different values must have different strings, which must sort like the values. ``key_templates`` escapes strings.
"""

# Fields of frozen dataclasses implement properties of their base class:
# pyright: reportIncompatibleMethodOverride=false
from __future__ import annotations

import base64
import enum
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar
from uuid import UUID

from keyplan.dynamodb.values import NumberError, canonical
from keyplan.errors import KeyFieldError
from keyplan.model.declared.declaration_errors import Problem

ISO = "%Y-%m-%dT%H:%M:%S.%fZ"
_DAY = "%Y-%m-%d"
_NINES = str.maketrans("0123456789", "9876543210")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Format(ABC):
    """The format of a field's values in a key."""

    descending: bool = field(default=False, kw_only=True)
    """Whether the strings sort in reverse order of the values."""

    @property
    def raw(self) -> bool:
        """Whether the strings of the format need escaping."""
        return False

    @property
    def exact(self) -> bool:
        """Whether a string determines its value completely."""
        return True

    @property
    def whole(self) -> bool:
        """Whether different values always have different strings."""
        return True

    @property
    @abstractmethod
    def pattern(self) -> str:
        """A regular expression for the strings (before escaping)."""

    @abstractmethod
    def write(self, value: Any) -> str:
        """The string of a value. Raises KeyFieldError for a value outside the format's range."""

    @abstractmethod
    def read(self, text: str) -> Any:
        """The value of a string from ``write``. Raises ValueError for any other string."""

    def _turned(self, text: str) -> str:
        """The string with its digits reversed if the format is descending; its own inverse."""
        return text.translate(_NINES) if self.descending else text


@dataclass(frozen=True)
class TextFormat(Format):
    """Strings, and types whose values have unique strings: str, Literal, Enum, UUID."""

    to_text: Callable[[Any], str]
    raw: bool = True
    pattern: str = ".+"

    def write(self, value: Any) -> str:
        return self.to_text(value)

    def read(self, text: str) -> Any:
        return text


@dataclass(frozen=True)
class PartsFormat(Format):
    """A tuple of strings, joined by delimiters. The tuple must be the last part of its template."""

    raw: bool = True
    pattern: str = ".+"

    def write(self, value: Any) -> str:  # pragma: no cover - templates join the parts themselves
        raise NotImplementedError

    def read(self, text: str) -> Any:  # pragma: no cover - templates split the parts themselves
        raise NotImplementedError


@dataclass(frozen=True)
class IntegerFormat(Format):
    """An integer: plain (unsortable, for equality only), or padded to ``width`` digits, optionally reversed."""

    width: int | None = None

    @property
    def sorts(self) -> bool:
        return self.width is not None

    @property
    def pattern(self) -> str:
        return rf"[0-9]{{{self.width}}}" if self.width else r"-?[0-9]+"

    def write(self, value: Any) -> str:
        value = getattr(value, "value", value)  # an enum's value
        if self.width is None:
            return str(int(value))
        if value < 0:
            raise KeyFieldError(f"{value} is negative, which a padded number doesn't support")
        text = f"{value:0{self.width}d}"
        if len(text) > self.width:
            raise KeyFieldError(f"{value} has more than {self.width} digits, the width of the key format")
        return self._turned(text)

    def read(self, text: str) -> int:
        if self.width is not None and len(text) != self.width:
            raise ValueError(text)
        value = int(self._turned(text))
        if self.width is None and str(value) != text:
            raise ValueError(text)
        return value


def as_utc(value: datetime) -> datetime:
    """The datetime in UTC. A datetime without a time zone is rejected, because it is ambiguous."""
    if value.tzinfo is None:
        raise KeyFieldError(f"{value.isoformat()} has no time zone", hint="use datetime.now(UTC), or keyplan.now()")
    try:
        return value if value.tzinfo is UTC else value.astimezone(UTC)
    except OverflowError:
        raise KeyFieldError(
            f"{value.isoformat()} is outside the supported years in UTC",
            hint="pass a timestamp between the years 1 and 9999 in UTC",
        ) from None


def iso_text(value: datetime) -> str:
    """A datetime as a fixed-width string in UTC with microseconds: ``2026-11-21T09:42:00.000000Z``."""
    moment = as_utc(value)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


@dataclass(frozen=True)
class _CalendarFormat(Format):
    """A time or date in fixed width, by strftime fields."""

    layout: str
    needed: ClassVar[frozenset[str]]
    """The fields that determine the value completely."""

    @property
    def letters(self) -> tuple[str, ...]:
        return letters_of(self.layout)

    @property
    def exact(self) -> bool:
        return self.needed <= set(self.letters)

    @property
    def whole(self) -> bool:
        return self.exact

    @property
    def pattern(self) -> str:
        return pattern_of(self.layout)

    def _write(self, value: date) -> str:
        text = value.strftime(self.layout.replace("%Y", f"{value.year:04d}"))  # strftime doesn't pad years below 1000
        return self._turned(text)

    def _read(self, text: str) -> datetime:
        plain = self._turned(text)
        result = datetime.strptime(plain, self.layout).replace(tzinfo=UTC)
        if self._write(result) != text:
            raise ValueError(text)
        return result


@dataclass(frozen=True)
class TimeFormat(_CalendarFormat):
    """A datetime in UTC, in fixed width: ISO 8601 with microseconds, or the given strftime fields."""

    layout: str = ISO
    needed: ClassVar[frozenset[str]] = frozenset("YmdHMSf")

    def write(self, value: Any) -> str:
        if self.layout is not ISO:
            return self._write(as_utc(value))
        text = iso_text(value)
        return self._turned(text)

    def read(self, text: str) -> Any:
        return self._read(text)


@dataclass(frozen=True)
class DateFormat(_CalendarFormat):
    """A date: ``2026-11-21``, or the given strftime fields."""

    layout: str = _DAY
    needed: ClassVar[frozenset[str]] = frozenset("Ymd")

    def write(self, value: Any) -> str:
        return self._write(value)

    def read(self, text: str) -> date:
        return self._read(text).date()


@dataclass(frozen=True)
class RankFormat(Format):
    """A type with few values: each is stored as its rank in declaration order."""

    ranks: tuple[Any, ...]

    @property
    def _width(self) -> int:
        return len(str(len(self.ranks) - 1))

    @property
    def pattern(self) -> str:
        return rf"[0-9]{{{self._width}}}"

    def rank(self, value: Any) -> int:
        return self.ranks.index(value)

    def write(self, value: Any) -> str:
        if value not in self.ranks:
            raise KeyFieldError(f"{value!r} isn't one of {', '.join(map(repr, self.ranks))}")
        text = f"{self.rank(value):0{self._width}d}"
        return self._turned(text)

    def read(self, text: str) -> Any:
        number = int(self._turned(text))
        if number >= len(self.ranks):
            raise ValueError(text)
        return self.ranks[number]


@dataclass(frozen=True)
class DayTimeFormat(Format):
    """A time of day without a time zone, with microseconds: ``09:42:00.000000``."""

    pattern: str = r"[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}"

    def write(self, value: Any) -> str:
        if value.tzinfo is not None:
            raise KeyFieldError(
                f"{value.isoformat()} has a time zone, and times in different time zones don't sort as strings",
                hint="pass a time without a time zone, or a datetime",
            )
        text = str(value.isoformat(timespec="microseconds"))
        return self._turned(text)

    def read(self, text: str) -> time:
        return time.fromisoformat(self._turned(text))


@dataclass(frozen=True)
class DurationFormat(Format):
    """A nonnegative duration, as microseconds in fixed width."""

    pattern: str = r"[0-9]{20}"

    def write(self, value: Any) -> str:
        if value < timedelta():
            raise KeyFieldError(f"{value} is negative, which a padded duration doesn't support")
        text = f"{value // timedelta(microseconds=1):020d}"
        return self._turned(text)

    def read(self, text: str) -> timedelta:
        return timedelta(microseconds=int(self._turned(text)))


@dataclass(frozen=True)
class SecondsFormat(Format):
    """A native Number attribute with a duration: seconds, whole milliseconds, or whole seconds."""

    unit: str | None = None
    pattern: str = r"-?[0-9.Ee+-]+"

    @property
    def whole(self) -> bool:
        """Whether the format keeps durations without truncating them to a unit."""
        return self.unit is None

    def write(self, value: Any) -> str:
        if self.unit is None:
            return canonical(str(Decimal(value // timedelta(microseconds=1)).scaleb(-6)))
        return str(value // timedelta(milliseconds=1 if self.unit == "ms" else 1000))

    def read(self, text: str) -> timedelta:
        microseconds = Decimal(text) * {None: 10**6, "ms": 1000, "s": 10**6}[self.unit]
        return timedelta(microseconds=int(microseconds))


@dataclass(frozen=True)
class NumberFormat(Format):
    """A native Number attribute: a number, or a datetime as milliseconds or seconds since 1970."""

    unit: str | None = None
    pattern: str = r"-?[0-9.Ee+]+"

    @property
    def whole(self) -> bool:
        """Whether the format keeps datetimes without truncating them to a unit."""
        return self.unit is None

    def write(self, value: Any) -> str:
        if self.unit is None:
            value = getattr(value, "value", value)  # an enum's value
            try:
                return canonical(repr(value) if isinstance(value, float) else str(value))
            except NumberError as error:
                raise KeyFieldError(str(error)) from None
        return str((as_utc(value) - _EPOCH) // timedelta(milliseconds=1 if self.unit == "ms" else 1000))

    def read(self, text: str) -> Any:
        if self.unit is None:
            return Decimal(text)
        return datetime.fromtimestamp(int(text) / (1000 if self.unit == "ms" else 1), UTC)


@dataclass(frozen=True)
class StoredFormat(Format):
    """A value in a string key, in the stored form of its attribute (``StoredAs``) or in the form of another program.

    ``unit``: the precision to which datetimes are truncated. ``whole``: whether the field has only that precision, so
    that no item has a more precise value.
    """

    to_text: Callable[[Any], str]
    from_text: Callable[[str], Any]
    pattern: str = ".+"
    unit: timedelta | None = None
    sorts: bool = True
    whole: bool = True
    least: datetime | None = None
    """The minimum."""
    most: datetime | None = None
    """The maximum."""

    @property
    def exact(self) -> bool:
        """Whether a string determines its value completely: truncated values can't be read back."""
        return self.whole

    def write(self, value: Any) -> str:
        """The string of a value. Raises KeyFieldError if a datetime is more precise than the field's unit."""
        if self.unit is None or not isinstance(value, datetime):
            return self.to_text(value)
        floor = self.floor(value)
        if self.whole and floor != value:
            raise KeyFieldError(
                f"{value.isoformat()} is more precise than the stored values, so no item has this value",
                hint="truncate the value to seconds or milliseconds, as StoredAs(...) of the field does",
            )
        return self.to_text(floor)

    def floor(self, value: datetime) -> datetime:
        moment = as_utc(value)
        return moment if self.unit is None else moment - (moment - _EPOCH) % self.unit

    def nearest(self, value: datetime) -> datetime:
        """The last storable datetime up to this datetime; outside the range, the minimum or the maximum."""
        if self.least is not None and as_utc(value) < self.least:
            return self.least
        if self.most is not None and as_utc(value) > self.most:
            return self.most
        return self.floor(value)

    def read(self, text: str) -> Any:
        return self.from_text(text)


def epoch_format(unit: str, *, whole: bool = False) -> StoredFormat:
    """Datetimes as seconds (``s``) or milliseconds (``ms``) since 1970. The width is fixed from 2001 to 2286."""
    step, width = (timedelta(seconds=1), 10) if unit == "s" else (timedelta(milliseconds=1), 13)

    def write(value: Any) -> str:
        text = str((as_utc(value) - _EPOCH) // step)
        if len(text) != width or text.startswith("-"):
            raise KeyFieldError(
                f"{value.isoformat()} in {unit} since 1970 doesn't have {width} digits, so it doesn't sort as a string",
                hint="pass a time from 2001 to 2286",
            )
        return text

    def read(text: str) -> datetime:
        return _EPOCH + int(text) * step

    least, most = _EPOCH + 10 ** (width - 1) * step, _EPOCH + (10**width - 1) * step
    return StoredFormat(write, read, rf"[0-9]{{{width}}}", step, whole=whole, least=least, most=most)


@dataclass(frozen=True)
class BinaryFormat(Format):
    """A native Binary attribute; its string is base64, as in DynamoDB JSON."""

    pattern: str = r"[A-Za-z0-9+/=]+"

    def write(self, value: Any) -> str:
        return base64.b64encode(value).decode("ascii")

    def read(self, text: str) -> bytes:
        return base64.b64decode(text)


def format_for(kind: Any, spec: str, *, attribute_type: str, sorts: bool, ranks: tuple[Any, ...] = ()) -> Format:
    """The format of a field of type ``kind`` with ``spec`` (after the colon in ``{field:spec}``).

    ``attribute_type`` is the type of the key attribute, S, N or B. ``sorts``: whether strings must sort like values.
    ``ranks``: all values of a field with few values. Raises Problem if the type doesn't support ``spec``.
    """
    if attribute_type == "N":
        return _number_format(kind, spec)
    if attribute_type == "B":
        if kind is bytes and not spec:
            return BinaryFormat()
        raise Problem(
            "a Binary key attribute supports only bytes fields without a format",
            "write '{field}' with a field of type bytes",
        )
    base, _, turn = spec.rpartition(":") if spec.endswith(":desc") else ("", "", spec)
    descending = turn == "desc"
    plain = base if descending else spec
    if plain == "rank":
        return _rank_format(ranks, descending=descending)
    return _text_format(kind, plain, descending=descending, sorts=sorts)


def _rank_format(ranks: tuple[Any, ...], *, descending: bool) -> Format:
    if len(ranks) < 2:
        raise Problem(":rank isn't supported for this type", "use an Enum or a Literal with several values")
    return RankFormat(ranks, descending=descending)


def _number_format(kind: Any, spec: str) -> Format:
    if (kind in {int, float, Decimal} or _is_of_integers(kind)) and not spec:
        return NumberFormat()
    if kind is timedelta and spec in {"", "ms", "s"}:
        return SecondsFormat(spec or None)
    if kind is datetime and spec in {"ms", "s"}:
        return NumberFormat(unit=spec)
    if kind is datetime:
        raise Problem("a datetime in a Number key attribute requires a unit", "write '{field:ms}' or '{field:s}'")
    raise Problem(
        "a Number key attribute supports an int, Decimal, float, IntEnum or timedelta field, or a datetime as ms or s"
    )


def _is_of_integers(kind: Any) -> bool:
    return (
        isinstance(kind, type) and issubclass(kind, enum.Enum) and all(type(element.value) is int for element in kind)
    )


def _text_format(kind: Any, spec: str, *, descending: bool, sorts: bool) -> Format:
    if kind is datetime and spec in {"s", "ms"} and not descending:
        return epoch_format(spec)
    if kind is datetime:
        return TimeFormat(layout_of(spec, sorts=sorts) if spec else ISO, descending=descending)
    if kind is date:
        return DateFormat(day_layout(spec, sorts=sorts) if spec else _DAY, descending=descending)
    if kind is int or (_is_of_integers(kind) and (spec or descending)):
        return _integer_format(spec, descending=descending, sorts=sorts)
    if kind in {time, timedelta}:
        _no_spec(spec)
        return DayTimeFormat(descending=descending) if kind is time else DurationFormat(descending=descending)
    if descending:
        raise Problem("only int, datetime, date, time, timedelta and ranks ({level:rank:desc}) support :desc")
    _no_spec(spec)
    if kind is str:
        return TextFormat(lambda value: value)
    if kind is bool:
        return TextFormat(lambda value: "true" if value else "false")
    if kind is UUID:
        return TextFormat(str)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        if sorts and not all(isinstance(member.value, str) for member in kind):
            raise Problem(
                f"{kind.__name__} has values that don't sort as strings",
                "pad whole numbers, as in {level:02d}, or sort the members in declaration order: {level:rank}",
            )
        return TextFormat(lambda value: str(value.value))
    if kind is tuple:
        return PartsFormat()
    if kind in {float, Decimal}:
        raise Problem("float and Decimal have no sortable string format", "use a Number key attribute, or an int field")
    raise Problem(f"a field of type {getattr(kind, '__name__', kind)} isn't supported in a key")


def _no_spec(spec: str) -> None:
    if spec:
        raise Problem(
            f"this type doesn't support the format {spec!r}",
            "use '08d' (int), strftime codes (datetime, date) or 'rank' (Enum, Literal); ':desc' reverses the order",
        )


def _integer_format(spec: str, *, descending: bool, sorts: bool) -> Format:
    if spec == "d" and not descending:
        return IntegerFormat()
    if spec:
        match = re.fullmatch(r"0?([1-9][0-9]?)d", spec)
        if not match:
            raise Problem(f"{spec!r} isn't a number format", "write the number of digits, as in {version:08d}")
        return IntegerFormat(int(match.group(1)), descending=descending)
    if sorts or descending:
        raise Problem(
            "an unpadded number doesn't sort as a string: 10 comes before 2",
            "pad the number, as in {version:08d}, or use a native Number key attribute; {version:d} is for keys "
            "that other programs create: it supports only equality",
        )
    return IntegerFormat()


_WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "f": 6, "j": 3}
LETTERS = "YmdHMSf"
"""From the largest unit to the smallest."""
_NEXT = {"Y": "mj", "m": "dj", "d": "H", "j": "H", "H": "M", "M": "S", "S": "f"}
"""The units that can follow in a sortable string: the next smaller unit."""


def letters_of(layout: str) -> tuple[str, ...]:
    return tuple(re.findall(r"%(.)", layout))


def pattern_of(layout: str) -> str:
    text = re.escape(layout)
    for letter, width in _WIDTHS.items():
        text = text.replace(f"%{letter}", f"[0-9]{{{width}}}")
    return text


def day_layout(spec: str, *, sorts: bool) -> str:
    """The layout of a date in a key. Raises Problem."""
    layout = layout_of(spec, sorts=sorts)
    if not set(letters_of(layout)) <= set("Ymdj"):
        raise Problem(f"{spec!r} contains units of less than a day, but the field is a date", "use %Y, %m, %d and %j")
    return layout


def layout_of(spec: str, *, sorts: bool) -> str:
    """The layout of a datetime in a key. With ``sorts``, the layout must not omit a unit. Raises Problem."""
    letters = letters_of(spec)
    wrong = [letter for letter in letters if letter not in _WIDTHS]
    if wrong or not letters:
        raise Problem(f"{spec!r} isn't a fixed-width time format", f"use strftime's %{', %'.join(_WIDTHS)}")
    if "#" in spec:
        raise Problem(f"{spec!r} contains the delimiter #", "remove # from the time format")
    order = [LETTERS.find(letter) for letter in letters if letter != "j"]
    gaps = [after for before, after in pairwise(letters) if after not in _NEXT.get(before, "")]
    if order != sorted(order) or (sorts and gaps):
        raise Problem(f"{spec!r} doesn't sort by time", "put the larger units first, without gaps: %Y%m%d%H%M%S%f")
    return spec
