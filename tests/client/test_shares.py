# mypy: disable-error-code="empty-body"
"""A page of merged partitions takes its share of each: about one entry too many a partition, and few requests."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from keyplan import Cursor, Design, Entity, Index, Key, Page, Table, read
from keyplan.errors import InvalidItemError
from keyplan.model.compiled.partition_shares import PARALLEL_MAX, Ask, Place, Shares
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

    @read("E2", newest_first=True)
    def flow(self, day: date) -> Iterator[Event]: ...


@pytest.mark.parametrize("limit", [1, 25, *(pytest.param(limit, marks=pytest.mark.nightly) for limit in (3, 10, 100))])
def test_paging_through_shards_reads_little_more_than_it_gives(limit: int) -> None:
    with Log.open(":memory:") as log:
        stored = [Event(event_id=str(number), day=DAY, at=NOON + timedelta(seconds=number)) for number in range(1500)]
        for event in stored:
            log.put(event)
        looked_at: list[int] = []

        def counted(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
            response: dict[str, Any] = call(operation, parameters)
            looked_at.append(response["ScannedCount"])
            return response

        record(log).around = counted
        events: list[Event] = []
        pages, cursor = 0, None
        while True:
            page = log.events(DAY, limit=limit, cursor=cursor)
            events += page.items
            pages += 1
            cursor = page.cursor
            if cursor is None:
                break
        assert events == stored[::-1]
        extra = (sum(looked_at) - len(events)) / pages - 1  # one tells whether another page follows
        assert extra <= 12, f"{extra:.1f} entries too many a page, of 8 shards"
        assert len(looked_at) / pages <= 8 * 3


def test_an_iterator_of_shards_reads_longer_parts_the_further_it_goes() -> None:
    """Each part begins in all shards anew; a caller who stops has paid for no more than twice what it took."""
    with Log.open(":memory:") as log:
        stored = [Event(event_id=str(number), day=DAY, at=NOON + timedelta(seconds=number)) for number in range(1500)]
        for event in stored:
            log.put(event)
        looked_at: list[int] = []

        def counted(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
            response: dict[str, Any] = call(operation, parameters)
            looked_at.append(response["ScannedCount"])
            return response

        record(log).around = counted
        flow = log.flow(DAY)
        first = [next(flow) for _ in range(250)]
        assert sum(looked_at) <= 2 * 250 + 8 * 4
        assert [*first, *flow] == stored[::-1]
        assert sum(looked_at) <= 1500 + 8 * 8
        assert len(looked_at) <= 5 * 8 * 5  # of parts of 100, there would be 15


def merged(
    partitions: Sequence[Sequence[Place]],
    wanted: int,
    *,
    forward: bool,
    bounded: bool,
    even: bool = True,
    asked: list[Ask] | None = None,
) -> tuple[int, int]:
    """Read partitions to a page's end as ``Shares`` says. Gives how many entries were read, and in how many rounds."""
    shares = Shares(len(partitions), wanted, forward=forward, bounded=bounded, sifted=False, even=even)
    given: list[Place] = []
    at = [0] * len(partitions)
    rounds = 0
    while asks := shares.asks():
        assert len(asks) <= PARALLEL_MAX
        assert len({ask.partition for ask in asks}) == len(asks)
        rounds += 1
        if asked is not None:
            asked += asks
        for ask in asks:
            rest = partitions[ask.partition][at[ask.partition] :]
            if ask.end is not None:
                rest = [element for element in rest if (element <= ask.end if forward else element >= ask.end)]
            read_now = rest[: ask.limit]
            at[ask.partition] += len(read_now)
            more = ask.limit is not None and len(rest) >= ask.limit
            shares.took(ask, read_now, len(read_now), read_now[-1] if more else None)
            given += read_now
    right = sorted((element for part in partitions for element in part), reverse=not forward)[:wanted]
    assert sorted(given, reverse=not forward)[:wanted] == right
    return len(given), rounds


