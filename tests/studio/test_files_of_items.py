"""Import and export of items by line, for each type of CSV cell; skipped lines, comparisons, and limits of exports."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from keyplan.client.conversations import Request
from keyplan.errors import RequestError
from keyplan.studio.editing import edit_json
from keyplan.studio.exchange import export_json, import_json
from keyplan.studio.subject import Subject, of_design
from tests.studio.school import School

KEY = {"pk": {"S": "?"}, "sk": {"S": "x"}}
VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "a text": ({"S": "x, y"}, "x, y"),
    "a text of digits": ({"S": "7"}, "7"),
    "a whole number": ({"N": "-12"}, "-12"),
    "a fraction": ({"N": "1.1"}, "1.1"),
    "true": ({"BOOL": True}, "true"),
    "nothing": ({"NULL": True}, ""),
    "bytes": ({"B": "AAE="}, "AAE="),
    "texts": ({"SS": ["a", "b"]}, '["a","b"]'),
    "numbers": ({"NS": ["-7", "7.5"]}, '[-7,"7.5"]'),
    "a list": ({"L": [{"N": "7"}, {"S": "7"}, {"NULL": True}, {"BOOL": False}]}, '[7,"7",null,false]'),
    "a map": ({"M": {"n": {"N": "7"}, "deep": {"M": {"l": {"L": [{"N": "1.5"}]}}}}}, '{"n":7,"deep":{"l":["1.5"]}}'),
}


def put(subject: Subject, item: Mapping[str, Any]) -> None:
    subject.transport.call("PutItem", {"TableName": "school", "Item": dict(item)})


def brought(subject: Subject, text: str, **given: Any) -> dict[str, Any]:
    return import_json(subject, {"form": "jsonl", "text": text, **given})


def line(**attributes: Any) -> str:
    return json.dumps({"Item": {**KEY, **attributes}}) + "\n"


def places(subject: Subject, form: str, text: str) -> list[str]:
    with pytest.raises(RequestError) as caught:
        import_json(subject, {"form": form, "text": text, "entity": "Course"})
    return [fault.place for fault in caught.value.errors]


def test_each_type_of_value_is_exported_to_a_csv_cell(empty: Subject) -> None:
    put(empty, {**KEY, **{name: value for name, (value, _) in VALUES.items()}})
    text = export_json(empty, {"form": "csv"})["text"]
    (row,) = csv.DictReader(io.StringIO(text))
    assert row == {"pk": "?", "sk": "x", **{name: cell for name, (_, cell) in VALUES.items()}}


def test_invalid_items_are_exported_as_stored(empty: Subject) -> None:
    """If all items are valid, their fields are exported; otherwise, the stored attributes."""
    course = {"pk": {"S": "COURSE#a"}, "sk": {"S": "#COURSE"}, "course_id": {"S": "a"}, "title": {"S": "A"}}
    typed = {**course, "_type": {"S": "Course"}}
    put(empty, typed)
    asked = {"form": "jsonl", "entity": "Course"}
    assert json.loads(export_json(empty, asked)["text"]) == {"course_id": "a", "title": "A", "room": None}
    broken = {**typed, "pk": {"S": "COURSE#b"}, "title": {"L": []}}
    put(empty, broken)
    lines = [json.loads(each) for each in export_json(empty, asked)["text"].splitlines()]
    assert sorted(lines, key=str) == [{"Item": typed}, {"Item": broken}]
    text = export_json(empty, {**asked, "form": "csv"})["text"]
    assert sorted(row["title"] for row in csv.DictReader(io.StringIO(text))) == ["A", "[]"]


def test_empty_lines_are_skipped_and_invalid_lines_are_reported(subject: Subject) -> None:
    assert len(brought(subject, f"\n  \n{line()}\n\n{line(sk={'S': 'y'})}")["edits"]) == 2
    assert places(subject, "jsonl", '{\n\n[1]\n{"a"}\n3\n') == ["line 1", "line 3", "line 4", "line 5"]
    assert places(subject, "csv", "course_id,title\na,b,c\n\n,\nd,e,f\n") == ["line 2", "line 5"]


def test_quoted_csv_cells_are_parsed(subject: Subject) -> None:
    def fields(text: str) -> list[Any]:
        given = {"form": "csv", "text": text, "entity": "Course"}
        return [edit["fields"] for edit in import_json(subject, given)["edits"]]

    assert fields('\ufeffcourse_id,title\r\na,"two\r\nlines"\r\nb\r\n') == [
        {"course_id": "a", "title": "two\r\nlines"},
        {"course_id": "b"},
    ]
    for text in ('course_id,title\na,"b\n', 'course_id,title\na,"b"c\n'):
        with pytest.raises(RequestError) as caught:
            fields(text)
        assert [(fault.place, "isn't CSV: " in fault.message) for fault in caught.value.errors] == [("line 2", True)]


def test_an_import_compares_invalid_items_by_attribute(school: School) -> None:
    """The stored or the imported item isn't a valid instance of its entity."""
    subject = of_design(school)
    (item,) = subject.transport.call(
        "Query",
        {
            "TableName": "school",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"S": "COURSE#art"}},
        },
    )["Items"]
    torn = {**item, "title": {"L": []}}
    for there, comes in ((torn, item), (item, torn)):
        put(subject, there)
        made = brought(subject, json.dumps({"Item": comes}))
        (edit,) = made["edits"]
        assert (edit["do"], edit["kind"], edit["key"]) == ("change", "Course", {"pk": item["pk"], "sk": item["sk"]})
        assert (edit["fields"], edit["was"]) == ({"title": comes["title"]}, {"title": there["title"]})
        assert (made["same"], made["left_out"]) == (0, 0)
    put(subject, item)
    (edit,) = brought(subject, json.dumps({"Item": {**item, "title": {"S": "New"}}}))["edits"]
    assert (edit["fields"], edit["was"]) == ({"title": "New"}, {"title": "Art"})


