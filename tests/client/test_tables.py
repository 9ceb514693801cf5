"""Tables that another process is creating, changing or deleting, and invalid table descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, Table, read
from keyplan.client import table_setup as tables
from keyplan.client.conversations import Request, converse
from keyplan.client.transports.embedded import InProcess
from keyplan.errors import StoreError
from keyplan.session.stores import Store, open_store
from keyplan.store import Engine

# mypy: disable-error-code="empty-body"

BY_AUTHOR = Index("BY_AUTHOR", "author_pk", "author_sk")


class Note(Entity):
    name: str
    author: str

    primary = Key("NOTE#{name}", "META")
    by_author = Key("AUTHOR#{author}", "{name}", index=BY_AUTHOR)


class Notes(Design):
    table = Table("notes", indexes=[BY_AUTHOR])

    @read("N1")
    def note(self, name: str) -> Note | None: ...


class Slow:
    """An engine whose first table descriptions report a status other than ACTIVE."""

    def __init__(self, engine: Engine, states: list[str], index_states: list[str] | None = None) -> None:
        self.engine = engine
        self.states = states
        self.index_states = index_states or []

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        answer = deepcopy(self.engine.call(operation, parameters))
        if operation == "DescribeTable":
            if self.states:
                answer["Table"]["TableStatus"] = self.states.pop(0)
            if self.index_states:
                answer["Table"]["GlobalSecondaryIndexes"][0]["IndexStatus"] = self.index_states.pop(0)
        return answer

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "POLL_SECONDS", 0)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as made:
        made.call("CreateTable", Notes.table.create_request("notes"))
        yield made


def opened(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Open the design's store on the slow engine."""
    store = Store(InProcess(slow.call, slow.engine.close), ":memory:", "notes", local=True)
    monkeypatch.setattr("keyplan.session.stores._embedded", lambda *_: store)
    return open_store(":memory:", Notes.compiled, create=None)


def test_opening_a_design_waits_until_its_table_is_created(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls fail until the table is active."""
    slow = Slow(engine, ["CREATING", "CREATING"])
    opened(slow, monkeypatch)
    assert slow.states == []


def test_opening_a_design_does_not_wait_for_a_table_update(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in the status UPDATING is usable, so a service doesn't wait for the backfill of an index."""
    slow = Slow(engine, ["UPDATING", "UPDATING"], ["ACTIVE"])
    opened(slow, monkeypatch)
    assert slow.states == ["UPDATING"]


def test_opening_a_table_that_is_being_deleted_raises_an_error(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="is being deleted") as raised:
        opened(Slow(engine, ["DELETING"]), monkeypatch)
    assert raised.value.place == "Notes.open"


def test_creating_a_table_waits_until_its_indexes_are_active(engine: Engine) -> None:
    slow = Slow(engine, ["UPDATING"], ["CREATING", "CREATING", "ACTIVE"])
    result = converse(tables.until_ready("notes"), slow)
    assert result["TableStatus"] == "ACTIVE"
    assert slow.index_states == []


@pytest.mark.parametrize("answer", [{}, {"Table": None}, {"Table": []}, {"Table": {"TableStatus": "ACTIVE"}}])
def test_an_invalid_table_description_raises_an_error(answer: dict[str, Any], engine: Engine) -> None:
    class Other(Slow):
        def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
            return answer

    with pytest.raises(StoreError, match="an incomplete description"):
        converse(tables.describe_table("notes"), Other(engine, []))


def test_a_local_index_with_the_name_of_a_global_one_is_reported(engine: Engine) -> None:
    """``keyplan create`` can't add the global index, because DynamoDB rejects a second index with the same name."""
    wanted = Notes.table.create_request("other")
    (index,) = wanted.pop("GlobalSecondaryIndexes")
    local = {**index, "KeySchema": [wanted["KeySchema"][0], {"AttributeName": "author_sk", "KeyType": "RANGE"}]}
    wanted["AttributeDefinitions"] = [
        each for each in wanted["AttributeDefinitions"] if each["AttributeName"] != "author_pk"
    ]
    engine.call("CreateTable", {**wanted, "LocalSecondaryIndexes": [local]})
    result = engine.call("DescribeTable", {"TableName": "other"})["Table"]
    own = Notes.table.create_request("other")
    (found,) = tables.unmended(own, result)
    assert (found.place, found.design, found.table) == (
        "index BY_AUTHOR",
        "a global index on author_pk (HASH), author_sk (RANGE)",
        "a local index on pk (HASH), author_sk (RANGE)",
    )
    assert found.hint == "a local index can't be removed: rename the design's index"
    assert list(tables.differences(own, result)) == [found]
    (back,) = tables.unmended(result, own)
    assert (back.design, back.hint) == (found.table, "create another table: a local index can't be added to a table")