def extra(count: int, wanted: int, spread: str, trials: int = 0) -> tuple[float, float, float]:
    """How many entries too many are read of each partition, in how many rounds and requests a partition, on average."""
    choice = random.Random(f"{count}/{wanted}/{spread}")
    trials = trials or max(20, 900 // count)
    read_in_all = rounds_in_all = 0
    asked: list[Ask] = []
    for _ in range(trials):
        weights = {
            "hashed": [1.0] * count,
            "random": [choice.random() ** 2 for _ in range(count)],
            "one": [20.0] + [1.0] * (count - 1),
        }[spread]
        parts: list[list[Place]] = [[] for _ in range(count)]
        for number, at in enumerate(choice.choices(range(count), weights, k=wanted * 3)):
            parts[at].append((number,))
        even = spread == "hashed"
        read_now, rounds = merged(parts, wanted, forward=True, bounded=True, even=even, asked=asked)
        read_in_all += read_now
        rounds_in_all += rounds
    return (read_in_all / trials - wanted) / count, rounds_in_all / trials, len(asked) / trials / count


LIMITS = (1, 2, 4, 5, 10, 20, 25, 50, 75, 100)


class Numbered(Entity):
    number: int
    day: date
    at: datetime

    primary = Key("ON#{day}", "NUMBER#{number:03d}")
    by_day = Key("NUMBERED#{day}", "{at}", index=GSI, shards=4)


class Numbers(Design):
    table = Table("numbers", indexes=[GSI])

    @read("N1", order_by="at")
    def numbers(self, day: date, limit: int = 10, cursor: Cursor | None = None) -> Page[Numbered]: ...


def test_what_only_looks_like_an_item_takes_no_place_on_a_page() -> None:
    """Something else's items, whose keys begin as an entity's do: pages are as long without them."""
    with Numbers.open(":memory:") as log:
        right = [Numbered(number=number, day=DAY, at=NOON + timedelta(seconds=number)) for number in range(60)]
        for one in right:
            log.put(one)
        for number in range(0, 60, 2):  # each between two right ones, in one of the shards
            at = f"{NOON + timedelta(seconds=number, milliseconds=500):%Y-%m-%dT%H:%M:%S.%fZ}"
            log.store.transport.call(
                "PutItem",
                {
                    "TableName": log.store.table_name,
                    "Item": {
                        "pk": {"S": "ON#2026-02-31"},
                        "sk": {"S": f"NUMBER#{number:03d}"},
                        "gsi1pk": {"S": f"NUMBERED#{DAY}#{number % 4}"},
                        "gsi1sk": {"S": at},
                    },
                },
            )
        pages = [log.numbers(DAY, limit=9)]
        while pages[-1].cursor is not None:
            pages.append(log.numbers(DAY, limit=9, cursor=pages[-1].cursor))
        assert [one for page in pages for one in page.items] == right
        assert [len(page.items) for page in pages] == [9] * 6 + [6]


def test_what_lies_beyond_a_page_is_not_read_as_an_instance() -> None:
    """What can't be read fails the page that it stands on, and none before."""
    with Numbers.open(":memory:") as log:
        for number in range(40):
            log.put(Numbered(number=number, day=DAY, at=NOON + timedelta(seconds=number)))
        damaged = {":a": {"S": "never"}}
        log.store.transport.call(
            "UpdateItem",
            {
                "TableName": log.store.table_name,
                "Key": {"pk": {"S": f"ON#{DAY}"}, "sk": {"S": "NUMBER#010"}},
                "UpdateExpression": "SET #at = :a",
                "ExpressionAttributeNames": {"#at": "at"},
                "ExpressionAttributeValues": damaged,
            },
        )
        page = log.numbers(DAY, limit=10)
        assert [one.number for one in page.items] == list(range(10))
        with pytest.raises(InvalidItemError):
            log.numbers(DAY, limit=10, cursor=page.cursor)
