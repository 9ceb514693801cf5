# mypy: disable-error-code="empty-body"
"""Reads through one or more junctions, and the number of items that are read from merged partitions."""

from __future__ import annotations

import asyncio
import random
from typing import Any, Literal

import pytest
from hypothesis import strategies as st

from keyplan import Cursor, Design, Each, Entity, Index, Key, Page, Table, Through, read
from keyplan.analysis.explain.explanation import explain
from keyplan.errors import DesignError
from keyplan.testing import verify
from tests.client.support import record
from tests.design.refused import told
from tests.seeds import examples, seed

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Note(Entity):
    """A note, which a junction links to by box and number."""

    box: str
    number: int
    name: str

    primary = Key("BOX#{box}", "{number:06d}#{name}")
    by_name = Key("NAME#{name}", "{number:06d}", index=GSI1)


class Opened(Entity):
    """A junction to a partition of notes."""

    reader: str
    box: str

    primary = Key("READER#{reader}", "BOX#{box}")


class Pointer(Entity):
    """A junction to one note, sorted like the notes."""

    reader: str
    from_box: str
    number: int
    name: str

    primary = Key("POINTERS#{reader}", "{number:06d}#{name}")


POINTERS = Through(Pointer, box="from_box")


class Desk(Design):
    """A design with a read through two junctions, in ascending and in descending order."""

    table = Table("desk", indexes=[GSI1])

    @read("Q1", through=[Opened, POINTERS])
    def notes(self, reader: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Note]: ...

    @read("Q2", through=[POINTERS, Opened], newest_first=True)
    def newest(self, reader: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Note]: ...

    @read("Q3", through=[Opened, POINTERS])
    def all_notes(self, reader: str) -> list[Note]: ...


@pytest.mark.nightly
def test_verify_finds_no_difference_for_reads_through_junctions() -> None:
    boxes, names = st.sampled_from(["a", "b", "c#"]), st.sampled_from(["x", "y$"])
    values: dict[Any, st.SearchStrategy[Any]] = {"box": boxes, "from_box": boxes, "name": names, "reader": names}
    report = verify(Desk, stores=examples(30, 100), seed=seed(3), strategies={**values, "number": st.integers(0, 3)})
    assert all(pattern.answered for pattern in report.patterns if pattern.kind == "read")


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("pattern", ["notes", "newest"])
def test_a_read_through_two_junctions_returns_each_item_once_in_order(limit: int, pattern: str) -> None:
    chance = random.Random(limit)
    with Desk.open(":memory:") as desk:
        wanted: set[tuple[int, str, str]] = set()
        for box in "abcdef":
            if box in "abc":
                desk.put(Opened(reader="me", box=box))
            for _ in range(12):
                note = desk.put(Note(box=box, number=chance.randrange(9), name=chance.choice("xyz")))
                if chance.random() < 0.7:
                    desk.put(Pointer(reader="me", from_box=box, number=note.number, name=note.name))
        pointed = {(value.number, value.name, value.from_box) for value in _all(desk, Pointer)}
        for note in _all(desk, Note):
            place = (note.number, note.name, note.box)
            if note.box in "abc" or place in pointed:
                wanted.add(place)
        result: list[Any] = []
        cursor = None
        while True:
            page = desk.run_read(pattern, ("me", limit, cursor), {})
            assert page == asyncio.run(desk.run_read_async(pattern, ("me", limit, cursor), {}))
            result += page.items
            cursor = page.cursor
            assert (cursor is None) == (len(result) == len(wanted))
            if cursor is None:
                break
        places = [(value.number, value.name, value.box) for value in result]
        assert places == sorted(wanted, reverse=pattern == "newest")
        assert [(note.number, note.name, note.box) for note in desk.all_notes("me")] == sorted(wanted)


def _all(desk: Desk, entity: type[Entity]) -> list[Any]:
    compiled = Desk.compiled.entities[entity]
    items = desk.store.transport.call("Scan", {"TableName": "desk"})["Items"]
    return [compiled.from_item(item) for item in items if compiled.matches(item)]


def test_explain_lists_the_requests_of_a_read_through_two_junctions() -> None:
    explanation = explain(Desk, "notes")
    assert explanation.operation == "Query, Query, Query, BatchGetItem"
    assert explanation.key == "Opened.primary → Note.primary → Pointer.primary → Note.primary"
    assert "and also" in explanation.proof
    assert [request.operation for request in explanation.requests] == ["Query", "Query", "Query", "BatchGetItem"]


class Essay(Entity):
    """An entity that a junction links to, with a constant in its partition key."""

    box: str
    state: Literal["draft", "out", "old"]
    number: int
    language: Literal["en", "de"] = "en"

    primary = Key("BOX#{box}#{state}", "{number:06d}")
    by_language = Key("IN#{box}#{language}", "{state}#{number:06d}", index=GSI1)


class Cover(Entity):
    """An entity that a junction links to, with a constant in its key."""

    box: str
    state: Literal["draft", "out", "old"]

    primary = Key("COVER#{box}", "{state}")


