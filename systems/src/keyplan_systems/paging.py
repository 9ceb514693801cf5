"""Reading all pages of a pattern, for jobs and exports; items as JSON; and the items of many ids, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from keyplan import Cursor, Page

T = TypeVar("T")


def pages_of(ask: Callable[..., Page[T]]) -> Iterator[Page[T]]:
    """Every page, lazily. ``ask`` takes a ``cursor``."""
    cursor: Cursor | None = None
    while True:
        page = ask(cursor=cursor)
        yield page
        cursor = page.cursor
        if cursor is None:
            return


def items_of(ask: Callable[..., Page[T]]) -> Iterator[T]:
    for page in pages_of(ask):
        yield from page.items


def as_json(item: BaseModel) -> dict[str, Any]:
    return item.model_dump(mode="json")


def items_of_ids(ids: Sequence[str], read: Callable[[list[str]], Iterable[T]], id_of: Callable[[T], str]) -> list[T]:
    """The existing items of ids, in the order of the ids. An id can be older than the store's content."""
    there = {id_of(item): item for item in read(list(ids))} if ids else {}
    return [there[item_id] for item_id in ids if item_id in there]
