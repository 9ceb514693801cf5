"""Going through every page of a question, for jobs that look at all there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from keyplan import Cursor, Page

__all__ = ["pages_of"]

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
