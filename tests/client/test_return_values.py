# mypy: disable-error-code="empty-body"
"""A ``yield`` and the CRUD methods return the stored item, or None if the item's contents are unknown."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan import (
    Add,
    Append,
    Batch,
    Check,
    Create,
    Delete,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Put,
    Remove,
    SetAdd,
    SetRemove,
    Table,
    Ttl,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.errors import ConditionFailed, RequestError
from tests.client.support import record

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Counter(Entity):
    name: str
    n: int = 0
    label: str = "old"
    seen: set[str] = Field(default_factory=set)
    log: list[str] = Field(default_factory=list)

    primary = Key("COUNTER#{name}", "HEAD")
    by_label = Key("LABEL#{label}", "{name}", index=GSI1)


class Locked(Entity):
    name: str
    n: int = 0
    label: str = ""
    version: Version = 0

    primary = Key("LOCKED#{name}", "HEAD")


class Member(Entity):
    name: str
    email: str
    n: int = 0

    primary = Key("MEMBER#{name}", "HEAD")
    one_email = Unique("EMAIL#{email}")


class Visit(Entity):
    """A counter of visits, with a TTL. The update for the first visit creates the counter."""

    path: str
    n: int = 0
    until: Ttl | None = None

    primary = Key("VISIT#{path}", "HEAD")


class Counting(Design):
    """A design with one write for each way to get a result."""

    table = Table("counting", indexes=[GSI1], entities=[Locked, Member, Visit])

    @read("R1")
    def counter(self, name: str) -> Counter | None: ...

    @write("W1")
    def bump(self, counter: Counter) -> Writes[Counter]:
        x: Counter = yield Update(counter, n=Add(1))
        return x

    @write("W2")
    def number(self, name: str) -> Writes[int]:
        x = yield from Update(Counter, name=name).set(n=Add(1))
        return x.n

    @write("W3")
    def visit(self, path: str) -> Writes[int]:
        x = yield from Update(Visit, path=path).set(n=Add(1)).or_create()
        return x.n

    @write("W4")
    def remove(self, counter: Counter) -> Writes[Counter | None]:
        return (yield from Delete(counter))

    @write("W5")
    def two(self, counter: Counter, other: Counter) -> Writes[tuple[Any, Any]]:
        first = yield Update(counter, n=Add(1))
        second = yield Update(other, n=Add(1))
        return first, second

    @write("W6")
    def two_wanted(self, counter: Counter, other: Counter) -> Writes[Counter]:
        yield Update(counter, n=Add(1))
        return (yield from Update(other, n=Add(1)))

    @write("W7")
    def not_last(self, counter: Counter, more: bool) -> Writes[Counter]:
        x = yield from Update(counter, n=Add(1))
        if more:
            yield Create(Counter(name="more"))
        return x

    @write("W8")
    def locked_and_more(self, item: Locked) -> Writes[Locked]:
        x = yield from Update(item, n=Add(1))
        yield Create(Counter(name="beside"))
        return x

    @write("W9")
    def all_expected(self, counter: Counter) -> Writes[Counter]:
        expected = {literal: getattr(counter, literal) for literal in ("n", "label", "seen", "log")}
        x = yield from Update(counter, n=Add(1), label="new").only_if(**expected)
        yield Create(Counter(name="beside"))
        return x

    @write("W10")
    def made(self, name: str) -> Writes[tuple[Locked, Visit]]:
        locked = yield from Create(Locked(name=name))
        until = datetime(2030, 1, 1, 0, 0, 0, 999_999, tzinfo=UTC)
        two = yield from Put(Visit(path=name, until=until))
        return locked, two

    @write("W11")
    def counted_nobody_asks(self, name: str) -> Writes:
        yield Update(Counter, name=name).set(n=Add(1))
        if name == "wrong":
            raise ValueError("after the last action, before anything is sent")

    @write("W12")
    def moved(self, member: Member, email: str) -> Writes[Any]:
        x = yield Update(member, email=email)
        return x

    @write("W13")
    def in_a_helper(self, name: str) -> Writes[int]:
        x = yield from self._one_more(name)
        return x.n

    def _one_more(self, name: str) -> Writes[Counter]:
        return (yield from Update(Counter, name=name).set(n=Add(1)))

    @write("W14")
    def helper_and_more(self, name: str) -> Writes[Any]:
        x = yield from self._one_quietly(name)
        yield Create(Counter(name="beside"))
        return x

    def _one_quietly(self, name: str) -> Writes[Any]:
        x = yield Update(Counter, name=name).set(n=Add(1))
        return x

    @write("W15")
    def before_a_batch(self, name: str) -> Writes[Any]:
        x = yield Update(Counter, name=name).set(n=Add(1))
        yield Batch([Put(Counter(name="batched"))])
        return x

    @write("W18")
    def numbered(self, name: str) -> Writes:
        counter = yield Update(Counter, name=name).set(n=Add(1))
        yield Create(Visit(path=f"{name}/{counter.n}"))

    @write("W19")
    def computed(self, name: str) -> Writes[str]:
        counter = yield Update(Counter, name=name).set(n=Add(1))
        return f"{counter.label}-{counter.n * 2}"

    @write("W20")
    def read_first(self, name: str) -> Writes[tuple[int, int]]:
        before = yield from self.counter.read(name)
        after = yield Update(Counter, name=name).set(n=Add(1))
        return (0 if before is None else before.n), after.n

    @write("W21")
    def removed_number(self, name: str) -> Writes[int]:
        old = yield from Delete(Counter, name=name)
        return -1 if old is None else old.n

    @write("W22")
    def decides_by_it(self, name: str) -> Writes:
        counter = yield Update(Counter, name=name).set(n=Add(1))
        if counter.n > 5:
            yield Create(Visit(path=name))

    @write("W23")
    def at_most(self, counted: Counter | Locked, most: int) -> Writes[int]:
        after: Counter | Locked = yield Update(counted, n=Add(1))
        if after.n > most:
            raise ValueError(f"{after.n} are too many")
        return after.n

    @write("W17")
    def checked(self, name: str) -> Writes[Any]:
        x = yield Check(Counter, name=name)
        return x


@pytest.fixture
def counting() -> Any:
    with Counting.open(":memory:") as design:
        yield design


def test_an_update_of_a_stale_instance_returns_the_stored_item(counting: Counting) -> None:
    stale = counting.put(Counter(name="a"))
    counting.update(Counter, name="a", n=Add(1))
    requests = record(counting)
    assert [counting.bump(stale).n for _ in range(3)] == [2, 3, 4]
    assert requests.operations == ["UpdateItem"] * 3
    assert counting.bump(stale) == counting.get(Counter, name="a")


def test_an_increment_of_a_counter_returns_the_new_value_in_one_request(counting: Counting) -> None:
    counting.put(Counter(name="a", n=4, label="x", seen={"b"}))
    requests = record(counting)
    assert counting.number("a") == 5
    assert counting.in_a_helper("a") == 6
    assert counting.visit("/") == 1
    assert counting.visit("/") == 2
    assert counting.update(Counter, name="a", n=Add(1), seen=SetAdd({"c"})).n == 7
    assert counting.update(Update(Visit, path="/").set(n=Add(1)).or_create()).n == 3
    assert requests.operations == ["UpdateItem"] * 6


def test_a_delete_returns_the_deleted_item(counting: Counting) -> None:
    old = counting.put(Counter(name="a"))
    counting.update(Counter, name="a", n=Add(7))
    requests = record(counting)
    assert counting.remove(old) == Counter(name="a", n=7)
    assert counting.remove(old) is None
    counting.put(old)
    assert counting.delete(Counter, name="a") == old
    assert counting.delete(old) is None
    assert requests.operations == ["DeleteItem", "DeleteItem", "PutItem", "DeleteItem", "DeleteItem"]


def test_a_transaction_returns_none_for_items_with_unknown_contents(counting: Counting) -> None:
    element, two = counting.put(Counter(name="a")), counting.put(Counter(name="b"))
    assert counting.two(element, two) == (None, None)
    requests = record(counting)
    with pytest.raises(RequestError, match="isn't available: the transaction"):
        counting.two_wanted(element, two)
    with pytest.raises(RequestError, match="isn't available: the transaction"):
        counting.not_last(element, more=True)
    with pytest.raises(RequestError, match="isn't available: the transaction"):
        counting.numbered("a")
    assert not requests.requests
    assert counting.not_last(element, more=False) == counting.get(Counter, name="a") == Counter(name="a", n=2)


def test_a_transaction_returns_items_whose_contents_are_known(counting: Counting) -> None:
    locked = counting.create(Locked(name="a", label="x"))
    assert (
        counting.locked_and_more(locked)
        == counting.get(Locked, name="a")
        == Locked(name="a", n=1, label="x", version=2)
    )
    counting.delete(Counter, name="beside")
    counter = counting.put(Counter(name="a", n=3, seen={"x"}, log=["y"]))
    assert counting.all_expected(counter) == counting.get(Counter, name="a")
    element, two = counting.made("b")
    assert (element, two) == (counting.get(Locked, name="b"), counting.get(Visit, path="b"))
    assert two.until == datetime(2030, 1, 1, tzinfo=UTC)
    assert counting.put(Visit(path="c", until=datetime(2030, 1, 1, 0, 0, 0, 1, tzinfo=UTC))) == counting.get(
        Visit, path="c"
    )
    last = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)  # rounded, it would be outside the calendar
    assert counting.put(Visit(path="d", until=last)).until == last.replace(microsecond=0)


def test_an_action_whose_result_is_unused_is_sent_after_the_write_function_ends(counting: Counting) -> None:
    counting.put(Counter(name="wrong"))
    requests = record(counting)
    with pytest.raises(ValueError, match="before anything is sent"):
        counting.counted_nobody_asks("wrong")
    assert not requests.requests
    counting.put(Counter(name="right"))
    counting.counted_nobody_asks("right")
    assert "ReturnValues" not in requests.requests[-1][1]


def test_actions_that_other_actions_may_follow_are_sent_when_the_write_ends(counting: Counting) -> None:
    counting.put(Counter(name="a"))
    assert counting.before_a_batch("a").n == 1  # a batch comes after all that has a condition
    assert counting.helper_and_more("a") is None
    assert counting.checked("a") is None
    assert counting.number("a") == 3


def test_computed_fields_of_a_result_use_stored_values(counting: Counting) -> None:
    counting.put(Counter(name="a", n=4, label="x"))
    requests = record(counting)
    assert counting.computed("a") == "x-10"
    assert counting.read_first("a") == (5, 6)
    assert counting.removed_number("a") == 6
    assert counting.removed_number("a") == -1
    assert requests.operations == ["UpdateItem", "GetItem", "UpdateItem", "DeleteItem", "DeleteItem"]


def test_another_action_after_using_the_result_of_an_action_is_rejected(counting: Counting) -> None:
    counting.put(Counter(name="a", n=4))
    counting.decides_by_it("a")
    with pytest.raises(RequestError, match="follows a request that was already sent"):
        counting.decides_by_it("a")


def test_write_code_that_checks_a_result_gets_the_stored_item(counting: Counting) -> None:
    """The code gets the stored item even if the caller's instance is outdated."""
    high = counting.put(Counter(name="a", n=9))
    low = counting.put(Counter(name="a", n=0))
    assert counting.at_most(high, 5) == 1
    counting.update(Counter, name="a", n=Add(7))
    with pytest.raises(ValueError, match="9 are too many"):
        counting.at_most(low, 5)
    assert counting.get(Counter, name="a") == Counter(name="a", n=9)


