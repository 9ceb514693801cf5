"""Batches continue when some of their requests are throttled completely, while other requests succeed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Put, Table
from keyplan.client.batches import PARALLEL_MAX
from keyplan.errors import DynamoDBError, StoreError
from tests.client.support import record


class Note(Entity):
    name: str

    primary = Key("NOTE#{name}", "META")


class Notes(Design):
    table = Table("notes", entities=[Note])


NOTES = [Note(name=f"{number:05}") for number in range(25 * (PARALLEL_MAX + 5))]
KEYS = [{"name": note.name} for note in NOTES]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    result: list[float] = []
    monkeypatch.setattr("keyplan.client.conversations.time.sleep", result.append)
    return result


def refusing(which: Callable[[int], bool], kind: str = "ProvisionedThroughputExceededException") -> Any:
    """Return a hook that throttles each batch request whose number satisfies ``which``."""
    number = -1

    def around(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        nonlocal number
        number += operation.startswith("Batch")
        if operation.startswith("Batch") and which(number):
            raise DynamoDBError("too much", type=kind)
        return call(operation, parameters)  # type: ignore[no-any-return]

    return around


def test_every_item_is_written_when_most_requests_are_throttled(pauses: list[float]) -> None:
    with Notes.open(":memory:") as notes:
        record(notes).around = refusing(lambda number: number % 3 > 0)
        notes.batch([Put(note) for note in NOTES])
        assert notes.get_many(Note, [*KEYS, {"name": "nowhere"}]) == [*NOTES, None]
    assert pauses


def test_throttled_batches_continue_sequentially_and_then_in_parallel() -> None:
    """Parallel retries would repeat the successful requests of the batch as well as the throttled ones."""
    with Notes.open(":memory:") as notes:
        recorder = record(notes)
        recorder.around = refusing(lambda number: number == 3)
        notes.batch([Put(note) for note in NOTES])
        writes = [element for name, element in recorder.requests if name == "BatchWriteItem"]
        assert len(writes) <= len(NOTES) // 25 + PARALLEL_MAX


def test_a_batch_that_is_throttled_permanently_raises_an_error(pauses: list[float]) -> None:
    with Notes.open(":memory:") as notes:
        record(notes).around = refusing(lambda number: True)
        with pytest.raises(StoreError, match=r"625 of 625 writes .* remain unprocessed after 3\d s"):
            notes.batch([Put(note) for note in NOTES])
    assert 30 <= sum(pauses) < 33


def test_batch_errors_other_than_throttling_are_raised_immediately(pauses: list[float]) -> None:
    with Notes.open(":memory:") as notes:
        record(notes).around = refusing(lambda number: number == 1, "ValidationException")
        with pytest.raises(DynamoDBError, match="too much"):
            notes.batch([Put(note) for note in NOTES])
    assert pauses == []
