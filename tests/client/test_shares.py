# mypy: disable-error-code="empty-body"
"""A page of merged partitions takes its share of each: about one entry too many a partition, on average."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from keyplan import Cursor, Design, Entity, Index, Key, Page, Table, read
from keyplan.design.compiled.shares import PARALLEL_MAX, Place, Shares
from tests.client.support import record

GSI = Index("GSI1", "gsi1pk", "gsi1sk")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = NOON.date()


class Event(Entity):
    event_id: str
    day: date
    at: datetime

    primary = Key("EVENT#{event_id}", "HEAD")
    by_day = Key("DAY#{day}", "{at}#{event_id}", index=GSI, shards=8)


class Log(Design):
    table = Table("log", indexes=[GSI])

    @read("E1", newest_first=True)
    def events(self, day: date, limit: int = 20, cursor: Cursor | None = None) -> Page[Event]: ...


@pytest.mark.parametrize("limit", [1, 3, 10, 25, 100])
def test_paging_through_shards_reads_little_more_than_it_gives(limit: int) -> None:
    with Log.open(":memory:") as log:
        stored = [Event(event_id=str(number), day=DAY, at=NOON + timedelta(seconds=number)) for number in range(600)]
        for one in stored:
            log.put(one)
        looked_at: list[int] = []

        def counted(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
            response: dict[str, Any] = call(operation, parameters)
            looked_at.append(response["ScannedCount"])
            return response

        record(log).around = counted
        found: list[Event] = []
        pages, cursor = 0, None
        while True:
            page = log.events(DAY, limit=limit, cursor=cursor)
            found += page.items
            pages += 1
            cursor = page.cursor
            if cursor is None:
                break
        assert found == stored[::-1]
        extra = (sum(looked_at) - len(found)) / pages - 1  # one tells whether another page follows
        assert extra <= 9, f"{extra:.1f} entries too many a page, of 8 shards"
        assert len(looked_at) / pages <= 8 * 6


def merged(partitions: Sequence[Sequence[Place]], wanted: int, *, forward: bool, bounded: bool) -> tuple[int, int]:
    """Read partitions to a page's end as ``Shares`` says. Gives how many entries were read, and in how many rounds."""
    shares = Shares(len(partitions), wanted, forward=forward, bounded=bounded, sifted=False)
    given: list[Place] = []
    at = [0] * len(partitions)
    rounds = 0
    while asks := shares.asks():
        assert len(asks) <= PARALLEL_MAX
        assert len({ask.partition for ask in asks}) == len(asks)
        rounds += 1
        for ask in asks:
            rest = partitions[ask.partition][at[ask.partition] :]
            if ask.end is not None:
                rest = [one for one in rest if (one <= ask.end if forward else one >= ask.end)]
            read_now = rest[: ask.limit]
            at[ask.partition] += len(read_now)
            more = ask.limit is not None and len(rest) >= ask.limit
            shares.took(ask, read_now, len(read_now), read_now[-1] if more else None)
            given += read_now
    right = sorted((one for part in partitions for one in part), reverse=not forward)[:wanted]
    assert sorted(given, reverse=not forward)[:wanted] == right
    return len(given), rounds


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("forward", [True, False])
def test_whatever_lies_where_the_page_is_right(forward: bool, bounded: bool) -> None:
    """Many partitions and few, even and skewed, empty ones among them."""
    choice = random.Random(1)
    for _ in range(400):
        count = choice.choice([1, 2, 3, 5, 8, 21, 45])
        weights = [choice.choice([0, 1, 1, 1, 30]) for _ in range(count)]
        parts: list[list[Place]] = [[] for _ in range(count)]
        for number in range(choice.choice([0, 1, 10, 300])):
            if any(weights):
                parts[choice.choices(range(count), weights)[0]].append((number,))
        merged([part if forward else part[::-1] for part in parts], choice.choice([1, 2, 11, 101]),
               forward=forward, bounded=bounded)  # fmt: skip


@pytest.mark.parametrize("count", [2, 4, 8, 10, 20, 50])
@pytest.mark.parametrize("wanted", [2, 6, 11, 26, 51, 101, 201])
def test_hashed_partitions_are_read_by_their_share(count: int, wanted: int) -> None:
    choice = random.Random(f"{count}/{wanted}")
    trials = 20
    read_in_all = rounds_in_all = 0
    for _ in range(trials):
        parts: list[list[Place]] = [[] for _ in range(count)]
        for number in range(wanted * 3):
            parts[choice.randrange(count)].append((number,))
        read_now, rounds = merged(parts, wanted, forward=True, bounded=True)
        read_in_all += read_now
        rounds_in_all += rounds
    assert (read_in_all / trials - wanted) / count <= 1.15
    assert rounds_in_all / trials <= 8 * -(-count // PARALLEL_MAX)


def test_one_hot_partition_takes_few_rounds() -> None:
    hot: list[Place] = [(number,) for number in range(5000)]
    others: list[list[Place]] = [[(number * 1000 + at,)] for at in range(1, 10) for number in range(1)]
    read_now, rounds = merged([hot, *others], 501, forward=True, bounded=True)
    assert rounds <= 12
    assert read_now <= 2 * 501