def test_a_write_that_rejects_its_predicted_result_sends_no_request(counting: Counting) -> None:
    locked = counting.create(Locked(name="a", n=5))
    requests = record(counting)
    with pytest.raises(ValueError, match="6 are too many"):
        counting.at_most(locked, 5)
    assert not requests.requests
    assert counting.at_most(locked, 6) == 6


def test_an_update_of_a_unique_value_runs_as_a_transaction(counting: Counting) -> None:
    member = counting.create(Member(name="ada", email="a@b"))
    counting.update(Member, name="ada", n=Add(5))
    assert counting.moved(member, "c@d") is None
    assert counting.update(counting.get(Member, name="ada") or member, email="e@f").n == 5
    assert counting.delete(counting.get(Member, name="ada") or member) is None


def test_a_write_whose_last_action_fails_raises_an_error(counting: Counting) -> None:
    with pytest.raises(ConditionFailed, match="doesn't exist"):
        counting.number("nobody")


def test_update_rejects_keyword_changes_in_addition_to_an_update_object(counting: Counting) -> None:
    with pytest.raises(RequestError, match="pass changes in the Update"):
        counting.update(Update(Counter, name="a").set(n=1), n=2)


def test_asynchronous_writes_return_the_stored_items() -> None:
    asyncio.run(_awaited())


