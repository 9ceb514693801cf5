# mypy: disable-error-code="empty-body"
"""Calls with random arguments of any type raise only KeyplanErrors."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, cast

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
    Each,
    Entity,
    Key,
    Put,
    Range,
    Remove,
    SetAdd,
    SetRemove,
    StoredAs,
    Table,
    Update,
    read,
)
from keyplan.errors import ArgumentError, KeyplanError, StoreError
from tests.bad_input import CONDITIONS, DAY, FIELDS, MOMENT, TEXTS, VALUES, Other, Thing, Things


class Caller:
    """Makes random calls, synchronous or asynchronous."""

    def __init__(self, design: Things, seed: random.Random, *, awaited: bool = False) -> None:
        self.design = design
        self.awaited = awaited
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
            name: [parameter.name for parameter in pattern.signature.parameters] for name, pattern in patterns.items()
        }

    def any(self) -> Any:
        return self.seed.choice(VALUES)

    def some(self) -> dict[str, Any]:
        names = self.seed.sample(FIELDS, self.seed.randint(0, 3))
        return {name: self.any() if self.seed.random() < 0.6 else self.good.get(name, 1) for name in names}

    def target(self) -> Any:
        return self.seed.choice([Thing, Other, self.thing, self.other, self.any()])

    def change(self) -> Any:
        kinds: list[Any] = [lambda value: value, Add, Append, SetAdd, SetRemove, lambda _: Remove()]
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
        return {value: self.any() if self.seed.random() < 0.45 else self.good[value] for value in names}

    def damaged(self) -> Cursor:
        letters = list(str(self.cursor))
        for _ in range(self.seed.randint(0, 3)):
            letters[self.seed.randrange(len(letters))] = self.seed.choice("AZaz09-_=.\x00é\ud800")
        return Cursor("".join(letters)[: self.seed.randint(0, len(letters))])

    def instance(self) -> Thing:
        own = dict(self.thing.__dict__)
        return Thing.model_construct(**{name: self.any() if self.seed.random() < 0.4 else own[name] for name in own})

    def pattern(self, name: str) -> Callable[..., Any]:
        pattern = getattr(self.design, name)
        return cast("Callable[..., Any]", pattern.aio if self.awaited else pattern)

    def call(self) -> Any:
        """Make a call of any kind, and return its result or an awaitable."""
        name = self.seed.choice(list(self.parameters))
        verbs: Any = self.design.aio if self.awaited else self.design
        calls: list[Callable[[], Any]] = [
            lambda: self.pattern(name)(**self.arguments(name)),
            lambda: self.design.call(name, self.arguments(name)),
            lambda: self.design.call(name, {value: self.seed.choice(TEXTS) for value in self.parameters[name]}),
            lambda: self.design.call(self.seed.choice(["", "nope", "_run"]), {}),
            lambda: verbs.get(self.target(), **self.some()),
            lambda: verbs.get_many(self.target(), self.seed.choice([[self.some()], self.any()])),
            lambda: verbs.put(self.target()),
            lambda: verbs.put(self.instance()),
            lambda: verbs.create(self.target()),
            lambda: verbs.update(self.target(), **self.changes()),
            lambda: verbs.update(self.instance(), **self.changes()),
            lambda: verbs.delete(self.target(), **self.some()),
            lambda: verbs.transact(self.actions()),
            lambda: verbs.batch(self.actions()),
            lambda: self.pattern("act")(self.actions()),
            lambda: self.pattern("things")("a", limit=1, cursor=self.damaged()),
        ]
        return self.seed.choice(calls)()

    def once(self) -> None:
        """Make one call, and read its result completely."""
        answer = self.call()
        if isinstance(answer, Iterator):
            list(answer)

    async def once_awaited(self) -> None:
        """Make one asynchronous call, and read its result completely."""
        answer = self.call()
        if isinstance(answer, AsyncIterator):
            async for _ in answer:
                pass
        elif isinstance(answer, Awaitable):
            await answer


@pytest.mark.parametrize("number", range(4))
def test_random_calls_raise_only_keyplan_errors(number: int) -> None:
    with Things.open(":memory:", secret="s") as design:
        caller = Caller(design, random.Random(f"bad input {number}"))
        refused = 0
        for _ in range(1500):
            try:
                caller.once()
            except KeyplanError:
                refused += 1
        assert refused > 300


def test_random_asynchronous_calls_raise_only_keyplan_errors() -> None:
    async def calls(design: Things) -> int:
        caller = Caller(design, random.Random("bad input, awaited"), awaited=True)
        refused = 0
        for _ in range(1500):
            try:
                await caller.once_awaited()
            except KeyplanError:
                refused += 1
        return refused

    with Things.open(":memory:", secret="s") as design:
        assert asyncio.run(calls(design)) > 300


@pytest.mark.parametrize(
    "url",
    [
        "", "\x00", "a\x00b", "/nonexistent/x/y", "/", "/etc/passwd", "\ud800", "x" * 5000, "b/" * 3000, "dynamodb://", "dynamodb://x",
        "dynamodb://eu-west-1/\ud800", "dynamodb+http://", "dynamodb+http://h:99999/t", "dynamodb+http://[::1/t",
        "dynamodb+http://127.0.0.1:1/t?attempts=x", "dynamodb+http://127.0.0.1:1/t?total_seconds=nan",
        "dynamodb+http://127.0.0.1:1/t?attempts=1&total_seconds=-5", "dynamodb+http://127.0.0.1:1/t?nope=1",
        "dynamodb+http://u:p@h/t", "foo://bar", None, 5, b"x", [],
    ],
    ids=lambda url: ascii(url)[:40],
)  # fmt: skip
def test_random_urls_raise_only_keyplan_errors(url: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyplanError):
        Things.open(url)


@pytest.mark.parametrize("secret", [5, "\ud800", []])
def test_a_cursor_secret_that_is_not_str_or_bytes_is_rejected(secret: Any) -> None:
    with pytest.raises(KeyplanError):
        Things.open(":memory:", secret=secret)


def test_a_path_with_a_null_character_is_rejected() -> None:
    with pytest.raises(StoreError, match="isn't a file path"):
        Things.open("a\x00b")


class Meeting(Entity):
    """A meeting whose timestamps have the format of another program."""

    room: str
    due: Annotated[datetime, StoredAs("ms")]
    ends: Annotated[datetime, StoredAs("iso ms")]

    primary = Key("ROOM#{room}", "HEAD")


class Meetings(Design):
    table = Table("meetings")

    @read("M1", where="due = :value", scan=True)
    def due(self, value: Any) -> list[Meeting]: ...

    @read("M2", where="ends IN (:values)", scan=True)
    def ending(self, values: Each[Any]) -> list[Meeting]: ...


@pytest.mark.parametrize("value", ["x", 1, b"b", 1.5, "\ud800", Decimal("NaN")], ids=repr)
def test_a_value_that_the_stored_format_of_its_field_cannot_encode_is_rejected(value: Any) -> None:
    """Regression test: the call raised AttributeError."""
    with Meetings.open(":memory:") as meetings:
        with pytest.raises(ArgumentError) as error:
            meetings.due(value)
        assert error.value.place == "value"
        with pytest.raises(ArgumentError) as error:
            meetings.ending([value])
        assert error.value.place == "values"
