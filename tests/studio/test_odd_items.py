"""Items that nobody expects, in every view, as agreed upon: torn ones, which can't be read as their entity, bare keys,
entries of an index that fit no entity, numbers that no browser holds, texts that a field takes for another type.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan import Create, Entity, Id, Key, Table, Unique, read
from keyplan.errors import KeyplanError, RequestError, StoreError
from keyplan.opening import Design
from keyplan.plain.answers import json_text
from keyplan.studio import actions
from keyplan.studio.actions import Studio, run
from keyplan.studio.browsing import Endpoint
from keyplan.studio.subject import Subject, of_design
from tests.agreed import assert_agreed
from tests.studio.school import Enrolment, School
from tests.studio.test_data import P0


def item(pk: str, sk: str, kind: str = "", **attributes: Any) -> dict[str, Any]:
    typed = {"_type": {"S": kind}} if kind else {}
    return {"pk": {"S": pk}, "sk": {"S": sk}, **typed, **attributes}


S, N = "S", "N"
TORN = item("COURSE#torn", "#COURSE", "Course", course_id={S: "torn"}, title={"L": []}, gsi1pk={S: "ROOM#7"})
ODD = {
    "torn": TORN,
    "of a junction": item("COURSE#torn", "PUPIL#p1", "Enrolment", course_id={S: "torn"}, pupil_id={N: "1"}),
    "another key": item("COURSE#x", "#COURSE", "Course", course_id={S: "y"}, title={S: "T"}),
    "a bare key": item("PUPIL#p9", "REPORT#9990"),
    "a claim": item("EMAIL#nobody@example.org", "CLAIM"),
    "no entity": item("?", "x", n={N: "1"}, big={N: "90071992547409930"}, half={N: "0.5"}),
    "no entity, in the index": item("#", "y", gsi1pk={S: "ROOM#7"}, gsi1sk={S: "z"}, a={S: "x" * 90}, b={"BOOL": True}),
    "a large number": item(
        "PUPIL#p1", "REPORT#9005", "Report",
        pupil_id={S: "p1"}, number={N: "994"}, text={S: "x" * 500}, more={"NULL": True},
    ),
}  # fmt: skip


def key(odd: dict[str, Any]) -> dict[str, Any]:
    return {"pk": odd["pk"], "sk": odd["sk"]}


def change(name: str, **fields: Any) -> dict[str, Any]:
    return {"do": "change", "key": key(ODD[name]), "fields": fields}


def delete(name: str) -> dict[str, Any]:
    return {"do": "delete", "key": key(ODD[name])}


ASKED: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "data": [
        *(("data", {"partition": odd["pk"]["S"]}) for name, odd in ODD.items() if name != "of a junction"),
        ("data", {"entity": "Course"}),
        ("data", {"entity": "Enrolment", "only": "orphans"}),
        ("data", {"only": "orphans"}),
        ("data", {"index": "GSI1", "partition": ["ROOM#7"]}),
        ("data", {"index": "GSI1", "partition": {"S": "ROOM#7"}, "only": "orphans"}),
    ],
    "map": [("map", {}), ("map", {"question": "courses_in_room", "arguments": {"room": "7"}}), ("map", {"rows": 1})],
    "run": [
        ("run", {"question": "courses_in_room", "arguments": {"room": "7"}}),
        ("run", {"question": "pupils_of_course", "arguments": {"course_id": "torn"}}),
        ("run", {"question": "reports", "arguments": {"pupil_id": "p1"}}),
        ("run", {"question": "enrol", "arguments": {"course_id": "torn", "pupil_id": "p1"}}),
        ("run", {"question": "enrol", "arguments": {"course_id": "torn", "pupil_id": "p1"}, "send": True}),
        ("run", {"question": "enrol", "arguments": {"course_id": "torn", "pupil_id": "p1"}, "send": 1}),
    ],
    "edits": [
        *(
            ("edit", {"edits": [edit]})
            for name in ODD
            for edit in (change(name, title={"S": "New"}), change(name, title="New"), delete(name))
        ),
        ("edit", {"edits": [change("torn", pk={"S": "x"})]}),
        ("edit", {"edits": [{**change("torn", title={"S": "New"}), "was": {"title": {"S": "Old"}}}]}),
        ("edit", {"edits": [{**change("torn", title={"S": "New"}), "was": {"title": {"L": []}}}]}),
        ("edit", {"edits": [{**change("torn", title=None, hue={"S": "red"}), "was": {"title": {"L": []}}}]}),
        ("edit", {"edits": [change("torn", title=None), delete("no entity"), delete("a claim")], "save": True}),
        ("data", {"partition": "COURSE#torn"}),
        ("edit", {"edits": [change("a large number", number=995, text="new"), delete("torn")], "save": True}),
        ("edit", {"edits": [change("another key", title="T", room="9")], "save": 1}),
    ],
    "take": [
        *(("take", {"form": form, "entity": name}) for form in ("csv", "jsonl") for name in ("Course", "Report", "")),
        ("take", {"form": "csv", "only": "orphans"}),
        ("take", {"form": "jsonl", "index": "GSI1"}),
    ],
}  # fmt: skip


@pytest.fixture
def studio(school: School) -> Studio:
    """The school with a few odd items."""
    for odd in ODD.values():
        school.store.transport.call("PutItem", {"TableName": "school", "Item": odd})
    school.put(Enrolment(course_id="maths", pupil_id="gone"))
    return Studio(of_design(school))


def answered(studio: Studio, action: str, given: dict[str, Any]) -> str:
    try:
        answer = run(studio, action, given)
    except KeyplanError as error:
        answer = error.as_json()
    drawing = str(answer.pop("svg", "")).replace("><", ">\n<")
    shown = "\n".join(line for line in drawing.splitlines() if "torn" in line or " k11" in line or "data-more" in line)
    text = re.sub(r'("milliseconds"|"ClientRequestToken"):("[^"]+"|[\d.]+)', r"\1:...", json_text(answer))
    text = text.replace("},{", "},\n{").replace("}],", "}],\n")
    return f"{action} {given}\n{text}\n{shown}"


@pytest.mark.parametrize("view", ASKED)
def test_odd_items_are_shown_as_agreed_upon(view: str, studio: Studio) -> None:
    assert_agreed("\n".join(answered(studio, action, given) for action, given in ASKED[view]))


@pytest.mark.parametrize("name", ODD)
def test_an_odd_item_is_shown_in_full(name: str, studio: Studio) -> None:
    run(studio, "data", {})
    texts = [answered(studio, "item", {"item": each}) for each, held in studio.seen.items() if held == ODD[name]]
    bare = Studio(replace(studio.subject, design=None), seen=studio.seen)
    texts += [answered(bare, "item", {"item": each}) for each, held in studio.seen.items() if held == ODD[name]]
    assert len(texts) == 2
    assert_agreed("\n".join(texts))


class Counter(Entity):
    """What has values that are written otherwise than they are read."""

    counter_id: Id[str]
    count: int = 0
    part: float = 0.5
    parts: tuple[int, ...] = ()

    primary = Key("COUNTER#{counter_id}", "#")


class Named(Entity):
    """What has a claim."""

    name: str

    primary = Key("NAMED#{name}", "#")
    claim = Unique("NAME#{name}")


class Counters(Design):
    """Counters."""

    table = Table("counters", entities=[Counter, Named])

    @read("C1")
    def counter(self, counter_id: str) -> Counter | None: ...


@pytest.fixture
def counters() -> Iterator[Studio]:
    """Two counters, one beyond what a browser holds."""
    with Counters.open(":memory:") as design:
        design.put(Counter(counter_id="a", count=2**53, parts=(1, 2**60)))
        design.put(Counter(counter_id="b", count=2**53 - 1, parts=(-(2**53),)))
        yield Studio(of_design(design))


def test_numbers_are_held_exactly(counters: Studio) -> None:
    rows = run(counters, "data", {"entity": "Counter"})["rows"]
    assert {row["fields"]["counter_id"]: (row["fields"]["count"], row["fields"]["parts"]) for row in rows} == {
        "a": (str(2**53), [1, str(2**60)]),
        "b": (2**53 - 1, [str(-(2**53))]),
    }


def test_what_fits_no_entity_comes_last(counters: Studio) -> None:
    """Behind all claims, whichever entity they are of."""
    design = counters.subject.design
    assert design is not None
    design.transact(Create(Named(name="x")))
    design.store.transport.call("PutItem", {"TableName": "counters", "Item": {"pk": {"S": "A"}, "sk": {"S": "?"}}})
    made = run(counters, "map", {})
    assert [kind["label"] for kind in made["kinds"]] == ["Counter", "Named", "Named claim", "fits no entity"]
    assert [each["title"] for each in made["collections"]][-2:] == ["NAME#x", "A"]


def test_what_is_asked_of_the_table_itself_is_asked_here(studio: Studio) -> None:
    """Of an endpoint, another table has a studio of its own; its start describes any table anew."""
    school = studio.subject
    assert run(studio, "start", {"table": "school"})["table"] == "school"
    assert (studio.at("school", anew=True), studio.at(None)) == (studio, studio)
    endpoint = Endpoint("http://x", school.transport, local=True, writable=True, table="school", others=False)
    browsing = Studio(endpoint.subject("school"), endpoint=endpoint)
    anew = browsing.at("school", anew=True)
    assert anew is not browsing
    assert (browsing.at("school"), browsing.at(None, anew=True)) == (browsing, browsing)
    assert browsing.at("school", anew=True) is not anew
    assert anew.subject == browsing.subject
    with pytest.raises(RequestError, match="looks at one table"):
        browsing.at("other")
    others = Studio(browsing.subject, endpoint=replace(endpoint, others=True))
    with pytest.raises(StoreError, match="has no table other"):
        others.at("other")


@pytest.mark.parametrize("name", ["anew", "attributes", "stop", "again"])
def test_a_plan_is_asked_for_with_what_is_true(name: str, studio: Studio) -> None:
    asked: list[dict[str, Any]] = []

    def plan_json(**wanted: Any) -> dict[str, Any]:
        asked.append(wanted)
        return {"state": "none"}

    planner: Any = SimpleNamespace(plan_json=plan_json)
    planning = Studio(studio.subject, planner=planner)
    nothing = {**dict.fromkeys(("anew", "attributes", "stop", "again"), False), "text": None, "known": None}
    for value in (True, False, 1, "true"):
        run(planning, "plan", {name: value, "text": "", "version": "v"})
        assert asked.pop() == {**nothing, name: value is True, "text": "", "known": "v"}
    run(planning, "plan", {})
    assert asked == [nothing]


def test_what_was_shown_longest_ago_is_forgotten(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "SEEN_MAX", 3)
    studio = Studio(subject)
    for names in ("a", "bc", "a", "d"):
        studio.remember(dict.fromkeys(names, P0))
    assert [*studio.seen] == ["c", "a", "d"]
    studio.remember(dict.fromkeys("efghc", P0))
    assert [*studio.seen] == ["g", "h", "c"]


def test_what_a_call_has_found_can_be_looked_at(studio: Studio) -> None:
    made = run(studio, "run", {"question": "reports", "arguments": {"pupil_id": "p1"}})
    (found,) = [item["id"] for step in made["steps"] for item in step["items"]]
    assert run(studio, "item", {"item": found})["kind"] == "Report"


FIELDS: list[dict[str, Any]] = [
    {"count": "7"}, {"count": "x"}, {"count": 7.5}, {"parts": "[1, 2]"}, {"parts": "1"}, {"parts": [1, "2"]},
    {"count": 1, "nothing": 2, "parts": {}}, {"counter_id": "c"}, {"counter_id": ""}, {"count": None}, {},
    {"count": str(2**53)}, {"count": 2**53, "part": "0.25"}, {"part": "[" * 3000},
]  # fmt: skip


def test_new_values_of_fields(counters: Studio) -> None:
    """By the type of the field; a text also as the JSON that it holds."""
    held = {"pk": {"S": "COUNTER#a"}, "sk": {"S": "#"}}
    texts = [answered(counters, "edit", {"edits": [{"do": "change", "key": held, "fields": each}]}) for each in FIELDS]
    for was in ({"count": 2**53}, {"count": str(2**53)}, {"count": 1}, {"nothing": 3}, {"count": "x"}, 3):
        edit = {"do": "change", "key": held, "fields": {"count": 9}, "was": was}
        texts.append(answered(counters, "edit", {"edits": [edit]}))
    assert_agreed(re.sub(r"\[{100,}", "[[[", "\n".join(texts)))
