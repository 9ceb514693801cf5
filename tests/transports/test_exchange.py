"""With another HTTP client (httpx), calls return the same results and handle the same faults."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.urls import parse_url
from keyplan.session.stores import Store
from tests.transports.calls import CALLS, Call, Notes, directly, fill
from tests.transports.faulty import FAULTS, FaultyStore, Loop, faulty_store
from tests.transports.over_httpx import OverHttpx


def outcome(store: FaultyStore, call: Call, *, awaited: bool) -> Any:
    """Return the result or the error of a call over httpx."""
    location = parse_url(store.url("answer_seconds=1"), "notes")
    other = OverHttpx(location)
    backend = DynamoDB(location, exchange=other.exchange, async_exchange=other.async_exchange)
    notes = Notes(Store(backend, store.url(), "notes"))

    async def run() -> Any:
        async with other.async_client:
            return await call.aio(notes)

    with other.client:
        try:
            return call.result(asyncio.run(run()) if awaited else call.sync(notes))
        finally:
            notes.close()


@pytest.mark.parametrize(
    ("fault", "awaited"),
    [
        ("dropped", True),
        *(
            pytest.param(fault, awaited, marks=pytest.mark.nightly)
            for fault in (None, "dropped", "throttled")
            for awaited in (False, True)
            if (fault, awaited) != ("dropped", True)
        ),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_every_call_returns_the_same_result_over_httpx(
    loop: Loop, fault: str | None, awaited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "secret")):
        monkeypatch.setenv(name, value)
    for call in CALLS:
        with faulty_store(loop) as store:
            Notes.open(store.url(), create=True).close()
            direct = directly(store.engine)
            fill(direct)
            if fault is not None:
                if call.sets != "repeats":
                    continue
                store.fail(call.operation, FAULTS[fault])
            assert outcome(store, call, awaited=awaited) == call.expected, call.name
            assert call.effect is None or call.effect(direct) == 1, call.name
