"""What the page is given, word by word: each action's answer about the school, and its refusals, as agreed upon."""

from __future__ import annotations

import re
from typing import Any

import pytest

from keyplan.errors import KeyplanError
from keyplan.plain.answers import pretty
from keyplan.studio.actions import Studio, run
from keyplan.studio.subject import of_design
from tests.agreed import assert_agreed
from tests.studio.school import School
from tests.studio.test_data import MIXED, P0, STRANGE

P1 = {"pk": {"S": "PUPIL#p1"}, "sk": {"S": "#PUPIL"}}
REPORT = {"pk": {"S": "PUPIL#p0"}, "sk": {"S": "REPORT#9990"}}
OF_P0 = {"partition": P0["pk"]}
GONE = {"pk": {"S": "PUPIL#gone"}, "sk": {"S": "#PUPIL"}}
Asked = tuple[str, dict[str, Any]]


def where(*conditions: tuple[str, str, Any], **given: Any) -> Asked:
    named = [{"name": name, "operator": operator, "values": values} for name, operator, values in conditions]
    return ("data", {**given, "conditions": named})


def changed(key: Any, **fields: Any) -> dict[str, Any]:
    return {"do": "change", "key": key, "fields": fields}


def created(entity: str, **fields: Any) -> dict[str, Any]:
    return {"do": "create", "entity": entity, "fields": fields}


LOOKED_AT: dict[str, list[Asked]] = {
    "start": [("start", {}), ("start", {"table": "other"}), ("start", {"table": 3}), ("nothing", {})],
    "form": [("form", {"question": name}) for name in (*School.compiled.patterns, "nothing")],
    "questions": [("questions", {}), ("check", {})],
    "cost": [
        ("cost", {}),
        ("cost", {"rates": {"join": 3, "enrol": 0.5, "pupils_of_year": 20}, "times": 10}),
        ("cost", {"rates": {"nobody": 1, "join": "x", "enrol": -1}, "times": 0}),
    ],
    "map": [
        ("map", {}),
        ("map", {"question": "pupils_of_course"}),
        ("map", {"question": "reports", "arguments": {"pupil_id": "p0", "limit": 2}, "rows": 3}),
        ("map", {"question": "courses_in_room", "arguments": {"room": 4}}),
        ("map", {"question": "enrol", "arguments": {"course_id": "art", "pupil_id": "p0"}}),
        ("map", {"each": 1, "rows": 2}),
        ("map", {"each": 11}),
        ("map", {"rows": 50}),
        ("map", {"rows": 51}),
        ("item", {"item": "nothing"}),
    ],
    "run": [
        ("run", {"question": "reports", "arguments": {"pupil_id": "p0", "limit": 3}}),
        ("run", {"question": "reports_between", "arguments": {"pupil_id": "p0", "number": {"ge": 3, "lt": 5}}}),
        ("run", {"question": "pupils_of_course", "arguments": {"course_id": "maths"}}),
        ("run", {"question": "pupil", "arguments": {"pupil": "p0"}}),
        ("run", {"question": "enrol", "arguments": {"course_id": "art", "pupil_id": "p0"}}),
        ("run", {"question": "enrol", "arguments": {"course_id": "art", "pupil_id": "gone"}}),
    ],
    "data": [
        ("data", {"entity": "Pupil", "limit": 2}),
        ("data", {"entity": "Course", "index": "GSI1", "partition": {"S": "ROOM#12"}}),
        ("data", {"index": "GSI1"}),
        where(("sk", "begins with", ["REPORT#"]), ("number", ">", ["4"]), **OF_P0, limit=3),
        where(("text", "contains", ["oo"]), ("number", "between", ["2", "3"]), entity="Report"),
        where(("room", "not exists", []), entity="Course"),
        where(("email", "=", ["P1@example.org"]), entity="Pupil"),
        where(("sk", "<>", ["x"]), **OF_P0),
        where(("pk", "=", ["PUPIL#p0"]), **OF_P0),
        where(("gsi1sk", ">=", ["COURSE#art"]), ("title", "<=", ["Art"]), index="GSI1", partition={"S": "ROOM#12"}),
        where(("gsi1sk", "between", ["a"]), ("title", "exists", None), index="GSI1", partition=["ROOM#12"]),
        where(("sk", "like", ["x"]), ("", "=", ["x"]), ("a", "between", ["9", "7"]), ("a", "=", [3]), ("a", "=", "x")),
        ("data", {"entity": "Nobody", "index": "GSI9", "limit": 0, "start": 3, "conditions": [3], "partition": 3}),
        ("data", {"conditions": "all"}),
    ],
    "take": [
        ("take", {"entity": "Report", "form": "csv"}),
        ("take", {"form": "jsonl"}),
        ("take", {"form": "csv", **OF_P0}),
        ("take", {"form": "xml"}),
    ],
    "edits": [
        (
            "edit",
            {"edits": [changed(P0, year=3, email="n@example.org"), created("Course", course_id="c", title="C")]},
        ),
        ("edit", {"edits": [changed(REPORT, number=20), {"do": "delete", "key": P1}]}),
        ("edit", {"edits": [changed(P0, year="x", nothing=1), created("Course"), created("Nobody"), {"do": "sing"}]}),
        ("edit", {"edits": [changed(GONE, year=1), changed(P0, year=2), changed(P0, year=3), 3, {"do": "delete"}]}),
        ("edit", {"edits": [{"do": "create", "item": {"pk": {"S": "a"}, "sk": {"S": "b"}, "n": {"N": "1"}}}]}),
        ("edit", {"edits": [{"do": "create", "item": {"pk": {"S": "a"}}}, {"do": "create", "item": {"pk": "a"}}]}),
        ("edit", {"edits": [{"do": "create", "item": {"pk": {"S": "a"}, "sk": {"S": "b"}, "n": {"N": "1", "S": ""}}}]}),
        ("edit", {"edits": [{"do": "create", "item": 3}]}),
        ("edit", {"edits": [{"do": "create", "item": {**P0, "pupil_id": {"S": "p0"}}}]}),
        ("edit", {"edits": [{"do": "delete", "key": {"pk": {"S": "EMAIL#p0@example.org"}, "sk": {"S": "CLAIM"}}}]}),
        ("edit", {"edits": [{**changed(P0, year=9), "was": {"year": 7}}], "save": True}),
    ],
    "bring": [
        ("bring", {"entity": "Course", "form": "csv", "text": "course_id,title,room\nnew,New,\nmaths,Maths,13\n"}),
        ("bring", {"entity": "Course", "form": "csv", "text": "course_id,title,hue\nnew,New,red\n,,\n"}),
        (
            "bring",
            {"form": "jsonl", "text": '{"Item":{"pk":{"S":"a"},"sk":{"S":"b"}}}\n{"Item":{"pk":{}}}\n3\n{'},
        ),
        ("bring", {"form": "jsonl", "text": '{"Item":{"pk":{"S":"a"},"sk":{"S":"b"},"n":{"N":"1"}}}'}),
        ("bring", {"form": "csv", "text": ""}),
    ],
    "saved": [
        ("run", {"question": "enrol", "arguments": {"course_id": "art", "pupil_id": "p0"}, "send": True}),
        ("edit", {"edits": [changed(P1, year=3), {"do": "delete", "key": REPORT}], "save": True}),
        ("edit", {"edits": [changed({"pk": {"S": "?"}, "sk": {"S": "x"}}, n={"N": "2"}, t=None)], "save": True}),
        ("data", {"entity": "Pupil"}),
        ("data", OF_P0),
        ("map", {"question": "pupils_of_year", "arguments": {"year": 3}}),
    ],
}


