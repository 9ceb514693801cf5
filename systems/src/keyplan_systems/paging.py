"""Going through every page of a question, for jobs that look at all there is; and items as JSON, for those that take
them along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel

from keyplan import Cursor, Page

__all__ = ["as_json", "items_of", "pages_of"]

T = TypeVar("T")


def pages_of(ask: Callable[..., Page[T]]) -> Iterator[Page[T]]:
    """Every page, from the first. ``ask`` takes a ``cursor``; the next page is asked for when this one is done with."""
    cursor: Cursor | None = None
    while True:
        page = ask(cursor=cursor)
        yield page
        cursor = page.cursor
        if cursor is None:
            return


def items_of(ask: Callable[..., Page[T]]) -> Iterator[T]:
    """Every item of every page."""
    for page in pages_of(ask):
        yield from page.items


def as_json(item: BaseModel) -> dict[str, Any]:
    """An item, or a part of one, as JSON has it."""
    return item.model_dump(mode="json")
