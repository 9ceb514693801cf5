"""The Data view: search conditions, staged edits and saving. Index keys are recomputed, and saving is atomic."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pytest

from keyplan import Design, Entity, Key, Table
from keyplan.errors import Refused, RequestError
from keyplan.studio.actions import Studio, run
from keyplan.studio.editing import Journal, edit_json, undo_json
from keyplan.studio.finding import OPERATORS, data_json
from keyplan.studio.running import form_json, run_json
from keyplan.studio.subject import Subject, of_design
from tests.contract.buckets import Reading, Timed, Total
from tests.studio.school import Report, School

P0 = {"pk": {"S": "PUPIL#p0"}, "sk": {"S": "#PUPIL"}}
STRANGE = {"pk": {"S": "?"}, "sk": {"S": "x"}, "n": {"N": "1"}, "t": {"S": "text"}}


def found(subject: Subject, *conditions: tuple[str, str, list[str]], **given: Any) -> list[str]:
    wanted = [{"name": name, "operator": operator, "values": values} for name, operator, values in conditions]
    made = data_json(subject, {**given, "conditions": wanted})
    return [row["key"]["sk"]["S"] for row in made["rows"]]


@pytest.mark.parametrize("value", [{"N": "abc"}, {"B": "*"}, {"SS": []}, {"M": {"a": {"N": "x"}}}, {"X": "1"}])
def test_the_preview_of_an_edit_rejects_values_that_dynamodb_rejects(school: School, value: dict[str, Any]) -> None:
    key = {"pk": {"S": "OTHER#1"}, "sk": {"S": "#"}}
    school.store.transport.call("PutItem", {"TableName": "school", "Item": {**key, "note": {"S": "a"}}})
    changed = {"do": "change", "key": key, "fields": {"note": value}}
    created = {"do": "create", "item": {**key, "pk": {"S": "OTHER#2"}, "note": value}}
    with pytest.raises(RequestError) as caught:
        edit_json(of_design(school), [changed, created], save=False)
    assert [fault.place for fault in caught.value.errors] == ["edits[0].note", "edits[1].note"]


def test_a_search_for_an_entity_finds_only_its_items(subject: Subject) -> None:
    made = data_json(subject, {"entity": "Enrolment"})
    assert {row["kind"] for row in made["rows"]} == {"Enrolment"}
    assert len(made["rows"]) == 3
    assert made["looked_at"] > 3


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        (("sk", "begins with", ["REPORT#"]), range(9, 0, -1)),
        (("sk", "between", ["REPORT#9990", "REPORT#9992"]), [9, 8, 7]),
        (("sk", ">=", ["REPORT#9998"]), [1]),
        (("sk", "=", ["REPORT#9995"]), [4]),
        (("number", "<", ["3"]), [2, 1]),
        (("number", "=", ["4"]), [4]),
        (("text", "contains", ["oo"]), range(9, 0, -1)),
        (("text", "<>", ["good"]), []),
        (("text", "exists", []), range(9, 0, -1)),
    ],
)
def test_conditions_on_keys_and_attributes_select_items(
    subject: Subject, condition: tuple[str, str, list[str]], numbers: Any
) -> None:
    made = data_json(
        subject,
        {
            "partition": {"S": "PUPIL#p0"},
            "conditions": [dict(zip(("name", "operator", "values"), condition, strict=True))],
        },
    )
    rows = [row["fields"]["number"] for row in made["rows"] if row["kind"] == "Report"]
    assert rows == list(numbers)


MIXED: list[dict[str, Any]] = [
    {"S": "true"}, {"S": "7"}, {"S": "70"}, {"S": "Seven"}, {"S": ""}, {"N": "7"}, {"N": "-7.5"}, {"N": "70"},
    {"BOOL": True}, {"BOOL": False}, {"NULL": True}, {"B": "Nw=="}, {"SS": {"7", "x"}}, {"NS": {"7"}},
    {"L": [{"S": "7"}, {"BOOL": True}]}, {"M": {"7": {"S": "7"}}},
]  # fmt: skip


def forms(text: str) -> list[dict[str, Any]]:
    """The values that a string may represent for an attribute of unknown type."""
    numbers = [{"N": Decimal(text)}] if re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", text) else []
    return [{"S": text}, *numbers, *([{"BOOL": text == "true"}] if text in {"true", "false"} else [])]


def fits(value: dict[str, Any] | None, operator: str, texts: list[str]) -> bool:
    """Whether a value meets a condition by DynamoDB's rules, in a simple implementation."""
    if operator in {"exists", "not exists"}:
        return (value is not None) == (operator == "exists")
    if value is None:
        return operator == "<>"
    ((tag, content),) = value.items()
    held: Any = Decimal(content) if tag == "N" else content
    given = [form[tag] for form in forms(texts[0]) if tag in form]
    match operator:
        case "=":
            return held in given
        case "<>":
            return held not in given
        case "begins with":
            return tag == "S" and held.startswith(texts[0])
        case "contains" if tag in {"S", "SS"}:
            return texts[0] in held
        case "contains" if tag == "NS":
            return any("N" in form and form["N"] in map(Decimal, held) for form in forms(texts[0]))
        case "contains" if tag == "L":
            return any(element in forms(texts[0]) for element in held)
        case "between" if tag in {"S", "N"}:
            above = [form[tag] for form in forms(texts[1]) if tag in form]
            return bool(given and above and given[0] <= held <= above[0])
        case "<" | "<=" | ">" | ">=" if given and tag in {"S", "N"}:
            return bool(
                getattr(held, {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}[operator])(given[0])
            )
        case _:
            return False