async def _awaited() -> None:
    async with Counting.open(":memory:") as counting:
        await counting.aio.put(Counter(name="a"))
        assert await counting.number.aio("a") == 1
        assert (await counting.aio.update(Counter, name="a", n=Add(1), log=Append(["x"]))).n == 2
        assert await counting.aio.delete(Counter, name="a") == Counter(name="a", n=2, log=["x"])


CHANGES: list[dict[str, Any]] = [
    {"n": Add(2)},
    {"n": 9},
    {"label": "new"},
    {"label": None},
    {"seen": SetAdd({"z"})},
    {"seen": SetRemove({"x"})},
    {"seen": set()},
    {"log": Append(["w"])},
    {"log": Remove()},
    {"n": Add(-1), "label": "both"},
]


class Pair(Entity):
    """An entity with a field of each kind, to test combinations of updates."""

    name: str
    n: int = 3
    label: str | None = None
    seen: set[str] = Field(default_factory=set)
    log: list[str] = Field(default_factory=list)

    primary = Key("PAIR#{name}", "HEAD")


class LockedPair(Entity):
    name: str
    n: int = 3
    label: str | None = None
    seen: set[str] = Field(default_factory=set)
    log: list[str] = Field(default_factory=list)
    version: Version = 0

    primary = Key("LOCKEDPAIR#{name}", "HEAD")


