"""Every format that a field has in a key, and every form in which other programs store one: what a value is written as,
and what is made of a text. That written values come back and sort is shown elsewhere (``test_templates.py``,
``test_every_type_comes_back.py``); here are the texts themselves, since they lie in tables that exist.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from keyplan import Stored
from keyplan.design.declared.problems import Problem
from keyplan.design.stored.formats import Format, StoredFormat, format_for
from keyplan.design.stored.forms import form_of_mark
from keyplan.errors import KeyplanError
from tests.agreed import assert_agreed

NOON = datetime(2026, 11, 21, 12, 30, 5, 123_456, tzinfo=UTC)


class Rank(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Step(enum.IntEnum):
    ONE = 1
    TEN = 10


class Place(BaseModel):
    city: str = "Bern"
    code: int = Field(default=1, alias="zip")


VALUES: dict[Any, Sequence[Any]] = {
    str: ["a", "", "a#b"],
    bool: [True, False],
    int: [0, 7, 1234, 99_999_999, 100_000_000, -1],
    float: [0.5, -2.0, 1e30],
    Decimal: [Decimal("2.50"), Decimal(-3), Decimal("1E+2")],
    UUID: [UUID(int=1)],
    Rank: [Rank.LOW, Rank.HIGH],
    Step: [Step.ONE, Step.TEN],
    datetime: [
        NOON, NOON.replace(microsecond=0), datetime(987, 1, 2, tzinfo=UTC), datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC),
        datetime(2001, 9, 9, 1, 46, 39, 999_999, tzinfo=UTC), datetime(2286, 11, 20, 17, 46, 39, tzinfo=UTC),
        datetime(2286, 11, 20, 17, 46, 40, tzinfo=UTC), NOON.astimezone(timezone(timedelta(hours=2))),
        NOON.replace(tzinfo=None), datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        datetime(1969, 12, 31, tzinfo=UTC),
    ],
    date: [date(2026, 11, 21), date(987, 6, 5)],
    time: [time(9, 5), time(23, 59, 59, 999_999)],
    timedelta: [timedelta(0), timedelta(seconds=90, microseconds=1500), timedelta(days=3), timedelta(seconds=-1)],
    bytes: [b"", b"a\xff"],
    tuple: [("a", "b")],
    list: [["a"]],
}  # fmt: skip
SPECS = ["", "d", "04d", "8d", "08d:desc", "desc", "s", "ms", "%Y-%m", "%Y-%m-%d", "%Y%m%dT%H%M%S", "%Y-%m-%d:desc",
         "%d.%m.%Y", "%Y-%j", "rank", "rank:desc", "100d", "x"]  # fmt: skip
TEXTS = ["", "a", "7", "-7", "07", "0007", "1e2", "2.5", "true", "low", "2026-11-21", "2026-11",
         "2026-1-1", "20261121T123005",
         "2026-11-21T12:30:05.123456Z", "2026-11-21T12:30:05.123Z", "2026-11-21T12:30:05Z", "2026-11-21T12:30:05+02:00",
         "1795264205", "1795264205123", "00000000000090001500", "9", "8", "0000000001"]  # fmt: skip


def _tried(make: Callable[..., Any], *given: Any) -> str:
    try:
        return repr(make(*given))
    except Problem as problem:
        return f"refused: {problem}; {problem.hint}"
    except KeyplanError as error:
        return f"{type(error).__name__}: {error}"
    except (ValueError, OverflowError, TypeError, AttributeError, ArithmeticError, LookupError) as error:
        return type(error).__name__


def _read(made: Format) -> list[str]:
    """What it makes of the texts that have its pattern, as keys are read."""
    return [f"    {text} <- {_tried(made.read, text)}" for text in TEXTS if re.fullmatch(made.pattern, text)]


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("attribute", ["S", "N", "B"])
def test_formats_in_keys(kind: Any, attribute: str) -> None:
    ranks = tuple(kind) if isinstance(kind, type) and issubclass(kind, enum.Enum) else ()
    lines: list[str] = []
    refused: dict[str, list[str]] = {}
    for spec, sorts in product(SPECS, (True, False)):
        head = f"{spec!r}{' sorts' if sorts else ''}"
        try:
            made = format_for(kind, spec, attribute_type=attribute, sorts=sorts, ranks=ranks)
        except Problem as problem:
            refused.setdefault(f"refused: {problem}; {problem.hint}".replace(repr(spec), "..."), []).append(head)
            continue
        marks = [name for name in ("raw", "exact", "whole", "descending") if getattr(made, name)]
        lines.append(f"{head} {type(made).__name__} {made.pattern} {' '.join(marks)}")
        if kind is not tuple and not sorts:
            lines += [f"    {value} -> {_tried(made.write, value)}" for value in VALUES[kind]]
            lines += _read(made)
    assert_agreed("\n".join([*lines, *(f"{why}: {', '.join(heads)}" for why, heads in refused.items())]))


@pytest.mark.parametrize("kind", VALUES)
def test_which_forms_fit_which_types(kind: Any) -> None:
    names: list[Any] = ["s", "ms", "s as text", "iso s", "isoformat", "text", "number", "list", "base64",
                        "json", "zlib", "x"]  # fmt: skip
    marks = [*(Stored(name) for name in names), Stored(layout="%Y-%m-%d"), Stored(layout="%H:%M:%S"),
             Stored(layout="%j %Y %H%M%S"), Stored(layout="%B %d %Y"), Stored(layout="%d/%m/%Y %H:%M:%S")]  # fmt: skip
    lines = []
    for mark in marks:
        try:
            form = form_of_mark(mark, kind)
            lines.append(f"{mark.form or mark.layout}: {form.tag} {form.sorts}")
        except Problem as problem:
            lines.append(f"{mark.form or mark.layout} refused: {problem}; {problem.hint}")
    assert_agreed("\n".join(lines))


_NAMED: list[tuple[Any, type]] = [
    ("s", datetime), ("ms", datetime), ("s as text", datetime), ("ms as text", datetime), ("iso s", datetime),
    ("iso ms", datetime), ("isoformat", datetime), ("text", bool), ("text", int), ("text", float), ("text", Decimal),
    ("number", bool), ("base64", bytes), ("json", Place), ("json", str), ("json", int),
]  # fmt: skip
FORMS: dict[str, tuple[Any, Stored]] = {
    **{f"{name} {kind.__name__}": (kind, Stored(name)) for name, kind in _NAMED},
    "list": (set[str], Stored("list")),
    "layout": (datetime, Stored(layout="%Y-%m-%d %H:%M:%S.%f")),
    "day": (date, Stored(layout="%d/%m/%Y")),
    "sorted day": (date, Stored(layout="%Y/%m/%d")),
    "pair": (str, Stored(write=lambda value: value[::-1], read=lambda value: value[::-1])),
    "pair of numbers": (int, Stored(write=lambda value: {"v": value}, read=lambda value: value["v"])),
}  # fmt: skip
STORED: list[tuple[str, Any]] = [
    ("S", ""), ("S", "true"), ("S", "false"), ("S", "yes"), ("S", "2.5"), ("S", "1795264205123"), ("S", "AP8="),
    ("S", "!"),
    ("S", '"a"'), ("S", '{"zip": 3}'), ("S", "2026-11-21T12:30:05.123Z"), ("S", "2026-11-21T12:30:05"),
    ("S", "2026-11-21 12:30:05.5"), ("S", "21/11/2026"), ("S", "2026/11/21"), ("N", "0"), ("N", "1"), ("N", "2"),
    ("N", "1795264205.5"), ("BOOL", True), ("BOOL", False), ("B", "AP8="),
    ("L", [{"S": "a"}]), ("M", {"v": {"N": "3"}}),
]  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_others(name: str) -> None:
    annotation, mark = FORMS[name]
    form = form_of_mark(mark, annotation)
    values = VALUES.get(annotation, [{"b", "a"}] if name == "list" else [Place(zip=5)])
    lines = [f"tag {form.tag}, sorts {form.sorts}"]
    for value in values:
        shown = sorted(value) if isinstance(value, set) else value  # a set's text has its members in any order
        lines.append(f"{shown}: {_tried(form.encode, value)}, compared {_tried(form.compare, value)}")
        lines += [f"    in a key: {_tried(key.write, value)}" for key in (form.key, form.number_key) if key is not None]
    for tag, stored in STORED:
        read = _tried(form.decode, tag, stored)
        if not read.endswith("Error"):
            lines.append(f"{tag} {stored!r} is read as {read}")
    for key in (form.key, form.number_key):
        if key is not None:
            marks = [name for name in ("raw", "exact", "whole", "descending") if getattr(key, name)]
            lines += [f"its key: {type(key).__name__} {key.pattern} {' '.join(marks)}", *_read(key)]
        if isinstance(key, StoredFormat):
            lines.append(f"from {key.least} to {key.most}, sorts {key.sorts}")
    assert_agreed("\n".join(lines))
