# mypy: disable-error-code="empty-body"
# ruff: noqa: DTZ001, DTZ901 - timestamps without a time zone are bad input
"""A design with keys of every kind, and argument values of every kind, most of them invalid. The random tests of each
interface (Python, async methods, REST and command line) use this design and these values.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

from keyplan import (
    Add,
    Cursor,
    Design,
    Each,
    Entity,
    Field,
    Index,
    Key,
    Number,
    Page,
    Range,
    Table,
    Ttl,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
BY_TIME = Index("BY_TIME", ["who"], [Number("at_ms")])
DAY = date(2026, 1, 1)
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


class Thing(Entity):
    """An entity with a field for each stored form, and with keys of every kind."""

    name: str
    number: int = 0
    at: datetime = MOMENT
    day: date = DAY
    kind: str = "k"
    ratio: Decimal = Decimal(1)
    tags: set[str] = Field(default_factory=set)
    words: list[str] = Field(default_factory=list)
    data: dict[str, Any] = Field(default_factory=dict)
    span: timedelta = timedelta(1)
    until: Ttl | None = None

    primary = Key("THING#{name}", "N#{number:06d}")
    by_kind = Key("KIND#{kind}", "{at}#{name}", index=GSI1)
    by_time = Key(["{name}"], ["{at:ms}"], index=BY_TIME)


class Other(Entity):
    """An entity with a unique value, a version and a date in descending order."""

    other_id: str
    email: str
    day: date
    version: Version = 0

    primary = Key("OTHER#{other_id}", "HEAD")
    one_email = Unique("EMAIL#{email}")
    by_day = Key("DAYS", "{day:desc}#{other_id}", index=GSI1)


class Things(Design):
    """Access patterns of every kind."""

    table = Table("things", indexes=[GSI1, BY_TIME], entities=[Other])

    @read("R1")
    def thing(self, name: str, number: int) -> Thing | None: ...

    @read("R2", order_by="number")
    def things(
        self, name: str, number: Range[int] | None = None, limit: int = 5, cursor: Cursor | None = None
    ) -> Page[Thing]: ...

    @read("R3")
    def of_kind(
        self, kind: str, at: Range[datetime] | None = None, limit: int = 5, cursor: Cursor | None = None
    ) -> Page[Thing]: ...

    @read("R4", order_by="at")
    def timed(self, name: str, at: Range[datetime]) -> list[Thing]: ...

    @read("R5")
    def many(self, name: Each[str], number: int) -> list[Thing]: ...

    @read("R6", order_by="number", where="ratio > :least AND contains(tags, :tag)")
    def rich(self, name: str, least: Decimal, tag: str) -> list[Thing]: ...

    @read("R7", order_by="number")
    def each(self, name: str) -> Iterator[Thing]: ...

    @read("R8")
    def mailed(self, email: str) -> Other | None: ...

    @read("R9")
    def days(self, day: Range[date]) -> list[Other]: ...

    @write("W1", attempts=3)
    def act(self, actions: list[Any]) -> Writes[Any]:
        last = None
        for action in actions:
            last = yield action
        return last

    @write("W2")
    def add(self, name: str, number: int, ratio: Decimal) -> Writes[Thing]:
        return (yield from Update(Thing, name=name, number=number).set(ratio=Add(ratio)))


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


DEEP = _nested(3000)
LOOP: dict[str, Any] = {}
LOOP["a"] = LOOP
EDGE = timezone(timedelta(hours=23))
VALUES: list[Any] = [
    None, True, 0, -1, 1, 2**31, 2**32, 2**63, 10**30, 10**400, -(10**400), 1.5, float("nan"), float("inf"), 1e308,
    Decimal("NaN"), Decimal("Infinity"), Decimal("1e200"), Decimal("1e-200"), Decimal("1." + "1" * 60),
    "", "a", "a#b", "$", "\x00", "\ud800", "é" * 3000, "x" * 500_000, b"", b"\xff", bytearray(b"a"),
    datetime.min, datetime.max, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC),
    datetime.min.replace(tzinfo=EDGE), datetime.max.replace(tzinfo=timezone(timedelta(hours=-23))),
    datetime(2026, 1, 1), MOMENT, date.min, date.max, DAY, timedelta.max, timedelta.min, UUID(int=0),
    [], {}, (), set(), ["a"], {"a": 1}, {"a"}, {1: 2}, {"": 1}, DEEP, LOOP, object(), Thing, int,
    Range(ge=1), Range(ge="a", lt="b"), Range(ge=datetime.max.replace(tzinfo=UTC)), Range(le=datetime.max),
    Range(gt=datetime.min.replace(tzinfo=EDGE)), Range(gt=date.max), Range(lt=date.min), Range(gt=999_999), Range(lt=0),
    Thing(name="a"), Other(other_id="1", email="e", day=DAY),
    "2026-13-45", "99999-01-01T00:00:00Z", "NaN", "[1", "1e999", "9" * 5000,
]  # fmt: skip
TEXTS = ["", "x", "1", "[]", "{", "null", "\x00", "\ud800", "2026-01-01", "9" * 5000, "1e999"]
CONDITIONS = ["number > :x", "contains(tags, :x)", "size(words) = :x", "at = :x", "nope = :x", "((", ":x", "span = :x"]
FIELDS = [*Thing.model_fields, "nope", "other_id", "email", "version"]
