# mypy: disable-error-code="empty-body"
"""Iterators prefetch the next part of a result, and read no more items than necessary."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from collections.abc import AsyncIterator as AwaitedStream
from collections.abc import Iterator as Stream
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Annotated, Any

import pytest
from typing_extensions import TypeAliasType

from keyplan import Design, Entity, Key, Put, Table, read
from keyplan.client.conversations import Conversation, Pause, converse
from keyplan.client.item_iterators import stream, stream_async
from keyplan.errors import StoreError
from tests.client.support import record

PARTS = [list(range(10)), list(range(10, 20)), list(range(20, 25))]


class Source:
    """A source of three parts that records which parts were read."""

    def __init__(self, *, fails_at: int | None = None) -> None:
        self.asked: list[int] = []
        self.fails_at = fails_at

    def part(self, position: list[Any] | None, given: int) -> Conversation[tuple[list[Any], list[Any] | None]]:
        number = 0 if position is None else position[0]
        self.asked.append(number)
        if number == self.fails_at:
            raise StoreError("gone")
        assert given == number * 10
        yield Pause(0)
        return PARTS[number], [number + 1] if number + 1 < len(PARTS) else None


def run(conversation: Conversation[Any]) -> Any:
    return converse(conversation, None)  # type: ignore[arg-type]  # it only pauses


async def run_async(conversation: Conversation[Any]) -> Any:
    await asyncio.sleep(0)
    return run(conversation)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


def test_iterators_return_items_in_order(pool: ThreadPoolExecutor) -> None:
    for ahead in (None, pool):
        source = Source()
        assert list(stream(source.part, run, ahead)) == list(range(25))
        assert source.asked == [0, 1, 2]


def test_an_iterator_prefetches_the_next_part_at_the_middle_of_the_current_part(pool: ThreadPoolExecutor) -> None:
    source = Source()
    items = stream(source.part, run, pool)
    assert [next(items) for _ in range(5)] == list(range(5))
    assert source.asked == [0]
    next(items)
    pool.submit(int).result()  # the one thread has done what came before
    assert source.asked == [0, 1]
    items.close()  # type: ignore[attr-defined]
    assert source.asked == [0, 1]


def test_an_error_of_a_prefetch_is_raised_when_the_prefetched_items_are_needed(pool: ThreadPoolExecutor) -> None:
    items = stream(Source(fails_at=1).part, run, pool)
    assert [next(items) for _ in range(10)] == list(range(10))
    with pytest.raises(StoreError):
        next(items)


@pytest.mark.parametrize("ahead", [False, True])
def test_asynchronous_iterators_return_items_in_order(*, ahead: bool) -> None:
    async def everything() -> list[Any]:
        return [value async for value in stream_async(source.part, run_async, ahead=ahead)]

    source = Source()
    assert asyncio.run(everything()) == list(range(25))
    assert source.asked == [0, 1, 2]


def test_an_abandoned_asynchronous_iterator_leaves_no_running_task() -> None:
    async def some() -> int:
        items: AsyncGenerator[Any, None] = stream_async(source.part, run_async, ahead=True)
        async with aclosing(items):
            async for item in items:
                if item == 7:
                    break
        return len(asyncio.all_tasks())

    source = Source()
    assert asyncio.run(some()) == 1
    assert len(source.asked) <= 2


class Line(Entity):
    book: str
    number: int

    primary = Key("BOOK#{book}", "{number:05d}")


class Books(Design):
    """A design with a read that returns an iterator with a limit."""

    table = Table("books")

    @read("B1")
    def lines(self, book: str, limit: int) -> Iterator[Line]: ...


@pytest.mark.parametrize(
    ("limit", "requests"), [(1, 1), (99, 1), (100, 1), (101, 2), (150, 2), (200, 2), (250, 3), (1000, 3)]
)
def test_an_iterator_with_a_limit_reads_no_items_beyond_it(limit: int, requests: int) -> None:
    with Books.open(":memory:") as books:
        books.batch(Put(Line(book="b", number=number)) for number in range(250))
        recorder = record(books)
        assert [line.number for line in books.lines("b", limit)] == list(range(min(limit, 250)))
        assert recorder.operations == ["Query"] * requests


class Leaf(Entity):
    box: str
    name: str

    primary = Key("BOX#{box}", "{name}")


Leaves = Stream[Leaf]
Typed = TypeAliasType("Typed", Stream[Leaf])
AwaitedLeaves = TypeAliasType("AwaitedLeaves", AwaitedStream[Leaf])


class Others(Design):
    """A design with iterator types under other names: an imported name, a variable and an alias."""

    table = Table("others")

    @read("O1")
    def imported(self, box: str) -> Stream[Leaf]: ...

    @read("O2")
    def named(self, box: str) -> Leaves: ...

    @read("O3")
    def typed(self, box: str) -> Typed: ...

    @read("O4")
    def marked(self, box: str) -> Annotated[Stream[Leaf], "of a box"]: ...

    @read("O5")
    def awaited(self, box: str) -> AwaitedStream[Leaf]: ...

    @read("O6")
    def awaited_typed(self, box: str) -> AwaitedLeaves: ...


async def _taken(answer: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in answer]


def test_iterator_return_types_imported_under_other_names_are_recognized() -> None:
    with Others.open(":memory:") as others:
        leaf = others.put(Leaf(box="a", name="x"))
        untyped: Any = others
        for name in ("imported", "named", "typed", "marked"):
            answer = getattr(untyped, name)("a")
            assert not isinstance(answer, list), name
            assert next(answer) == leaf
            assert asyncio.run(_taken(getattr(untyped, name).aio("a"))) == [leaf]
        for name in ("awaited", "awaited_typed"):
            assert asyncio.run(_taken(getattr(untyped, name)("a"))) == [leaf]