class Pairs(Design):
    """A design with writes of any given action, alone or in a transaction with a put."""

    table = Table("pairs", entities=[Pair, LockedPair])

    @write("W1")
    def alone(self, action: Any) -> Writes[Any]:
        return (yield action)

    @write("W2")
    def together(self, action: Any) -> Writes[Any]:
        x = yield action
        yield Put(Pair(name="beside"))
        return x


def _pair(seed: random.Random, kind: type[Any]) -> Any:
    return kind(
        name="a",
        n=seed.choice([0, 3, 5]),
        label=seed.choice([None, "", "old"]),
        seen=set(seed.sample("xyz", seed.randint(0, 2))),
        log=seed.sample("pqr", seed.randint(0, 2)),
    )


@pytest.mark.parametrize("kind", [Pair, LockedPair])
def test_writes_with_random_updates_return_the_stored_item(kind: type[Any]) -> None:
    seed = random.Random(f"given {kind.__name__}")
    given = {"alone": 0, "together": 0}
    for _ in range(400):
        with Pairs.open(":memory:") as pairs:
            read = pairs.create(_pair(seed, kind))
            if seed.random() < 0.5:  # somebody else writes meanwhile
                pairs.update(kind, name="a", **seed.choice(CHANGES))
            by_class = seed.random() < 0.3
            action: Any = Update(kind, name="a") if by_class else Update(read)
            for _ in range(seed.randint(1, 2)):
                action = action.set(**seed.choice(CHANGES))
            names = ("n", "label", "seen", "log")
            expected = seed.sample(names, seed.choice([0, 1, 4]))
            action = action.only_if(**{text: getattr(read, text) for text in expected})
            way = seed.choice(["alone", "together"])
            try:
                x = getattr(pairs, way)(action)
            except ConditionFailed:
                continue
            stored = pairs.get(kind, name="a")
            assert x in (None, stored), action
            assert way == "together" or x is not None
            given[way] += x is not None
    assert min(given.values()) > 20, given