@pytest.mark.parametrize("view", LOOKED_AT)
def test_what_is_answered_is_as_it_was_agreed_upon(view: str, school: School) -> None:
    call = school.store.transport.call
    for number, value in enumerate(MIXED if view == "data" else MIXED[:2]):
        item = {"pk": {"S": "mixed"}, "sk": {"S": f"{number:02d}"}, "v": _in_order(value)}
        call("PutItem", {"TableName": "school", "Item": item})
    call("PutItem", {"TableName": "school", "Item": STRANGE})
    studio = Studio(of_design(school))
    for action, given in LOOKED_AT[view]:
        assert_agreed(_answered(studio, action, given))
    assert studio.seen or view not in {"map", "data", "run", "saved"}
    for name in [*studio.seen][::4] if view in {"map", "data", "run", "saved"} else ():
        assert_agreed(_answered(studio, "item", {"item": name}))


def _answered(studio: Studio, action: str, given: dict[str, Any]) -> str:
    """The answer, or the refusal, without what is never the same; a map's drawing alone is agreed upon in ``maps``."""
    try:
        answer = run(studio, action, given)
    except KeyplanError as error:
        answer = error.as_json()
    drawing = str(answer.pop("svg", "")) if "question" in given else ""
    text = pretty({name: value for name, value in answer.items() if name not in {"version", "svg"}})
    text = "\n".join([text, *drawing.replace("><", ">\n<").splitlines()])
    return re.sub(r'("milliseconds"|"ClientRequestToken"): ("[^"]+"|[\d.]+)', r"\1: ...", text)


def _in_order(value: dict[str, Any]) -> dict[str, Any]:
    """The value, with the members of a set in an order."""
    return {kind: sorted(content) if isinstance(content, set) else content for kind, content in value.items()}
