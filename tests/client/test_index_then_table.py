# mypy: disable-error-code="empty-body"
"""Reads that query a partial index and then the table, while items change between the two requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan import Cursor, Design, Discriminator, Entity, Index, Key, Page, Table, read
from tests.client.support import Recorder, record

LEAN = Index("LEAN", "lean_pk", "lean_sk", projection="KEYS_ONLY")


class Sheet(Entity):
    number: int
    shelf: str
    text: str = ""

    primary = Key("SHEET#{number}", "HEAD")
    by_shelf = Key("SHELF#{shelf}", "{number:04d}", index=LEAN)


class Sheets(Design):
    table = Table("sheets", indexes=[LEAN])

    @read("S1", complete=True)
    def some(self, shelf: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Sheet]: ...

    @read("S2", complete=True)
    def whole(self, shelf: str) -> list[Sheet]: ...

    @read("S3", complete=True, newest_first=True)
    def last(self, shelf: str) -> Sheet | None: ...


@pytest.fixture
def sheets() -> Iterator[Sheets]:
    with Sheets.open(":memory:") as opened:
        for number in range(8):
            opened.put(Sheet(number=number, shelf="a", text=f"text {number}"))
        yield opened


def changed_between(sheets: Sheets, change: Any) -> Recorder:
    """Run a function once, between the read of the index and the read of the table."""
    recorder = record(sheets)

    def before(operation: str, parameters: dict[str, Any]) -> None:
        if operation == "BatchGetItem":
            recorder.before = lambda operation, parameters: None
            change()

    recorder.before = before
    return recorder


def numbers(sheets: Any) -> list[int]:
    return [sheet.number for sheet in sheets]


def asked(sheets: Sheets, recorder: Recorder) -> list[int]:
    """Return the number of keys in each request to the table."""
    return [
        len(parameters["RequestItems"][sheets.store.table_name]["Keys"])
        for operation, parameters in recorder.requests
        if operation == "BatchGetItem"
    ]


def test_later_items_on_a_page_replace_deleted_items_and_items_of_other_programs(sheets: Sheets) -> None:
    foreign = {"pk": "LEAFLET", "sk": "HEAD", "lean_pk": "SHELF#a", "lean_sk": "0002"}
    item = {name: {"S": text} for name, text in foreign.items()}
    sheets.store.transport.call("PutItem", {"TableName": sheets.store.table_name, "Item": item})
    recorder = changed_between(sheets, lambda: sheets.delete(Sheet, number=0))
    page = sheets.some("a")
    assert numbers(page) == [1, 2, 3]
    assert page.items[0].text == "text 1"
    assert asked(sheets, recorder) == [4, 1]
    assert page.cursor is not None
    second = sheets.some("a", cursor=page.cursor)
    assert (numbers(second), second.cursor is None) == ([4, 5, 6], False)
    third = sheets.some("a", cursor=second.cursor)
    assert (numbers(third), third.cursor) == ([7], None)
    assert sheets.some("a", limit=7).cursor is None
    assert numbers(sheets.whole("a")) == [1, 2, 3, 4, 5, 6, 7]


class Labelled(Entity):
    """An entity whose discriminator isn't in the index, so that only the item in the table identifies its entity."""

    number: int
    shelf: str
    text: str = ""

    label = Discriminator("kind", "labelled")
    primary = Key("LABELLED#{number}", "HEAD")
    by_shelf = Key("SHELF#{shelf}", "{number:04d}", index=LEAN)


class Labels(Design):
    table = Table("labels", indexes=[LEAN])

    @read("L1", complete=True)
    def some(self, shelf: str) -> list[Labelled]: ...


def test_an_item_with_another_discriminator_is_skipped() -> None:
    with Labels.open(":memory:") as labels:
        for number in range(3):
            labels.put(Labelled(number=number, shelf="a"))
        transport = labels.store.transport
        (item,) = [row for row in transport.call("Scan", {"TableName": "labels"})["Items"] if "1" in row["pk"]["S"]]
        transport.call("PutItem", {"TableName": "labels", "Item": {**item, "kind": {"S": "another"}}})
        assert [labelled.number for labelled in labels.some("a")] == [0, 2]


def test_a_read_of_one_item_skips_items_deleted_after_the_index_was_read(sheets: Sheets) -> None:
    recorder = changed_between(sheets, lambda: [sheets.delete(Sheet, number=number) for number in (6, 7)])
    assert (last := sheets.last("a")) is not None
    assert last.number == 5
    assert asked(sheets, recorder) == [1, 1]
    assert sheets.last("no such shelf") is None
