# mypy: disable-error-code="empty-body"
"""Parts of ``verify`` by themselves: what is counted and in what words a failure is told, how long what is drawn is,
which entities are looked at together, what values no key can hold.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from keyplan import Design, Each, Entity, Key, Table, Writes, read, write
from keyplan.client.conversations import Pause, Request
from keyplan.errors import ConditionFailed, ItemExists, TransactionFailed, UniqueValueTaken
from keyplan.planner import Plan
from keyplan.planner.plans import Verified
from keyplan.testing import Clock, open_test_store
from keyplan.testing import plan_verification as planned
from keyplan.testing.model import Missed, Model, watched
from keyplan.testing.oracle import Oracle
from keyplan.testing.pattern_checks import Checker
from keyplan.testing.report import Report, RunningCounts
from keyplan.testing.steps import Steps
from keyplan.testing.stored_world import Row, World


class Ant(Entity):
    name: str
    size: int = 0
    legs: int = Field(default=6, alias="feet")
    home: str = ""

    primary = Key("ANT#{name}", "HEAD")


class Bee(Entity):
    name: str
    hive: str = "h"

    primary = Key("BEE#{hive}", "{name}")


class Cow(Entity):
    name: str

    primary = Key("COW#{name}", "HEAD")


class Farm(Design):
    table = Table("farm", entities=[Ant, Bee, Cow])

    @read("F1")
    def ant(self, name: str) -> Ant | None: ...

    @read("F2")
    def bees(self, hive: Each[str], name: str) -> list[Bee]: ...

    @read("F3")
    def either(self, hive: str) -> list[Bee]: ...

    @write("F4")
    def born(self, ants: list[Ant], cow: Cow | None, bee: Bee, size: int, name: str = "x") -> Writes:
        yield from ()


def test_calls_are_counted() -> None:
    counts = RunningCounts()
    assert counts.of("a") == (0, 0, 0, 0)
    assert not counts.answered("a")
    assert counts.items_max == 0
    counts.count("once", answered=True)
    assert counts.of("once") == (1, 1, 0, 0)
    assert counts.answered("once")
    counts.count("a", answered=False, pages=2)
    assert not counts.answered("a")
    counts.count("a", answered=True, items=3, pages=1)
    counts.count("b", answered=True)
    assert counts.of("a") == (2, 1, 3, 3)
    assert counts.of("b") == (1, 1, 0, 0)
    assert counts.answered("a")
    for items in (3, 5, 4):
        counts.store(items)
    assert (counts.stores, counts.items, counts.items_max) == (3, 12, 5)


def test_a_value_that_is_no_items_may_be_refused_with_the_others() -> None:
    world = World((Row(Farm.compiled.entities[Bee], Bee(name="a"), {}),), (), ())
    nothing: Any = None
    pattern = Farm.compiled.reads["bees"]
    checker = Checker(nothing, pattern, Oracle(pattern, pattern.options), nothing, nothing)
    assert checker._odd_each(world, {"hive": ["h", "i"], "name": "a"})
    assert not checker._odd_each(world, {"hive": ["h"], "name": "a"})
    assert not checker._odd_each(world, {"hive": ["h", "h"], "name": "other"})
    assert not checker._odd_each(world, {})


def _drawn(strategy: Any, take: Callable[[Any], None], examples: int = 30) -> None:
    @given(strategy)
    @settings(max_examples=examples, database=None, deadline=None)
    def draw(value: Any) -> None:
        take(value)

    draw()


def test_how_long_what_is_drawn_is() -> None:
    """One to three fields are changed, one item or more is alike, a list that a write is given has up to three."""
    compiled = Farm.compiled
    steps = Steps(compiled, {})
    ant, born = compiled.entities[Ant], compiled.writes["born"]
    sizes: dict[str, set[int]] = defaultdict(set)
    kinds: dict[str, set[type]] = defaultdict(set)
    alike: list[int] = []

    def take(changes: Any) -> None:
        sizes["changes"].add(len(changes.changes))

    def family(made: Any) -> None:
        alike.append(len(made.changes))

    def call(made: Any) -> None:
        sizes["ants"].add(len(made.fresh["ants"]))
        kinds["ants"].update(map(type, made.fresh["ants"]))
        kinds["cow"].add(type(made.fresh["cow"]))
        kinds["bee"].add(type(made.fresh["bee"]))
        kinds["size"].add(type(made.fresh["size"]))
        sizes["named"].add(len(made.fresh))
        sizes["arranged"].add(int(made.arranged))

    _drawn(steps._copy(ant), take)
    _drawn(steps._family(ant), family)
    _drawn(steps._call(born), call)
    assert sizes == {
        "changes": {1, 2, 3}, "ants": {0, 1, 2, 3},
        "named": {4, 5}, "arranged": {0, 1},
    }  # fmt: skip
    assert min(alike) == 1 < max(alike)
    assert kinds == {"ants": {Ant}, "cow": {Cow, type(None)}, "bee": {Bee}, "size": {int}}
    own: list[Any] = []
    ours = Steps(compiled, {Ant: st.just(Ant(name="own"))})
    _drawn(ours._argument(born.signature.by_name["ants"]), own.extend)
    assert {each.name for each in own} == {"own"}


def test_nobody_waits_for_what_a_write_misses() -> None:
    def conversation() -> Any:
        yield Pause(1.0)
        return (yield Request("GetItem", {"Key": {"pk": {"S": "a"}}}))

    missed = Missed()
    running = watched(conversation(), missed)
    assert next(running) == Request("GetItem", {"Key": {"pk": {"S": "a"}}})
    with pytest.raises(StopIteration):
        running.send({})
    assert missed.keys == [{"pk": {"S": "a"}}]


def test_a_store_of_a_test_throttles_only_where_it_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []

    class Opened(Exception):
        pass

    def noted(path: Any, **settings: Any) -> None:
        given.append({"path": path, **settings})
        raise Opened

    monkeypatch.setattr(sys.modules["keyplan.testing.stores"].Engine, "open", noted)
    clock = Clock(datetime(2026, 3, 1, tzinfo=UTC))
    with pytest.raises(Opened):
        open_test_store(Farm, clock=clock)
    with pytest.raises(Opened):
        open_test_store(Farm, clock=clock, throttle=True, index_lag_ms=5)
    assert given == [
        {"path": ":memory:", "clock": clock, "throttle": False, "index_lag_ms": 0.0},
        {"path": ":memory:", "clock": clock, "throttle": True, "index_lag_ms": 5.0},
    ]


def test_each_reason_of_a_refused_transaction_is_looked_at() -> None:
    """A value that was taken meanwhile is no fault where the item was changed; what else is wrong still is."""
    with Farm.open(":memory:") as design:
        model = Model(design, RunningCounts(), {})
        ant, instance = Farm.compiled.entities[Ant], Ant(name="a")
        changed, taken, other = ConditionFailed("changed"), UniqueValueTaken("taken"), ItemExists("there")
        model._check_refusal(ant, ("a",), instance, TransactionFailed("no", reasons=[changed, taken]), stale=True)
        for reasons in ([changed, taken, other], [taken, changed, other], [None, other, changed]):
            with pytest.raises(AssertionError, match="was refused: there"):
                model._check_refusal(ant, ("a",), instance, TransactionFailed("no", reasons=reasons), stale=True)
        with pytest.raises(AssertionError, match="was refused: taken"):
            model._check_refusal(ant, ("a",), instance, TransactionFailed("no", reasons=[taken]), stale=True)


def test_fields_with_an_alias_are_changed_by_their_name() -> None:
    with Farm.open(":memory:") as design:
        model = Model(design, RunningCounts(), {})
        changed = model._changed(Farm.compiled.entities[Ant], Ant(name="a"), {"legs": 8})
        assert changed == Ant.model_validate({"name": "a", "feet": 8})


def test_plans_say_what_they_were_verified_on(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: Iterator[Any] = iter([Report("Farm", 3, 8, 4, 0, ()), AssertionError("another item")])
    told: list[tuple[int, int]] = []

    def looked_at(_design: Any, *, stores: int, progress: Callable[[int, int], None]) -> Report:
        assert stores == planned.STORES
        progress(stores, 3)
        outcome: Report | AssertionError = next(outcomes)
        if isinstance(outcome, AssertionError):
            raise outcome
        return outcome

    class Applied:
        def __init__(self, _plan: Any) -> None: ...
        def __enter__(self) -> None: ...
        def __exit__(self, *_raised: object) -> None: ...

    monkeypatch.setattr(planned, "looked_at", looked_at)
    monkeypatch.setattr(planned, "applied", Applied)
    monkeypatch.setattr(planned, "compared", list)
    plan: Any = object.__new__(Plan)
    monkeypatch.setattr(planned, "replace", lambda _plan, verified: verified)
    outcome = planned.verified([plan, plan], progress=lambda done, whole: told.append((done, whole)))
    passed: list[Any] = outcome.plans
    assert passed == [Verified(3, 8, ())]
    assert outcome.refused == [(plan, "another item")]
    assert told == [(3, 6), (6, 6)]
    assert not outcome.stopped
