"""Views, counts, scans of an index, and key attributes without templates, on every store."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from keyplan import Range
from tests.contract.reading import Color, Level, Note, Reading, Task, TaskKeys, TaskRow, Thing, Weight
from tests.contract.stores import Caller, caller_of, check_generated, generated
from tests.contract.test_patterns import paged

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


reading = caller_of(Reading)


def task(number: int, **more: Any) -> Task:
    given = {"project": "p", "person": "ada", "title": f"t{number}", "opened_at": NOON + timedelta(hours=number)}
    return Task(task_id=str(number), text="x" * 300, **{**given, **more})


def row(number: int, **more: Any) -> TaskRow:
    return TaskRow(task_id=str(number), **{"title": f"t{number}", "status": "open", **more})


def test_views_are_read_by_key_from_an_index_and_in_batches(reading: Caller) -> None:
    for number in range(5):
        reading.create(task(number, status="done" if number == 3 else "open"))
    assert reading.read("row", task_id="1") == row(1)
    assert reading.read("row", task_id="9") is None
    assert paged(reading, "rows", 2, project="p") == [row(0), row(1), row(2), row(3, status="done"), row(4)]
    since = Range(gt=NOON + timedelta(hours=2))
    assert paged(reading, "rows", 1, project="p", opened_at=since) == [row(3, status="done"), row(4)]
    assert reading.read("rows_of", task_id=["2", "9", "0"]) == [row(2), row(0)]
    keys = [TaskKeys(task_id=str(number), opened_at=NOON + timedelta(hours=number)) for number in (4, 2, 1, 0)]
    assert reading.read("keys", person="ada", status="open") == keys
    assert reading.read("row_by_number", project="p", title="t4") == row(4)


def test_attributes_missing_in_an_index_are_read_from_the_table(reading: Caller) -> None:
    written = [reading.create(task(number, person="ada" if number % 2 else "bob")) for number in range(6)]
    assert paged(reading, "tasks", 2, person="ada", status="open") == written[1::2]
    assert paged(
        reading, "tasks", 1, person="ada", status="open", opened_at=Range(gt=NOON, lt=NOON + timedelta(hours=5))
    ) == [written[1], written[3]]
    assert reading.read("last_row", person="bob", status="open") == row(4)
    assert reading.read("last_row", person="bob", status="done") is None
    people = paged(reading, "rows_of_people", 4, person=["bob", "ada", "eve"])
    assert people == [row(number) for number in range(6)]


def test_views_are_read_in_collections_and_iterators(reading: Caller) -> None:
    reading.create(task(1))
    for number in range(3):
        reading.put(Note(task_id="1", number=number, text=f"n{number}"))
    sheet = reading.read("sheet", task_id="1")
    assert (sheet.task, [note.text for note in sheet.notes]) == (row(1), ["n0", "n1", "n2"])
    assert reading.read("sheet", task_id="2") is None
    parts = reading.read("parts", task_id="1")
    assert [type(part).__name__ for part in parts] == ["TaskRow", "Note", "Note", "Note"]


def test_counts_return_the_number_of_items(reading: Caller) -> None:
    for number in range(5):
        reading.create(task(number, person="ada" if number % 2 else "bob", status="done" if number == 3 else "open"))
    reading.put(Note(task_id="1", number=1, text=""))
    counts = [
        reading.read("how_many", project="p"),
        reading.read("how_many", project="q"),
        reading.read("how_many_since", project="p", opened_at=Range(gt=NOON)),
        reading.read("how_many_notes", task_id="1"),
        reading.read("how_many_there", task_id=["1", "1", "2", "9"]),
        reading.read("how_many_of_people", person=["ada", "bob", "ada"]),
        reading.read("how_many_open"),
        reading.read("how_many_parts", task_id="1"),
    ]
    assert counts == [5, 0, 4, 1, 2, 5, 4, 2]
    assert not any(isinstance(value, bool) for value in counts)


def test_bool_read_returns_whether_an_item_exists(reading: Caller) -> None:
    reading.create(task(1))
    yes = [reading.read("is_there", task_id="1"), reading.read("is_taken", project="p", title="t1")]
    no = [reading.read("is_there", task_id="2"), reading.read("is_taken", project="p", title="t2")]
    yes.append(reading.read("has_any", person="ada", status="open", opened_at=Range(ge=NOON)))
    no.append(reading.read("has_any", person="ada", status="open", opened_at=Range(gt=NOON + timedelta(hours=1))))
    no.append(reading.read("has_done", project="p"))
    assert (yes, no) == ([True] * 3, [False] * 4)


def test_scan_of_an_index_returns_only_the_items_in_the_index(reading: Caller) -> None:
    for number in range(7):
        escalated = {"escalated_to": f"boss{number % 3}", "escalated_at": NOON} if number % 2 else {}
        reading.create(
            task(number, due=date(2026, 3, 1 + number), status="done" if number == 4 else "open", **escalated)
        )
    result = paged(reading, "all_escalated", 2)
    assert sorted(value.task_id for value in result) == ["1", "3", "5"]
    assert sorted(value.task_id for value in reading.read("all_late")) == ["0", "1", "2", "3", "5", "6"]
    assert reading.read("how_many_late") == 6
    assert [value.task_id for value in reading.read("all_escalated_to", person="boss0")] == ["3"]
    ended = next(value for value in result if value.task_id == "1")
    reading.update(ended, escalated_to=None)
    assert sorted(value.task_id for value in paged(reading, "all_escalated", 2)) == ["3", "5"]


def thing(number: int, **more: Any) -> Thing:
    given: dict[str, Any] = {
        "day": date(2026, 3, 1),
        "token": UUID(int=number),
        "urgent": bool(number % 2),
        "level": Level.HIGH if number > 2 else Level.LOW,
        "color": Color.RED,
        "price": Decimal(number) / 2,
        "weekday": Color.GREEN,
        "at": time(9, 30),
        "took": timedelta(milliseconds=1500 * (5 - number)),
        "weight": list(Weight)[number % 3],
    }
    return Thing(thing_id=f"g{number}", **{**given, **more})


def test_key_attributes_of_every_type_are_read_without_templates(reading: Caller) -> None:
    things = [reading.put(thing(number)) for number in range(5)]
    assert reading.read("things_of", day=date(2026, 3, 1)) == things
    assert reading.read("things_of", day=date(2026, 3, 1), token=Range(gt=UUID(int=2))) == things[3:]
    assert reading.read("things_by_level", urgent=True) == [things[3], things[1]]
    assert reading.read("things_by_level", urgent=False, level=Range(lt=Level.HIGH)) == [things[2], things[0]] or (
        reading.read("things_by_level", urgent=False, level=Range(lt=Level.HIGH)) == [things[0], things[2]]
    )
    assert (
        reading.read("things_by_price", color=Color.RED, price=Range(ge=Decimal("0.5"), lt=Decimal(2))) == things[1:4]
    )
    assert reading.read("things_at", weekday=Color.GREEN, at=time(9, 30)) == things[::-1]
    between = Range(gt=timedelta(seconds=3), le=timedelta(seconds=6))
    assert reading.read("things_at", weekday=Color.GREEN, at=time(9, 30), took=between) == [things[2], things[1]]
    assert reading.read("things_of_weight", weight=Weight.MASSIVE) == [things[2]]
    assert reading.read("urgent_things", urgent=True, took=timedelta(seconds=4)) == [things[3]]
    assert reading.read("heavier", weight=Range(gt=Weight.LIGHT)) == [things[2], things[4], things[1]]
    assert reading.read("of_one_weight", weight=Weight.HEAVY) == [things[4], things[1]]
    changed = reading.update(things[0], urgent=True, level=Level.HIGH, took=timedelta(), at=time(8, 0, 0, 1))
    assert changed in reading.read("things_by_level", urgent=True)
    assert reading.read("things_at", weekday=Color.GREEN, at=time(8, 0, 0, 1)) == [changed]


@pytest.mark.parametrize(("store", "stores"), generated(12, 8, 6))
def test_views_and_counts_match_the_brute_force_results(store: str, stores: int, tmp_path: Path) -> None:
    check_generated(Reading, store, stores, tmp_path)
