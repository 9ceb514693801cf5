# mypy: disable-error-code="empty-body"
"""The request log has one line per request, without values of items."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from keyplan import Create, Design, Entity, Index, Key, Table, Update, Writes, read, write
from keyplan.errors import ConditionFailed, DynamoDBError
from keyplan.testing import open_test_store, throttled
from tests.contract.stores import OPENERS

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Note(Entity):
    name: str
    owner: str
    text: str = ""

    primary = Key("NOTE#{name}", "HEAD")
    by_owner = Key("OWNER#{owner}", "{name}", index=GSI1)


class Notes(Design):
    table = Table("noted", indexes=[GSI1])

    @read("R1")
    def note(self, name: str) -> Note | None: ...

    @read("R2")
    def notes(self, owner: str) -> list[Note]: ...

    @write("W1")
    def two(self, first: Note, second: Note) -> Writes:
        yield Create(first)
        yield Create(second)


SECRET = "s3cret"
LINES = [
    "DescribeTable TABLE, 0.0 ms, ResourceNotFoundException",
    "CreateTable TABLE, 0.0 ms",
    "Notes.put: PutItem TABLE, 2 write units, 0.0 ms",
    "Notes.note: GetItem TABLE (pk, sk), 0.5 read units, 0.0 ms",
    "Notes.notes: Query TABLE/GSI1 (gsi1pk), 0.5 read units, 0.0 ms",
    "Notes.two: TransactWriteItems TABLE × 2, 6 write units, 0.0 ms",
    "Notes.get_many: BatchGetItem TABLE × 2, 1 read unit, 0.0 ms",
    "Notes.update: UpdateItem TABLE (pk, sk), 0.0 ms, ConditionalCheckFailedException",
]


@pytest.mark.parametrize("store", ["memory", "server"])
def test_each_request_is_logged_in_one_line(store: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "keyplan.requests")
    notes = OPENERS[store](Notes, tmp_path)
    first = Note(name=SECRET, owner=SECRET, text=SECRET)
    notes.put(first)
    assert notes.note(SECRET) == first
    assert notes.notes(SECRET) == [first]
    notes.two(Note(name="2", owner=SECRET), Note(name="3", owner=SECRET))
    notes.get_many(Note, [{"name": SECRET}, {"name": "2"}])
    with pytest.raises(ConditionFailed):
        notes.update(Update(first, text=SECRET).only_if(text="x"))
    notes.close()
    result = [record.getMessage() for record in caplog.records if record.name == "keyplan.requests"]
    assert [re.sub(r"[\d.]+ ms", "0.0 ms", text).replace(notes.store.table_name, "TABLE") for text in result] == LINES
    assert SECRET not in caplog.text


def test_failed_requests_are_logged_with_the_name_of_the_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "keyplan.requests")
    with open_test_store(Notes) as notes, throttled(notes, 1), pytest.raises(DynamoDBError):
        notes.note("a")
    assert caplog.messages[-1].endswith("ProvisionedThroughputExceededException")


def test_no_request_is_logged_above_the_debug_level() -> None:
    """The level is read when a design is opened, so requests that aren't logged have no extra cost."""
    with Notes.open(":memory:") as notes:
        assert not notes.store.watched