def test_an_import_does_not_change_fields_that_the_file_lacks(subject: Subject) -> None:
    (edit,) = brought(subject, '{"course_id": "art", "title": "New"}', entity="Course")["edits"]
    assert (edit["do"], edit["fields"], edit["was"]) == ("change", {"title": "New"}, {"title": "Art"})
    (edit,) = brought(subject, '{"course_id": "art", "title": "Art", "room": null}', entity="Course")["edits"]
    assert (edit["fields"], edit["was"]) == ({"room": None}, {"room": "12"})
    assert brought(subject, '{"course_id": "art"}', entity="Course")["edits"] == []


def test_a_json_line_with_item_as_its_only_member_is_imported_as_a_stored_item() -> None:
    """If the line has another member, or ``Item`` isn't an object, the line's members are fields."""
    with School.open(":memory:") as school:
        subject = of_design(school)
        (edit,) = brought(subject, '{"Item": {"pk": {"S": "a"}}, "course_id": "c"}', entity="Course")["edits"]
        assert edit["fields"] == {"Item": {"pk": {"S": "a"}}, "course_id": "c"}
        (edit,) = brought(subject, '{"Item": "course"}', entity="Course")["edits"]
        assert edit["fields"] == {"Item": "course"}
        bare = replace(subject, design=None)
        assert [edit["kind"] for edit in brought(bare, line())["edits"]] == ["x"]
        with pytest.raises(RequestError) as caught:
            brought(bare, '{"course_id": "c"}', entity="Course")
        assert [str(fault.message) for fault in caught.value.errors] == ["has no entity"]


def test_items_with_and_without_an_entity_are_saved_together(school: School) -> None:
    """Items of an entity are written by the write compiler, other items unchanged, in one request."""
    subject = of_design(school)
    put(subject, {**KEY, "n": {"N": "1"}})
    pupil = {"pk": {"S": "PUPIL#p0"}, "sk": {"S": "#PUPIL"}}
    edits = [
        {"do": "change", "key": pupil, "fields": {"year": 5}},
        {"do": "change", "key": KEY, "fields": {"n": {"N": "2"}, "m": {"S": "new"}}},
        {"do": "create", "item": {"pk": {"S": "?"}, "sk": {"S": "y"}}},
    ]
    rehearsed = edit_json(subject, edits, save=False)
    (request,) = rehearsed["requests"]
    kinds = [next(iter(each)) for each in request["parameters"]["TransactItems"]]
    assert (request["operation"], kinds) == ("TransactWriteItems", ["Update", "Update", "Put"])
    made = edit_json(subject, edits, save=True)
    assert [(each["was"], each["is"]) for each in made["changes"]] == [(True, True), (True, True), (False, True)]
    assert made["changes"] == rehearsed["changes"]
    assert school.pupil("p0").year == 5  # type: ignore[union-attr]
    stored = subject.transport.call("GetItem", {"TableName": "school", "Key": KEY})["Item"]
    assert stored == {**KEY, "n": {"N": "2"}, "m": {"S": "new"}}


class Endless:
    """A transport of a table that has an unlimited number of pages of the given size."""

    def __init__(self, each: int) -> None:
        self.each = each
        self.pages = 0

    def call(self, _operation: str, _parameters: dict[str, Any], /) -> dict[str, Any]:
        self.pages += 1
        items = [{"pk": {"S": f"{self.pages}-{number}"}, "sk": {"S": "x"}} for number in range(self.each)]
        return {"Items": items, "ScannedCount": len(items), "LastEvaluatedKey": items[-1] if items else KEY}

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


@pytest.mark.parametrize(
    ("local", "each", "items", "pages"), [(True, 1, 400, 400), (False, 1, 20, 20), (True, 1500, 10_000, 7)]
)
def test_the_number_of_exported_items_is_limited(
    empty: Subject, local: bool, each: int, items: int, pages: int
) -> None:
    """The limit is 10,000 items in at most 400 requests; for a remote table, in at most 20 requests."""
    table = Endless(each)
    made = export_json(replace(empty, local=local, transport=table, design=None), {"form": "jsonl"})
    assert (made["items"], made["more"], table.pages) == (items, True, pages)
    assert made["text"].count("\n") == items