@pytest.mark.parametrize("operator", OPERATORS)
def test_conditions_on_values_of_any_type_select_items(school: School, operator: str) -> None:
    """For each operator and kind of string, the selected items equal those of a simple implementation."""
    key = {"pk": {"S": "MIXED"}}
    for number, value in enumerate([*MIXED, None]):
        item = {**key, "sk": {"S": f"{number:02d}"}, **({} if value is None else {"x": sets(value)})}
        school.store.transport.call("PutItem", {"TableName": "school", "Item": item})
    single: list[list[str]] = [["true"], ["false"], ["7"], ["-7.5"], ["Seven"], ["x"], [" 70"]]
    several: dict[str, list[list[str]]] = {
        "between": [["0", "7"], ["7", "70"], ["A", "true"], ["x", "x"], ["9", "70"]],
        "exists": [[]],
        "not exists": [[]],
    }
    for given in several.get(operator, single):
        rows = found(of_design(school), ("x", operator, given), partition=key["pk"])
        assert rows == [
            f"{number:02d}" for number, value in enumerate([*MIXED, None]) if fits(value, operator, given)
        ], given


def sets(value: dict[str, Any]) -> dict[str, Any]:
    """The value as in a request, with the members of a set as a list."""
    ((tag, held),) = value.items()
    return {tag: sorted(held) if isinstance(held, set) else held}


def test_the_data_view_can_search_an_index(subject: Subject) -> None:
    made = data_json(subject, {"index": "GSI1", "partition": {"S": "ROOM#12"}})
    assert [row["fields"]["title"] for row in made["rows"]] == ["Art", "Maths"]
    assert made["request"]["operation"] == "Query"


def test_the_next_page_of_a_search_starts_after_the_last_item(school: School) -> None:
    subject = of_design(school)
    whole = found(subject, partition={"S": "PUPIL#p0"})
    pages: list[str] = []
    start = None
    while True:
        made = data_json(subject, {"partition": {"S": "PUPIL#p0"}, "limit": 4, "start": start})
        pages += [row["key"]["sk"]["S"] for row in made["rows"]]
        start = made["next"]
        if start is None:
            break
    assert pages == whole
    assert len(whole) == 10


