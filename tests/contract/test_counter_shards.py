# mypy: disable-error-code="empty-body"
"""Sharded counters are incremented in any shard and read as one sum, on every store."""

from __future__ import annotations

import pytest

from keyplan import (
    Add,
    CounterShards,
    Create,
    Design,
    Entity,
    IdempotencyTokens,
    Key,
    Put,
    Range,
    Table,
    Update,
    Writes,
    read,
    write,
)
from keyplan.errors import ArgumentError, DesignError
from tests.contract.stores import Caller, caller_of


class Likes(Entity):
    post_id: str
    slot: int = CounterShards(4)
    likes: int = 0
    cents: int | None = None
    applied: IdempotencyTokens = set()  # noqa: RUF012 - pydantic copies it

    primary = Key("LIKES#{post_id}#{slot:d}", "COUNT")


class Line(Entity):
    order_id: str
    number: int
    cents: int = 0

    primary = Key("ORDER#{order_id}", "LINE#{number:03d}")


class Posts(Design):
    table = Table("posts")

    @read("R1", entity=Likes, total="likes")
    def likes(self, post_id: str) -> int: ...

    @read("R2")
    def parts(self, post_id: str) -> list[Likes]: ...

    @read("R3", entity=Line, total="cents")
    def cents(self, order_id: str, number: Range[int] | None = None) -> int: ...

    @read("R4", entity=Likes, total="cents", scan=True)
    def all_cents(self) -> int: ...

    @read("R5")
    def part(self, post_id: str, slot: int) -> Likes | None: ...

    @write("W1")
    def like(self, post_id: str) -> Writes:
        yield Update(Likes, post_id=post_id).set(likes=Add(1)).or_create()

    @write("W2")
    def like_once(self, post_id: str, user_id: str) -> Writes:
        yield Update(Likes, post_id=post_id).set(likes=Add(1)).idempotent(user_id).or_create()

    @write("W3")
    def order(self, order_id: str, post_id: str, cents: int) -> Writes:
        yield Create(Line(order_id=order_id, number=1, cents=cents))
        yield Update(Likes, post_id=post_id).set(cents=Add(cents)).or_create()


every = caller_of(Posts)


def test_sharded_counter_is_read_as_the_sum_of_its_shards(every: Caller) -> None:
    assert every.read("likes", post_id="1") == 0
    for _ in range(40):
        every.write("like", post_id="1")
    every.write("like", post_id="2")
    assert (every.read("likes", post_id="1"), every.read("likes", post_id="2")) == (40, 1)
    parts = every.read("parts", post_id="1")
    assert sum(part.likes for part in parts) == 40
    assert {part.slot for part in parts} == {0, 1, 2, 3}  # all of them, except with probability 4 · (3/4)⁴⁰
    assert every.read("part", post_id="1", slot=parts[0].slot) == parts[0]


def test_idempotency_token_determines_the_counter_shard(every: Caller) -> None:
    for user in "abcdeabcde":
        every.write("like_once", post_id="1", user_id=user)
    assert every.read("likes", post_id="1") == 5


def test_totals_of_sharded_counters_in_ranges_and_scans_are_read(every: Caller) -> None:
    every.batch([Put(Line(order_id="1", number=number, cents=number)) for number in range(1, 11)])
    assert every.read("cents", order_id="1") == 55
    assert every.read("cents", order_id="1", number=Range(ge=9)) == 19
    assert every.read("cents", order_id="2") == 0
    every.write("order", order_id="3", post_id="p", cents=7)
    every.write("like", post_id="p")
    assert every.read("all_cents") == 7


def test_update_of_a_counter_shard_requires_a_valid_shard_number(every: Caller) -> None:
    with pytest.raises(ArgumentError, match="or_create"):
        every.update(Update(Likes, post_id="1").set(likes=Add(1)))
    with pytest.raises(ArgumentError, match="less than 4"):
        every.update(Update(Likes, post_id="1", slot=4).set(likes=Add(1)).or_create())
    assert every.update(Update(Likes, post_id="1", slot=3).set(likes=Add(1)).or_create()).slot == 3


def test_invalid_counter_shards_are_rejected() -> None:
    with pytest.raises(ArgumentError, match="takes 2 to 100 shards, not 1"):
        CounterShards(1)

    class SortKeyOnly(Entity):
        name: str
        slot: int = CounterShards(3)
        primary = Key("BESIDE#{name}", "{slot:d}")

    with pytest.raises(DesignError, match="CounterShards has no effect"):

        class _Sides(Design):
            table = Table("sides", entities=[SortKeyOnly])


@pytest.mark.parametrize(
    ("total", "message"), [("like", "isn't a field of Likes"), ("post_id", "requires an integer field")]
)
def test_fields_that_cannot_be_summed_are_rejected_in_totals(total: str, message: str) -> None:
    with pytest.raises(DesignError, match=message):

        class _Wrong(Design):
            table = Table("wrong")

            @read("R1", entity=Likes, total=total)
            def likes(self, post_id: str) -> int: ...


def test_total_of_a_sharded_counter_requires_the_return_type_int() -> None:
    with pytest.raises(DesignError, match="total= requires the return type int"):

        class _Wrong(Design):
            table = Table("wrong")

            @read("R1", total="likes")
            def likes(self, post_id: str) -> list[Likes]: ...
