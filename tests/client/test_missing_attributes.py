# mypy: disable-error-code="empty-body"
"""Conditions on fields with defaults, evaluated on items without the attribute."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from keyplan import Create, Design, Each, Entity, Index, Key, Page, Put, Table, Update, Version, read
from keyplan.errors import ArgumentError, ConditionFailed, DesignError, ItemExists, RequestError

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "team", "number", projection=["status", "rank"])


class Task(Entity):
    team: str
    number: str
    status: Literal["open", "done"] = "open"
    rank: int = 3
    version: Version = 0

    primary = Key("TEAM#{team}", "{number}")
    by_status = Key("STATUS#{status}", "{number}", index=GSI1)
    by_number = Key("{team}", "{number}", index=GSI2)


class Tasks(Design):
    table = Table("tasks", indexes=[GSI1, GSI2])

    @read("T1", where="rank IN (:ranks)")
    def ranked(self, team: str, ranks: Each[int]) -> list[Task]: ...

    @read("T2", scan_index=GSI2, entity=Task, where="status = :wanted")
    def in_index(self, wanted: Literal["open", "done"]) -> int: ...

    @read("T3", where="status = :wanted", key=Task.primary)
    def of_status(self, team: str, wanted: Literal["open", "done"]) -> list[Task]: ...


def put(tasks: Tasks, **more: str) -> None:
    item = {"pk": "TEAM#a", "sk": "1", "team": "a", "number": "1", **more}
    attributes = {name: {"S": text} for name, text in item.items()}
    tasks.store.transport.call("PutItem", {"TableName": "tasks", "Item": attributes})


def test_conditions_added_for_defaults_count_toward_expression_limits() -> None:
    with Tasks.open(":memory:") as tasks:
        put(tasks)
        assert len(tasks.ranked("a", list(range(250)))) == 1
        with pytest.raises(ArgumentError, match="can't be sent"):
            tasks.ranked("a", list(range(1000)))
        many = {f"v{number}": number for number in range(3, 120)}
        text = " OR ".join(f"rank <= :{name}" for name in many)
        with pytest.raises(RequestError, match="can't be sent"):
            tasks.transact([Update(Task, team="a", number="1").set(rank=1).only_if(text, **many)])


def test_conditions_on_values_stored_only_in_an_index_key_ignore_the_default() -> None:
    """Another program stored the value only in the key, so a comparison must not assume the default."""
    with Tasks.open(":memory:") as tasks:
        put(tasks, gsi1pk="STATUS#done", gsi1sk="1")
        task = tasks.get(Task, team="a", number="1")
        assert task is not None
        assert task.status == "done"
        assert tasks.of_status("a", "open") == []
        with pytest.raises(ConditionFailed):
            tasks.update(Update(task, rank=1).only_if(status="open"))


def test_a_filter_on_a_partial_index_uses_the_default_of_a_projected_field() -> None:
    with Tasks.open(":memory:") as tasks:
        put(tasks)
        assert (tasks.in_index("open"), tasks.in_index("done")) == (1, 0)


def test_the_first_write_adds_a_missing_version_and_outdated_writes_are_rejected() -> None:
    with Tasks.open(":memory:") as tasks:
        for by_put in (True, False):
            put(tasks)
            task: Any = tasks.get(Task, team="a", number="1")
            written = tasks.put(task.model_copy(update={"rank": 4})) if by_put else tasks.update(task, rank=4)
            assert (written.rank, written.version) == (4, 1)
            for stale in (Put(task), Update(task, rank=5)):
                with pytest.raises(ConditionFailed):
                    tasks.transact([stale])
        put(tasks)
        with pytest.raises(ConditionFailed):
            tasks.put(Task(team="a", number="1"))
        with pytest.raises(ItemExists):
            tasks.transact([Create(Task(team="a", number="1"))])


def test_a_filter_on_a_field_with_different_defaults_is_rejected() -> None:
    class Note(Entity):
        team: str
        rank: int = 1

        primary = Key("TEAM#{team}", "NOTE")

    class Line(Entity):
        team: str
        rank: int = 2

        primary = Key("TEAM#{team}", "LINE")

    @read("B1", where="rank > :least")
    def all_of(self: Any, team: str, least: int, limit: int = 9) -> Page[Note | Line]: ...

    with pytest.raises(DesignError, match="different defaults"):
        type("Both", (Design,), {"table": Table("both"), "all_of": all_of, "__module__": __name__})