@pytest.mark.parametrize("limit", [1, 2, 5, 7, 10, 22])
@pytest.mark.parametrize(
    "given",
    [{}, {"partition": "PUPIL#p0"}, {"index": "GSI1"}, {"index": "GSI1", "partition": "ROOM#12"}, {"entity": "Report"}],
    ids=str,
)
def test_the_last_page_of_a_search_has_no_cursor(school: School, given: dict[str, Any], limit: int) -> None:
    subject = of_design(school)
    whole = found(subject, **given)
    pages: list[list[str]] = []
    start = None
    while start is not None or not pages:
        made = data_json(subject, {**given, "limit": limit, "start": start})
        pages.append([row["key"]["sk"]["S"] for row in made["rows"]])
        start = made["next"]
        assert start is None or len(pages[-1]) == limit
    assert [len(page) for page in pages] == [min(limit, len(whole) - at) for at in range(0, len(whole), limit)]
    assert [*chain.from_iterable(pages)] == whole


@pytest.mark.parametrize(
    "given",
    [
        {"entity": "Nobody"},
        {"index": "GSI9"},
        {"partition": 3},
        {"partition": {"S": 3}},
        {"limit": 0},
        {"start": 3},
        {"conditions": [{"name": "", "operator": "="}]},
        {"conditions": [{"name": "a", "operator": "like"}]},
        {"conditions": [{"name": "a", "operator": "between", "values": ["1"]}]},
        {"conditions": [{"name": "a", "operator": "between", "values": ["9", "7"]}]},
        {"conditions": [{"name": "a", "operator": "between", "values": ["x", "b"]}]},
        {"conditions": [3]},
        {"partition": {"S": "PUPIL#p0"}, "conditions": [{"name": "sk", "operator": "contains", "values": ["x"]}]},
    ],
)
def test_invalid_searches_are_rejected(subject: Subject, given: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        data_json(subject, given)


# Edits


def change(key: Any, **fields: Any) -> dict[str, Any]:
    return {"do": "change", "key": key, "fields": fields}


def test_an_edit_is_previewed_before_it_is_saved(school: School) -> None:
    subject = of_design(school)
    made = edit_json(subject, [change(P0, year=3, email="new@example.org")], save=False)
    assert school.pupil("p0").year == 1  # type: ignore[union-attr]
    pupil = next(value for value in made["changes"] if value["kind"] == "Pupil")
    attributes = {attribute["name"]: (attribute["before"], attribute["after"]) for attribute in pupil["attributes"]}
    assert attributes["gsi1pk"] == ({"S": "YEAR#1"}, {"S": "YEAR#3"}), "the index key follows"
    assert [request["operation"] for request in made["requests"]] == ["TransactWriteItems"]
    kinds = [next(iter(item)) for item in made["requests"][0]["parameters"]["TransactItems"]]
    assert kinds == ["Update", "Delete", "Put"], "the claim of the old address goes, that of the new one comes"


def test_edits_that_are_saved_together_are_one_transaction(school: School) -> None:
    subject = of_design(school)
    edits = [
        change(P0, year=3),
        {"do": "delete", "key": {"pk": {"S": "PUPIL#p0"}, "sk": {"S": "REPORT#9990"}}},
        {"do": "create", "entity": "Course", "fields": {"course_id": "new", "title": "New"}},
    ]
    made = edit_json(subject, edits, save=True)
    assert made["saved"]
    assert school.pupils_of_year(3)[0].pupil_id == "p0"
    assert school.get(Report, pupil_id="p0", number=9) is None
    assert {(value["was"], value["is"]) for value in made["changes"]} == {(True, True), (True, False), (False, True)}
    with pytest.raises(Exception, match="new"):
        edit_json(subject, [change(P0, year=4), edits[2]], save=True)
    assert school.pupil("p0").year == 3, "all or nothing"  # type: ignore[union-attr]


def test_editing_the_primary_key_moves_the_item(school: School) -> None:
    key = {"pk": {"S": "PUPIL#p0"}, "sk": {"S": "REPORT#9990"}}
    edit_json(of_design(school), [change(key, number=20)], save=True)
    assert school.get(Report, pupil_id="p0", number=9) is None
    assert school.get(Report, pupil_id="p0", number=20) is not None


def test_an_edit_does_not_overwrite_a_concurrent_change(school: School) -> None:
    edit = {**change(P0, year=9), "was": {"year": 1}}
    school.enrol("art", "p0")
    with pytest.raises(RequestError) as caught:
        edit_json(of_design(school), [edit], save=True)
    assert "the item was changed meanwhile" in str(caught.value)
    assert school.pupil("p0").year == 2  # type: ignore[union-attr]


def test_all_errors_of_all_edits_are_reported_together(subject: Subject) -> None:
    edits = [
        change(P0, year="x", nothing=1),
        {"do": "create", "entity": "Course", "fields": {}},
        {"do": "create", "entity": "Nobody", "fields": {}},
        {"do": "sing"},
        change({"pk": {"S": "PUPIL#gone"}, "sk": {"S": "#PUPIL"}}, year=1),
        change(P0, year=1),
    ]
    with pytest.raises(RequestError) as caught:
        edit_json(subject, edits, save=True)
    places = {fault.place.partition(".")[0] for fault in caught.value.errors}
    assert places == {f"edits[{number}]" for number in range(6)}


def test_items_that_match_no_entity_are_edited_by_attribute(school: School) -> None:
    call = school.store.transport.call
    call("PutItem", {"TableName": "school", "Item": STRANGE})
    key = {"pk": STRANGE["pk"], "sk": STRANGE["sk"]}
    edit_json(of_design(school), [change(key, n={"N": "2"}, t=None)], save=True)
    assert call("GetItem", {"TableName": "school", "Key": key})["Item"] == {**key, "n": {"N": "2"}}
    edit_json(of_design(school), [{"do": "delete", "key": key}], save=True)
    assert "Item" not in call("GetItem", {"TableName": "school", "Key": key})
    with pytest.raises(RequestError, match="no longer exists"):
        edit_json(of_design(school), [change(key, n={"N": "2"})], save=True)


def test_a_read_only_studio_rejects_edits(school: School) -> None:
    with pytest.raises(Refused):
        edit_json(of_design(school, writable=False), [change(P0, year=3)], save=True)


@pytest.mark.parametrize("edits", [None, [], [{}] * 101, [3], {"do": "delete"}])
def test_invalid_lists_of_edits_are_rejected(subject: Subject, edits: Any) -> None:
    with pytest.raises(RequestError):
        edit_json(subject, edits, save=True)


def test_the_form_of_a_read_by_time_range_requires_both_bounds() -> None:
    """Both bounds are required, even if the signature of the pattern has a default for one bound."""
    with Timed.open(":memory:") as timed:
        timed.put(Reading(sensor="1", at=datetime(2026, 5, 3, tzinfo=UTC)))
        timed.put(Total(site="s", day=date(2026, 5, 3)))
        subject = of_design(timed)
        for question, field in (("readings", "at"), ("each_reading", "at"), ("totals", "day")):
            form = form_json(subject, question)
            (example,) = form["examples"]
            assert example[field].keys() == {"ge", "le"}
            answer = run_json(subject, question, example, send=False)
            assert (answer["error"], len(answer["answer"]["items"])) == (None, 1)
            assert "are required" in form["fields"]
        assert 'placeholder="2026-01-01T00:00:00Z"' in form_json(subject, "each_reading")["fields"]


def test_claims_and_index_keys_are_added_to_a_new_item(school: School) -> None:
    """The item is entered in DynamoDB JSON, without the claims and index keys that the design adds."""
    item = {
        "pk": {"S": "PUPIL#new"},
        "sk": {"S": "#PUPIL"},
        "pupil_id": {"S": "new"},
        "name": {"S": "New"},
        "email": {"S": "new@example.org"},
        "year": {"N": "7"},
        "_type": {"S": "Pupil"},
    }
    made = edit_json(of_design(school), [{"do": "create", "item": item}], save=True)
    kinds = [next(iter(each)) for each in made["requests"][0]["parameters"]["TransactItems"]]
    assert kinds == ["Put", "Put"]
    assert [pupil.pupil_id for pupil in school.pupils_of_year(7)] == ["new"]


def test_a_search_by_entity_is_rejected_without_a_design(school: School) -> None:
    bare = replace(of_design(school), design=None)
    assert data_json(bare, {})["rows"]
    with pytest.raises(RequestError, match="isn't an entity of the design"):
        data_json(bare, {"entity": "Pupil"})


def scanned(subject: Subject) -> list[str]:
    items = subject.transport.call("Scan", {"TableName": subject.table_name})["Items"]
    return sorted(json.dumps(item, sort_keys=True) for item in items)


P1 = {"pk": {"S": "PUPIL#p1"}, "sk": {"S": "#PUPIL"}}
NEW = {"pupil_id": "p9", "name": "New", "email": "new@example.org"}


@pytest.mark.parametrize(
    "edit",
    [
        {"do": "change", "key": P1, "fields": {"year": "7", "email": "other@example.org"}},
        {"do": "change", "key": {"pk": {"S": "COURSE#art"}, "sk": {"S": "#COURSE"}}, "fields": {"course_id": "moved"}},
        {"do": "delete", "key": P1},
        {"do": "create", "entity": "Pupil", "fields": NEW},
        {"do": "change", "key": {"pk": {"S": "OTHER#1"}, "sk": {"S": "x"}}, "fields": {"a": {"N": "1e100"}, "b": None}},
    ],
)
def test_a_saved_edit_is_undone_and_redone_exactly(subject: Subject, edit: dict[str, Any]) -> None:
    odd = {"pk": {"S": "OTHER#1"}, "sk": {"S": "x"}, "b": {"B": "AAEC"}, "c": {"NS": ["1.5", "-2"]}}
    subject.transport.call("PutItem", {"TableName": "school", "Item": odd})
    before, journal = scanned(subject), Journal()
    saved = edit_json(subject, [edit], save=True, journal=journal)
    after = scanned(subject)
    assert after != before
    undone = undo_json(subject, saved["undo"], journal)
    assert scanned(subject) == before
    undo_json(subject, undone["undo"], journal)
    assert scanned(subject) == after


def test_undo_never_overwrites_a_later_change(subject: Subject, school: School) -> None:
    journal = Journal()
    edit = {"do": "change", "key": P1, "fields": {"year": 7}}
    saved = edit_json(subject, [edit], save=True, journal=journal)
    pupil = school.pupil("p1")
    assert pupil is not None
    school.update(pupil, year=8)
    now = scanned(subject)
    with pytest.raises(RequestError, match="changed since"):
        undo_json(subject, saved["undo"], journal)
    assert scanned(subject) == now


class Typed(Entity):
    """An entity with a field of each type."""

    name: str
    state: Literal["open", "closed"] = "open"
    done: bool | None = None
    price: Decimal = Decimal(1)
    day: date | None = None
    at: datetime | None = None
    tags: frozenset[str] = frozenset()
    either: int | str = 0

    primary = Key("TYPED#{name}", "#")


class TypedDesign(Design):
    """A design of the entity with a field of each type."""

    table = Table("typed", entities=[Typed])


def test_the_form_control_of_a_field_depends_on_its_type(subject: Subject) -> None:
    assert data_json(subject, {"entity": "Pupil"})["columns"][:2] == ["pk", "sk"]
    with TypedDesign.open(":memory:") as design:
        made = data_json(of_design(design), {})["controls"]["Typed"]
    assert {name: (control["kind"], control["optional"]) for name, control in made.items()} == {
        "name": ("text", False),
        "state": ("enum", False),
        "done": ("boolean", True),
        "price": ("number", False),
        "day": ("date", True),
        "at": ("text", True),
        "tags": ("json", False),
        "either": ("json", False),
    }
    assert made["state"]["values"] == ["open", "closed"]


def test_changes_of_the_data_by_another_program_are_detected(tmp_path: Path) -> None:
    path = tmp_path / "school.db"
    with School.open(path) as school, School.open(path) as other:
        studio = Studio(of_design(school))
        before = run(studio, "watch", {})
        school.reports("p0")
        assert run(studio, "watch", {}) == before
        other.put(Report(pupil_id="p0", number=1, text="new"))
        assert run(studio, "watch", {})["data"] != before["data"]
