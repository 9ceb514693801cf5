# mypy: disable-error-code="empty-body"
"""Updates with ``or_create`` change an item, or create a complete item, in one request."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from random import random
from typing import Annotated, Any

import pytest
from pydantic import Field, StringConstraints

from keyplan import (
    Add,
    Design,
    Entity,
    Index,
    Key,
    Remove,
    SetAdd,
    SetRemove,
    Table,
    Unique,
    Update,
    Version,
    Writes,
    now,
    read,
    write,
)
from keyplan.errors import ConditionFailed, UpdateRejected
from keyplan.testing.stored_world import check_invariants, scan
from tests.client.support import record

GSI = Index("GSI", "gsipk", "gsisk")


class Count(Entity):
    name: str
    part: int = Field(ge=0)
    value: int = Field(default=0, ge=0)
    names: set[str] = Field(default_factory=set)
    note: str | None = None

    primary = Key("COUNT#{name}", "{part:02d}", shards=3)


class Strict(Entity):
    """An entity with a required field."""

    name: str
    kind: str
    made_at: datetime = Field(default_factory=now)
    begins_at: int = 5
    ratio: float = Field(default_factory=random)

    primary = Key("STRICT#{name}", "META")


class Listed(Entity):
    """An entity with an index key."""

    name: str
    group: str = "a"
    value: int = 0

    primary = Key("LISTED#{name}", "META")
    by_group = Key("GROUP#{group}", "{name}", index=GSI)


class Claimed(Entity):
    """An entity with a unique value."""

    name: str
    mail: str | None = None
    value: int = 0

    primary = Key("CLAIMED#{name}", "META")
    claim = Unique("MAIL#{mail}")


class Locked(Entity):
    """An entity with a version."""

    name: str
    value: int = 0
    version: Version = 0

    primary = Key("LOCKED#{name}", "META")


class Counts(Design):
    table = Table("counts", indexes=[GSI], entities=[Strict, Listed, Claimed, Locked])

    @read("C1")
    def count(self, name: str, part: int) -> Count | None: ...

    @write("C2")
    def add(self, name: str, part: int, value: int) -> Writes:
        yield Update(Count, name=name, part=part).set(value=Add(value)).or_create()

    @write("C3")
    def add_up_to(self, name: str, most: int) -> Writes:
        yield (
            Update(Count, name=name, part=0)
            .set(value=Add(1))
            .or_create()
            .only_if("attribute_not_exists(value) OR value < :most", most=most)
        )


@pytest.fixture
def counts() -> Iterator[Counts]:
    with Counts.open(":memory:") as opened:
        yield opened


def test_the_or_create_option_updates_or_creates_the_item_in_one_request(counts: Counts) -> None:
    requests = record(counts)
    counts.add("a#b", 1, 2)
    counts.add("a#b", 1, 3)
    assert requests.operations == ["UpdateItem", "UpdateItem"]
    assert counts.count("a#b", 1) == Count(name="a#b", part=1, value=5)
    world = scan(counts)
    check_invariants(world)
    assert world.rows[0].item["name"] == {"S": "a#b"}


def test_bounds_apply_to_an_update_that_creates_its_item(counts: Counts) -> None:
    with pytest.raises(ConditionFailed):
        counts.add("a", 0, -1)
    assert counts.count("a", 0) is None
    counts.add("a", 0, 1)
    counts.add("a", 0, -1)
    with pytest.raises(ConditionFailed):
        counts.add("a", 0, -1)


def test_key_fields_given_by_name_are_normalized_like_those_of_instances() -> None:
    class Account(Entity):
        login: Annotated[str, StringConstraints(to_lower=True)]
        visits: int = 0

        primary = Key("ACCOUNT#{login}", "HEAD")

    class Accounts(Design):
        table = Table("accounts", entities=[Account])

    with Accounts.open(":memory:") as accounts:
        accounts.update(Update(Account, login="Ada").set(visits=Add(1)).or_create())
        accounts.update(Account, login="ADA", visits=Add(1))
        check_invariants(scan(accounts))
        ada = Account(login="ada", visits=2)
        assert [accounts.get(Account, login="Ada"), *accounts.get_many(Account, [{"login": "aDA"}])] == [ada, ada]
        assert accounts.delete(Account, login="Ada") == ada


def test_conditions_apply_to_an_update_that_creates_its_item(counts: Counts) -> None:
    counts.add_up_to("a", 2)
    counts.add_up_to("a", 2)
    with pytest.raises(ConditionFailed):
        counts.add_up_to("a", 2)
    assert counts.count("a", 0) == Count(name="a", part=0, value=2)


def test_updates_in_a_transaction_create_items(counts: Counts) -> None:
    parts = [Update(Count, name="a", part=part).set(value=Add(1), names=SetAdd({"x"})).or_create() for part in (1, 2)]
    counts.transact(parts)
    counts.transact(parts)
    assert [counts.get(Count, name="a", part=part) for part in (1, 2)] == [
        Count(name="a", part=part, value=2, names={"x"}) for part in (1, 2)
    ]


def test_concurrent_additions_to_a_missing_item_are_all_counted(tmp_path: Path) -> None:
    with Counts.open(tmp_path / "counts.db") as counts, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: counts.add("a", 0, 1), range(200)))
        assert counts.count("a", 0) == Count(name="a", part=0, value=200)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Update(Strict, name="a").set(kind="x", made_at=now(), ratio=1.5), None),
        (Update(Strict, name="a").set(kind="x", begins_at=1), "would lack this field, which has no fixed default"),
        (Update(Strict, name="a").set(made_at=now(), begins_at=1), "would lack this field, which has no fixed default"),
        (Update(Strict, name="a").set(kind="x", made_at=now(), ratio=1.5, begins_at=Add(1)), None),
        (Update(Strict, name="a").set(kind="x", made_at=now(), ratio=Add(1)), "requires a field with a fixed default"),
        (Update(Count, name="a", part=1).set(names=SetRemove({"x"}), note=Remove()), None),
        (Update(Count(name="a", part=1), value=1), "the item of an instance already exists"),
        (Update(Listed, name="a").set(value=Add(1)), "by_group"),
        (Update(Claimed, name="a").set(value=Add(1)), "claims"),
        (Update(Locked, name="a").set(value=Add(1)), "a version"),
    ],
)
def test_updates_that_create_incomplete_items_are_rejected(counts: Counts, action: Any, message: str | None) -> None:
    if message is None:
        counts.transact([action.or_create()])
        check_invariants(scan(counts))
        return
    with pytest.raises(UpdateRejected, match=message):
        counts.transact([action.or_create()])
    assert not scan(counts).size
