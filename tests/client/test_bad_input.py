# mypy: disable-error-code="empty-body"
# ruff: noqa: DTZ001, DTZ901 - moments without a zone are bad input
"""Whatever is given to a design, no exception but a KeyplanError leaves it: random calls with values of every kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from keyplan import (
    Add,
    Append,
    Batch,
    Check,
    Create,
    Cursor,
    Delete,
    Design,
    Discard,
    Each,
    Entity,
    Field,
    Include,
    Index,
    Key,
    Number,
    Page,
    Put,
    Range,
    Remove,
    Table,
    Ttl,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.errors import KeyplanError, StoreError

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
BY_TIME = Index("BY_TIME", ["who"], [Number("at_ms")])
DAY = date(2026, 1, 1)
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


class Thing(Entity):
    """Fields of every kind with a form of its own, in keys of every kind."""

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
    """Claims, a version, a turned day."""

    other_id: str
    email: str
    day: date
    version: Version = 0

    primary = Key("OTHER#{other_id}", "HEAD")
    one_email = Unique("EMAIL#{email}")
    by_day = Key("DAYS", "{day:desc}#{other_id}", index=GSI1)


class Things(Design):
    """Patterns of every kind."""

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


class Caller:
    """Makes calls at random."""

    def __init__(self, design: Things, seed: random.Random) -> None:
        self.design = design
        self.seed = seed
        self.thing = design.put(Thing(name="a", number=1))
        design.put(Thing(name="a", number=2))
        self.other = design.create(Other(other_id="1", email="e", day=DAY))
        self.cursor = design.things("a", limit=1).cursor
        self.good: dict[str, Any] = {
            "name": "a", "number": 1, "kind": "k", "at": Range(ge=MOMENT), "limit": 2, "cursor": self.cursor,
            "tag": "x", "email": "e", "day": Range(ge=DAY), "least": Decimal(0), "ratio": Decimal(1), "actions": [],
        }  # fmt: skip
        patterns: dict[str, Any] = {**Things.compiled.reads, **Things.compiled.writes}
        self.parameters = {
            name: [one.name for one in pattern.signature.parameters] for name, pattern in patterns.items()
        }

    def any(self) -> Any:
        return self.seed.choice(VALUES)

    def some(self) -> dict[str, Any]:
        names = self.seed.sample(FIELDS, self.seed.randint(0, 3))
        return {name: self.any() if self.seed.random() < 0.6 else self.good.get(name, 1) for name in names}

    def target(self) -> Any:
        return self.seed.choice([Thing, Other, self.thing, self.other, self.any()])

    def change(self) -> Any:
        kinds: list[Any] = [lambda one: one, Add, Append, Include, Discard, lambda _: Remove()]
        return self.seed.choice(kinds)(self.any())

    def changes(self) -> dict[str, Any]:
        return {name: self.change() for name in self.seed.sample(FIELDS, 2)}

    def action(self) -> Any:
        kinds: list[Any] = [Put, Create, Update, Delete, Check, Batch]
        target, kind = self.target(), self.seed.choice(kinds)
        if kind is Batch:
            return Batch(self.any())
        action: Any = kind(target) if kind in {Put, Create} else kind(target, **self.some())
        if kind is Update and self.seed.random() < 0.7:
            action = action.set(**self.changes())
        if kind is Update and self.seed.random() < 0.2:
            action = action.or_create()
        if self.seed.random() < 0.4:
            action = action.only_if(**{self.seed.choice(FIELDS): self.any()})
        if self.seed.random() < 0.3:
            action = action.only_if(self.seed.choice([*CONDITIONS, self.any()]), x=self.any())
        return action

    def actions(self) -> Any:
        return self.seed.choice([[self.action() for _ in range(self.seed.randint(0, 3))], self.any()])

    def arguments(self, name: str) -> dict[str, Any]:
        names = self.parameters[name]
        return {one: self.any() if self.seed.random() < 0.45 else self.good[one] for one in names}

    def damaged(self) -> Cursor:
        letters = list(str(self.cursor))
        for _ in range(self.seed.randint(0, 3)):
            letters[self.seed.randrange(len(letters))] = self.seed.choice("AZaz09-_=.\x00é\ud800")
        return Cursor("".join(letters)[: self.seed.randint(0, len(letters))])

    def instance(self) -> Thing:
        own = dict(self.thing.__dict__)
        return Thing.model_construct(**{name: self.any() if self.seed.random() < 0.4 else own[name] for name in own})

    def once(self) -> None:
        """One call of any kind."""
        design, name = self.design, self.seed.choice(list(self.parameters))
        calls: list[Callable[[], Any]] = [
            lambda: getattr(design, name)(**self.arguments(name)),
            lambda: design.call(name, self.arguments(name)),
            lambda: design.call(name, {one: self.seed.choice(TEXTS) for one in self.parameters[name]}),
            lambda: design.call(self.seed.choice(["", "nope", "_run"]), {}),
            lambda: design.get(self.target(), **self.some()),
            lambda: design.get_many(self.target(), self.seed.choice([[self.some()], self.any()])),
            lambda: design.put(self.target()),
            lambda: design.put(self.instance()),
            lambda: design.create(self.target()),
            lambda: design.update(self.target(), **self.changes()),
            lambda: design.update(self.instance(), **self.changes()),
            lambda: design.delete(self.target(), **self.some()),
            lambda: design.transact(self.actions()),
            lambda: design.batch(self.actions()),
            lambda: design.act(self.actions()),
            lambda: design.things("a", limit=1, cursor=self.damaged()),
        ]
        answer = self.seed.choice(calls)()
        if isinstance(answer, Iterator):
            list(answer)


@pytest.mark.parametrize("number", range(4))
def test_every_call_is_answered_or_refused(number: int) -> None:
    with Things.open(":memory:", secret="s") as design:
        caller = Caller(design, random.Random(f"bad input {number}"))
        refused = 0
        for _ in range(1500):
            try:
                caller.once()
            except KeyplanError:
                refused += 1
        assert refused > 300


@pytest.mark.parametrize(
    "url",
    [
        "", "\x00", "a\x00b", "/nonexistent/x/y", "/", "/etc/passwd", "\ud800", "x" * 5000, "dynamodb://", "dynamodb://x",
        "dynamodb://eu-west-1/\ud800", "dynamodb+http://", "dynamodb+http://h:99999/t", "dynamodb+http://[::1/t",
        "dynamodb+http://127.0.0.1:1/t?attempts=x", "dynamodb+http://127.0.0.1:1/t?total_seconds=nan",
        "dynamodb+http://127.0.0.1:1/t?attempts=1&total_seconds=-5", "dynamodb+http://127.0.0.1:1/t?nope=1",
        "dynamodb+http://u:p@h/t", "foo://bar", None, 5, b"x", [],
    ],
    ids=lambda url: ascii(url)[:40],
)  # fmt: skip
def test_no_url_does_worse_than_a_keyplan_error(url: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyplanError):
        Things.open(url)


@pytest.mark.parametrize("secret", [5, "\ud800", []])
def test_a_secret_is_a_text_or_bytes(secret: Any) -> None:
    with pytest.raises(KeyplanError):
        Things.open(":memory:", secret=secret)


def test_a_path_with_a_null_says_so() -> None:
    with pytest.raises(StoreError, match="is no path of a file"):
        Things.open("a\x00b")