class Shelf(Design):
    """A design with reads through junctions that also fix fields by constants and by ``Each`` values."""

    table = Table("shelf", indexes=[GSI1])

    @read("S1", through=Opened, where={"state": "out"}, newest_first=True, key=Essay.primary)
    def out(self, reader: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Essay]: ...

    @read("S2", through=Opened, where={"state": ("draft", "old")}, key=Essay.primary)
    def not_out(self, reader: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Essay]: ...

    @read("S3", through=Opened, key=Essay.primary)
    def in_states(self, reader: str, state: Each[str], limit: int = 5, cursor: Cursor | None = None) -> Page[Essay]: ...

    @read("S4", through=Opened, where={"state": "out"})
    def covers(self, reader: str) -> list[Cover]: ...

    @read("S5", through=Opened, where={"language": "de"}, key=Essay.by_language)
    def german(self, reader: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Essay]: ...


def test_a_constant_in_the_key_returns_the_same_items_as_a_filter() -> None:
    values: dict[Any, st.SearchStrategy[Any]] = {
        "box": st.sampled_from(["a", "b#"]),
        "reader": st.sampled_from(["x", "y"]),
        "number": st.integers(0, 3),
        "state": st.sampled_from(["draft", "out", "old"]),
    }
    report = verify(Shelf, stores=12, seed=seed(4), strategies=values)
    assert all(pattern.answered for pattern in report.patterns if pattern.kind == "read")
    assert [len(explain(Shelf, name).requests) > 0 for name in Shelf.compiled.reads] == [True] * 5


def test_incompatible_junctions_are_rejected() -> None:
    class Loose(Entity):
        reader: str
        box: str
        number: int
        name: str

        primary = Key("LOOSE#{reader}", "{name}#{number:06d}")

    class Named(Entity):
        reader: str
        name: str

        primary = Key("NAMED#{reader}", "NAME#{name}")

    class Renamed(Entity):
        reader: str
        box: str
        number: int
        name: str
        title: str

        primary = Key("RENAMED#{reader}", "{number:06d}#{name}")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("d", indexes=[GSI1])

            @read("R5", through=[Opened, Through(Renamed, name="title")])
            def by_another_name(self, reader: str) -> list[Note]: ...

            @read("R1", through=[Opened, Loose])
            def unordered(self, reader: str) -> list[Note]: ...

            @read("R2", through=[POINTERS, Loose])
            def pointers_only(self, reader: str) -> list[Note]: ...

            @read("R3", through=[Opened, Named])
            def two_keys(self, reader: str) -> list[Note]: ...

            @read("R4", through=[])
            def by_nothing(self, reader: str) -> list[Note]: ...

    told(error, r"D\.unordered: primary isn't sorted like primary.*\{number:06d\}#\{name\}")
    told(error, r"D\.by_another_name: primary isn't sorted like primary")
    told(error, r"D\.pointers_only: with several junctions, at least one must lead to a partition")
    told(error, r"D\.two_keys: the junctions lead to different keys, primary and by_name")
    told(error, r"D\.by_nothing: through= has no junction")


# How far partitions are read


def test_merged_partitions_are_read_only_up_to_the_last_item_of_the_page() -> None:
    """The first 20 of 45 boxes fill the page; the other boxes are read only up to the page's last note."""
    with Desk.open(":memory:") as desk:
        for box in range(45):
            desk.put(Opened(reader="me", box=f"{box:02d}"))
            for number in range(10):
                desk.put(Note(box=f"{box:02d}", number=number * 100 + box, name="n"))
        recorder = record(desk)
        read_items: list[int] = []

        def counted(call: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
            response: dict[str, Any] = call(operation, parameters)
            read_items.append(response.get("Count", 0))
            return response

        recorder.around = counted
        page = desk.newest("me")
        assert [note.number for note in page] == [944, 943, 942, 941, 940]
        first, rest = read_items[2:22], read_items[22:]
        assert first == [1] * 20
        assert sum(rest) <= 25 + 6
        bounds = [element["KeyConditionExpression"] for operation, element in recorder.requests if operation == "Query"]
        assert not any("BETWEEN" in bound or ">=" in bound for bound in bounds[:21])
        assert sum("BETWEEN" in bound or ">=" in bound for bound in bounds[21:]) >= 25


def test_a_page_of_linked_items_reads_one_more_item_to_detect_a_next_page() -> None:
    """Links to deleted items are skipped, so each query requests the items that the page still lacks, plus one."""
    with Desk.open(":memory:") as desk:
        for number in range(12):
            desk.put(Pointer(reader="me", from_box="b", number=number, name="n"))
            if number % 2:
                desk.put(Note(box="b", number=number, name="n"))
        recorder = record(desk)
        page = desk.notes("me", limit=3)
        assert [note.number for note in page] == [1, 3, 5]
        assert page.cursor is not None
        limits = [
            parameters["Limit"]
            for operation, parameters in recorder.requests
            if operation == "Query" and "POINTERS#me" in str(parameters)
        ]
        assert limits == [5, 3, 2, 2]
        last = desk.notes("me", limit=3, cursor=page.cursor)
        assert ([note.number for note in last], last.cursor) == ([7, 9, 11], None)
