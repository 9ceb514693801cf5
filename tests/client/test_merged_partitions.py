# mypy: disable-error-code="empty-body"
"""A page of merged partitions has one cursor. Concurrent writes cause no missing or repeated items."""

from __future__ import annotations

import asyncio
import itertools
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from keyplan import Cursor, Design, Each, Entity, Index, Key, Number, Page, Put, Range, Table, read
from tests.client.support import record
from tests.contract.design import Event, Everything, Follow, Post

DAY = date(2026, 3, 1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def event(number: int, name: str = "old") -> Event:
    return Event(day=DAY, at=NOON + timedelta(seconds=number // 3), event_id=f"{name}{number}")


def post(number: int, name: str = "old") -> Post:
    return Post(
        user_id=f"u{number % 25}",
        post_id=f"{name}{number:03d}",
        created_at=NOON + timedelta(seconds=number // 4),
        status="published",
    )


def all_pages(design: Design, pattern: str, limit: int, meanwhile: Any, **arguments: Any) -> list[Any]:
    entities: list[Entity] = []
    cursor = None
    for round_ in range(1000):
        page = design.run_read(pattern, (), {**arguments, "limit": limit, "cursor": cursor})
        entities += page.items
        cursor = page.cursor
        if cursor is None:
            return entities
        meanwhile(round_)
    raise AssertionError("no end")


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("newest_first", [True, False])
def test_concurrent_writes_neither_hide_nor_repeat_items_of_merged_partitions(limit: int, newest_first: bool) -> None:
    """Shards are read in ascending order, junctions descending, with many items per timestamp."""
    choice = random.Random(f"{limit}{newest_first}")
    with Everything.open(":memory:") as design:
        old: list[Any]
        if newest_first:
            for number in range(25):
                design.put(Follow(user_id="me", followed_id=f"u{number}"))
            old = [design.put(post(number)) for number in range(60)]
        else:
            old = [design.put(event(number)) for number in range(60)]

        def meanwhile(round_: int) -> None:
            number = choice.randrange(60)
            design.put(post(number, f"n{round_}-") if newest_first else event(number, f"n{round_}-"))

        arguments: dict[str, Any] = {"user_id": "me"} if newest_first else {"day": DAY}
        pages = all_pages(design, "feed" if newest_first else "events", limit, meanwhile, **arguments)
    given = [value for value in pages if value in old]
    assert sorted(given, key=repr) == sorted(old, key=repr)
    assert len(pages) == len({repr(value) for value in pages})
    times = [value.created_at if isinstance(value, Post) else value.at for value in pages]
    assert times == sorted(times, reverse=newest_first)


def test_concurrent_deletes_of_items_hide_no_other_items_of_merged_partitions() -> None:
    with Everything.open(":memory:") as design:
        old = [design.put(event(number)) for number in range(30)]

        def meanwhile(round_: int) -> None:
            design.delete(old[round_ * 2])  # the page before ended there, or before it

        pages = all_pages(design, "events", 2, meanwhile, day=DAY)
        assert [element for element in old if element not in pages] == []


def test_unchanged_partitions_are_read_completely_while_others_are_added_and_removed() -> None:
    with Everything.open(":memory:") as design:
        for number in range(10):
            design.put(Follow(user_id="me", followed_id=f"u{number}"))
        old = [design.put(post(number)) for number in range(0, 250, 1) if number % 25 < 10]

        def meanwhile(round_: int) -> None:
            design.delete(Follow, user_id="me", followed_id="u9")
            design.put(Follow(user_id="me", followed_id=f"u{10 + round_ % 5}"))

        pages = all_pages(design, "feed", 7, meanwhile, user_id="me")
        kept = [element for element in old if element.user_id != "u9"]
        assert [element for element in kept if element not in pages] == []
        assert len(pages) == len({repr(value) for value in pages})


def test_merged_partitions_are_queried_in_parallel() -> None:
    with Everything.open(":memory:") as design:
        recorder = record(design)
        batches: list[int] = []
        whole = recorder.call_all

        def call_all(requests: list[Any]) -> list[dict[str, Any]]:
            batches.append(len(requests))
            return whole(requests)

        recorder.call_all = call_all  # type: ignore[method-assign]
        design.posts_of_users(user_id=[f"u{number}" for number in range(45)])
    assert batches == [20, 20, 5]


def test_an_iterator_sends_requests_only_as_its_items_are_consumed() -> None:
    with Everything.open(":memory:") as design:
        for number in range(250):
            design.put(Post(user_id="u", post_id=f"{number:03d}", created_at=NOON))
        recorder = record(design)
        stream = design.all_posts(user_id="u")
        assert recorder.requests == []
        assert next(stream).post_id == "000"
        assert len(recorder.requests) == 1
        assert len(list(stream)) == 249
        assert len(recorder.requests) == 3

        async def first() -> str:
            async for element in design.all_posts.aio(user_id="u"):
                return element.post_id
            return ""

        assert asyncio.run(first()) == "000"


def test_entries_with_equal_sort_keys_are_returned_in_index_order() -> None:
    """The index determines the order of these entries, and a cursor is a position in this order."""
    partitions: list[list[str]] = []

    def turned(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        response: dict[str, Any] = call(operation, parameters)
        if operation == "Query":
            response["Items"] = response["Items"][::-1]
            partitions.append([item["post_id"]["S"] for item in response["Items"]])
        return response

    with Everything.open(":memory:") as design:
        for number in range(12):
            design.put(Post(user_id=f"u{number}", post_id=f"p{number:02d}", created_at=NOON, status="published"))
        record(design).around = turned
        result = [item.post_id for item in design.published(limit=100).items]
    assert sorted(result) == [f"p{number:02d}" for number in range(12)]
    assert max(map(len, partitions)) > 1
    for names in partitions:
        assert [name for name in result if name in names] == names


SCORES = Index("SCORES", "team", Number("score"))


class Player(Entity):
    name: str
    team: str
    score: int

    primary = Key("PLAYER#{name}", "HEAD")
    by_score = Key("{team}", "{score}", index=SCORES)


class Scores(Design):
    table = Table("scores", indexes=[SCORES])

    @read("S1")
    def above(
        self,
        team: Each[str],
        score: Range[int],
        newest_first: bool = False,
        limit: int = 3,
        cursor: Cursor | None = None,
    ) -> Page[Player]: ...


@pytest.mark.parametrize("at_bound", [0, 5, 6, 7, 20])
def test_items_at_an_exclusive_bound_of_the_range_are_omitted(at_bound: int) -> None:
    """If all items from one partition are excluded, the other partitions are still read."""
    with Scores.open(":memory:") as scores:
        low = [Player(name=f"low{number:02d}", team="ab"[number % 5 == 4], score=0) for number in range(at_bound)]
        high = [Player(name=f"high{number}", team="abc"[number % 3], score=number // 2) for number in range(2, 9)]
        scores.batch([Put(player) for player in (*low, *high)])
        for limit, falling in itertools.product((1, 2, 3, 10), (False, True)):
            asked = {"team": ["a", "b", "c"], "score": Range(gt=0), "newest_first": falling}
            players = all_pages(scores, "above", limit, lambda _: None, **asked)
            assert sorted(player.name for player in players) == sorted(player.name for player in high)
            assert [player.score for player in players] == sorted((player.score for player in high), reverse=falling)
