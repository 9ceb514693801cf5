"""Expired credentials or a wrong clock during concurrent requests are corrected once, and all requests are retried."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count

import pytest

from keyplan import Put
from keyplan.client.transports.credentials import Credentials
from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.urls import parse_url
from keyplan.errors import DynamoDBError
from keyplan.session.stores import Store
from tests.transports.calls import Note, Notes
from tests.transports.faulty import FAULTS, FaultyStore, misanswer

pytestmark = pytest.mark.usefixtures("impatient")
CHUNKS = 4


class Successors:
    """Credentials that can be renewed several times, as if a program set them in its environment variables."""

    due = False

    def __init__(self, left: int = 1) -> None:
        self.left = left

    def current(self) -> Credentials:
        return Credentials(f"KEY{self.left}", "secret")

    def renew(self) -> bool:
        self.left -= 1
        return self.left >= 0


@pytest.fixture
def source() -> Successors:
    return Successors()


@pytest.fixture
def notes(store: FaultyStore, source: Successors) -> Iterator[Notes]:
    Notes.open(store.url(), create=True).close()
    backend = DynamoDB(parse_url(store.url(), "notes"), source)
    with Notes(Store(backend, store.url(), "notes")) as opened:
        yield opened


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("fault", ["expired", "clock"])
def test_failed_parallel_requests_are_retried(notes: Notes, store: FaultyStore, fault: str, *, awaited: bool) -> None:
    """All requests fail before the first response arrives, and in the end all items are written."""
    numbers = count()
    store.delay_seconds = 0.1
    store.respond = lambda operation, body: (
        misanswer(FAULTS[fault], 200, b"{}") if operation == "BatchWriteItem" and next(numbers) < CHUNKS else None
    )
    puts = [Put(Note(book="b", number=number)) for number in range(25 * CHUNKS)]
    if awaited:
        asyncio.run(_batch(notes, puts))
    else:
        notes.batch(puts)
    assert store.received["BatchWriteItem"] == 2 * CHUNKS
    assert sum(note is not None for note in notes.get_many(Note, _keys())) == 25 * CHUNKS


def test_permanently_expired_credentials_raise_an_error(notes: Notes, store: FaultyStore, source: Successors) -> None:
    """A call is retried once with new credentials. If the retry fails, the store's error is raised."""
    source.left = 5
    store.respond = lambda operation, body: misanswer(FAULTS["expired"], 200, b"{}")
    with pytest.raises(DynamoDBError, match="expired"):
        notes.note("b", 1)
    assert store.received["GetItem"] == 2


async def _batch(notes: Notes, puts: list[Put]) -> None:
    await notes.aio.batch(puts)


def _keys() -> list[dict[str, object]]:
    return [{"book": "b", "number": number} for number in range(25 * CHUNKS)]
