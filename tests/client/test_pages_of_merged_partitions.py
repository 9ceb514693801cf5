# mypy: disable-error-code="empty-body"
"""A page of merged partitions reads only about one extra item per partition, in few requests."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from keyplan import Cursor, Design, Entity, Index, Key, Page, Table, read
from keyplan.errors import InvalidItemError
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
def test_paging_through_shards_reads_few_extra_items(limit: int) -> None:
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


def test_an_iterator_over_shards_reads_parts_of_increasing_size() -> None:
    """If the caller stops early, at most twice as many items are read as the caller used."""
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


def test_items_of_other_programs_do_not_shorten_a_page() -> None:
    """The other programs' items have keys similar to those of the design."""
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


def test_items_beyond_a_page_are_not_parsed() -> None:
    """An invalid item raises an error only when its own page is read."""
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
