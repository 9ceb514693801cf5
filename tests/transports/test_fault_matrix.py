"""Every call with every fault, synchronous or asynchronous, is executed once, or its outcome is reported as unknown.
docs/faults.md shows the same table.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from keyplan.client.transports.credentials import Credentials
from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.urls import parse_url
from keyplan.errors import StoreError
from keyplan.session.stores import Store
from tests.transports.calls import CALLS, Call, Notes, directly, fill
from tests.transports.faults_page import PAGE, unknown, with_table
from tests.transports.faulty import FAULTS, Fault, FaultyStore, Loop, faulty_store

ANSWER_SECONDS = 1.0
CELL_SECONDS_MAX = 60.0


class Rotating:
    """Credentials that can be renewed any number of times."""

    due = False

    def __init__(self) -> None:
        self.number = 0

    def current(self) -> Credentials:
        return Credentials(f"KEY{self.number}", "secret", "token")

    def renew(self) -> bool:
        self.number += 1
        return True


@pytest.fixture
def workers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_call_with_every_fault_is_executed_once_or_reported_as_unknown(
    fault: Fault, loop: Loop, workers: ThreadPoolExecutor
) -> None:
    """A call whose outcome is unknown was executed at most once. Every call ends within its timeout."""
    cells = [(call, awaited) for call in CALLS for awaited in (False, True)]
    for cell in workers.map(lambda value: _cell(loop, value[0], fault, awaited=value[1]), cells):
        assert cell == [], cell


def _cell(loop: Loop, call: Call, fault: Fault, *, awaited: bool) -> list[str]:
    """Return the errors of one call with one fault."""
    name = f"{call.name}{', awaited' * awaited}, {fault.name}"
    with faulty_store(loop) as store:
        Notes.open(store.url(), create=True).close()
        direct = directly(store.engine)
        fill(direct)
        store.fail(call.operation, fault)
        started = time.monotonic()
        outcome = _outcome(store, call, fault, awaited=awaited)
        faults = [] if time.monotonic() - started < CELL_SECONDS_MAX else [f"{name}: it hung"]
        if not store.met:
            faults.append(f"{name}: the fault wasn't met")
        if store.open_connections > 1 and not store.received["BatchWriteItem"]:
            faults.append(f"{name}: {store.open_connections} connections are left open")
        effect = call.effect(direct) if call.effect is not None else 1
        if isinstance(outcome, StoreError):
            if not unknown(call, fault):
                faults.append(f"{name}: {outcome}")
            elif "is unknown" not in outcome.message or effect > 1:
                faults.append(f"{name}: effect {effect}, outcome: {outcome}")
        elif unknown(call, fault):
            faults.append(f"{name}: it returned {outcome!r}, but can't know")
        elif outcome != call.expected or effect != 1:
            faults.append(f"{name}: {outcome!r} with effect {effect}")
        return faults


def _outcome(store: FaultyStore, call: Call, fault: Fault, *, awaited: bool) -> Any:
    """Return the result or the error of the call. Only missing responses have a short timeout, because other responses
    may be slow on a busy machine.
    """
    seconds = ANSWER_SECONDS if fault.name.startswith("stalled") else CELL_SECONDS_MAX
    location = parse_url(store.url(f"answer_seconds={seconds}&total_seconds={CELL_SECONDS_MAX}"), "notes")
    store.when_met = partial(object.__setattr__, location.settings, "answer_seconds", CELL_SECONDS_MAX)
    backend = DynamoDB(location, Rotating())
    notes = Notes(Store(backend, store.url(), "notes"))
    try:
        result = asyncio.run(_awaited(notes, call)) if awaited else call.sync(notes)
        return call.result(result)
    except StoreError as error:
        return error
    finally:
        notes.close()


async def _awaited(notes: Notes, call: Call) -> Any:
    return await call.aio(notes)


def test_faults_page_of_the_documentation_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page), "run: python -m tests.transports.faults_page"
