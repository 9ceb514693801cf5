"""Fields of generated designs: annotations, values and key formats by kind. Values include edge cases of keys:
delimiters, escapes, changes in the number of digits, times that differ only in their time zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

STATUSES = ("closed", "new", "open", "paid#x")
_COLOURS = ("red", "green", "blue")
_MOMENT = datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC)

_VALUES: dict[str, tuple[Any, ...]] = {
    "str": ("a", "b", "a#b", "b#a", "#", "$c", "a ", "A", "ab", "é", "\uffff", "\U0001f600", "10", "9", "a\x01b", "~"),
    "literal": STATUSES,
    "enum": _COLOURS,
    "int": (0, 1, 2, 9, 10, 11, 99, 100, 999, 1000, 999_999),
    "bool": (True, False),
    "uuid": tuple(UUID(int=number) for number in (0, 1, 16, (1 << 128) - 1, 0x0F << 120)),
    "date": (date(2026, 3, 1), date(2026, 3, 2), date(2026, 12, 31), date(2027, 1, 1), date(1999, 9, 9)),
    "datetime": (
        _MOMENT,
        _MOMENT + timedelta(microseconds=1),
        _MOMENT.astimezone(timezone(-timedelta(hours=8))),
        datetime(2026, 3, 2, 0, 30, tzinfo=timezone(timedelta(hours=1))),
        datetime(2026, 12, 31, 12, tzinfo=UTC),
        datetime(1999, 1, 1, tzinfo=UTC),
    ),
    "decimal": tuple(Decimal(text) for text in ("0", "1", "-1", "9.99", "10.5", "1E+3", "0.10")),
    "float": (0.0, 1.5, -2.25, 10.0, 9.0, 1e10),
    "signed": (-100, -10, -9, -1, 0, 1, 9, 10, 10**12),
    "texts": ({"a"}, {"a", "b"}, {"a#b", "é"}, set[str]()),
    "numbers": ([1, 2], [], [3]),
    "mapping": ({"a": 1}, {}, {"é#": 2, "b": 0}),
    "bytes": (b"", b"\x00\xff", b"abc"),
    "pair": ((1, "a"), (2, "")),
    "note": ("", "a note", "x" * 700, "y" * 4000),
}
_ANNOTATIONS = {
    "str": "str",
    "literal": f"Literal[{', '.join(map(repr, STATUSES))}]",
    "enum": "Colour",
    "int": "int",
    "bool": "bool",
    "uuid": "UUID",
    "date": "date",
    "datetime": "datetime",
    "decimal": "Decimal",
    "float": "float",
    "signed": "int",
    "texts": "set[str]",
    "numbers": "list[int]",
    "mapping": "dict[str, int]",
    "bytes": "bytes",
    "pair": "tuple[int, str]",
    "note": "str",
}

KEY_KINDS = ("str", "str", "str", "literal", "enum", "int", "int", "bool", "uuid", "date", "datetime", "datetime")
"""Kinds that may stand in a template of text."""
NATIVE_KINDS = ("int", "signed", "decimal", "float")
"""Kinds that may stand in a Number attribute."""
VALUE_KINDS = (*sorted({*KEY_KINDS}), *sorted(_VALUES.keys() - {*KEY_KINDS}))


@dataclass(frozen=True)
class FieldSpec:
    """A field of an entity. ``domain`` contains the possible values of items and parameters."""

    name: str
    kind: str
    optional: bool
    domain: tuple[Any, ...]

    @property
    def annotation(self) -> str:
        """Return the field's type as the annotation of a parameter."""
        return _ANNOTATIONS[self.kind]

    @property
    def declaration(self) -> str:
        """Return the line that declares the field in the entity."""
        if self.optional:
            return f"{self.name}: {self.annotation} | None = None"
        defaults = {"texts": "set()", "numbers": "[]", "mapping": "{}", "signed": "0"}
        default = f" = {defaults[self.kind]}" if self.kind in defaults else ""
        return f"{self.name}: {self.annotation}{default}"

    def template(self, chance: Random, *, sort: bool) -> tuple[str, bool]:
        """Return the field's placeholder in a key template, and whether its order is reversed."""
        turned = sort and self.kind in {"int", "date", "datetime"} and chance.random() < 0.3
        if sort and self.kind == "int":
            return f"{{{self.name}:06d{':desc' * turned}}}", turned
        return f"{{{self.name}{':desc' * turned}}}", turned


def values_of(kind: str, chance: Random) -> tuple[Any, ...]:
    """Return a few values of a kind. Fields of different items often have equal values."""
    values = _VALUES[kind]
    return tuple(chance.sample(values, min(len(values), chance.randint(2, 4))))
