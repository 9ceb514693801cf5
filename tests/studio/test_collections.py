"""The data that the map shows: item collections, index entries, relations, junctions, templates and counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keyplan import Put
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.studio.collections import Collection, Picture, Place, picture, template_picture
from keyplan.studio.items import attribute_text, identity, kind_of, pieces, plain_pieces
from keyplan.studio.maps import lit_picture, map_json
from keyplan.studio.paths import Path
from keyplan.studio.sampling import Count, sample
from keyplan.studio.subject import Subject, of_design
from tests.studio.school import Pupil, Report, School

COUNT_PAGES, LOCAL_ITEMS = 8, 4000
"""How many pages a count goes through, and how many items of a store on this machine are drawn."""

S = dict[str, dict[str, Any]]


def drawn(subject: Subject) -> Picture:
    return picture(subject.name, subject.table, subject.compiled, sample(subject).stretches)


def design_of(subject: Subject) -> CompiledDesign:
    assert subject.compiled is not None
    return subject.compiled


def titled(place: Place, start: str) -> Collection:
    """The first collection whose partition key starts with this string."""
    return next(collection for collection in place.collections if title(collection).startswith(start))


def title(collection: Collection) -> str:
    return "".join(piece.text for piece in collection.partition)


def test_the_items_of_a_collection_are_sorted(subject: Subject) -> None:
    table = drawn(subject).places[0]
    pupil = titled(table, "PUPIL#p0")
    assert [entry.kind for entry in pupil.entries][:3] == ["Pupil", "Report", "Report"]
    assert "".join(piece.text for piece in pupil.entries[1].sort) == "REPORT#9990"
    assert ("number", "9") in pupil.entries[1].facts, "what the key says otherwise is decoded beside it"
    assert pupil.template == "PUPIL#{pupil_id}"
    assert [(piece.text, piece.field) for piece in pupil.partition] == [("PUPIL#", None), ("p0", "pupil_id")]


def test_a_collection_that_is_partly_shown_has_the_total_item_count(subject: Subject) -> None:
    pupil = titled(drawn(subject).places[0], "PUPIL#p0")
    assert len(pupil.entries) == 7
    assert pupil.count == Count(10, exact=True)
    assert str(pupil.count) == "10"


def test_each_card_of_a_large_table_shows_its_total_item_count(school: School) -> None:
    for number in range(20):
        school.join(Pupil(pupil_id=f"n{number:02}", name="Ada", email=f"n{number}@example.org"))
    subject = of_design(school)
    items = school.store.transport.call("Scan", {"TableName": "school"})["Items"]
    keys = {"": "pk", "GSI1": "gsi1pk"}
    made = sample(subject)
    for complete in (True, False):
        drawn = lit_picture(subject, replace(made, complete=complete), Path({}))
        cards = [(place.index, card) for place in drawn.places for card in place.collections if card.partition_value]
        for index, card in cards:
            total = sum(item.get(keys[index]) == card.partition_value[0] for item in items)
            assert card.count == Count(total, exact=True)
        assert any(card.count and card.count.items > len(card.entries) for index, card in cards if index)
    assert " of 24 items<" in map_json(subject)["svg"]


def test_a_large_collection_is_counted_exactly_although_the_sample_is_incomplete(school: School) -> None:
    """The count takes few requests, and the sample contains ``LOCAL_ITEMS`` items."""
    school.batch([_report(number) for number in range(1, 9000)])
    asked: list[str] = []
    school.store.on_call = lambda record: asked.append(record.operation)
    result = drawn(of_design(school))
    pupil = titled(result.places[0], "PUPIL#p0")
    assert pupil.count == Count(9000, exact=True)
    assert len(pupil.entries) == 7
    assert len(asked) < 60
    assert sample(of_design(school)).complete is False
    assert len(sample(of_design(school)).items) == LOCAL_ITEMS


def test_the_scan_for_the_map_of_a_remote_table_uses_at_most_40_read_units(school: School) -> None:
    """The studio scans some items of eight segments, and counts at most one page of a large collection."""
    school.batch([Put(Report(pupil_id="p0", number=number, text="x" * 900)) for number in range(1, 2000)])
    records: list[Any] = []
    school.store.on_call = records.append
    result = sample(replace(of_design(school), local=False))
    scans = [record.parameters for record in records if record.operation == "Scan"]
    assert [(scan["Segment"], scan["TotalSegments"]) for scan in scans] == [(number, 8) for number in range(8)]
    assert sum(scan["Limit"] for scan in scans) / 4 / 2 == 40  # items of 1 KB, read eventually consistently
    assert not result.complete
    (pupil,) = [part for part in result.stretches if part.count is not None and not part.count.exact]
    counts = [record for record in records if record.parameters.get("Select") == "COUNT"]
    assert len(counts) == 1 < COUNT_PAGES
    assert 1000 < pupil.count.items < 2000 if pupil.count is not None else False
    assert len(pupil.items) == 7


def test_the_map_of_a_small_remote_table_has_all_items(school: School) -> None:
    subject = of_design(school)
    result, here = sample(replace(subject, local=False)), sample(subject)
    assert result.complete
    assert sorted(map(str, result.items)) == sorted(map(str, here.items))


def _report(number: int) -> Any:
    return Put(Report(pupil_id="p0", number=number, text="good"))


def test_index_entries_are_linked_to_the_items_of_the_table(subject: Subject) -> None:
    result = drawn(subject)
    index = result.places[1]
    year = titled(index, "YEAR#1")
    assert {element.kind for element in year.entries} == {"Pupil"}
    for entry in year.entries:
        (tie,) = [element for element in result.ties if element.target == entry.id]
        assert (tie.kind, tie.source, tie.label) == ("index", f"t-{entry.item}", "GSI1")


def test_a_junction_is_linked_to_both_of_its_entities(subject: Subject) -> None:
    result = drawn(subject)
    course = titled(result.places[0], "COURSE#maths")
    junction = next(entry for entry in course.entries if entry.kind == "Enrolment")
    ends = {tie.label: tie.target for tie in result.ties if tie.kind == "junction" and tie.source == junction.id}
    assert ends.keys() == {"Pupil", "Course"}
    assert ends["Course"] == course.entries[0].id


def test_the_map_of_an_empty_table_shows_key_templates(empty: Subject) -> None:
    result = template_picture("School", design_of(empty))
    assert result.symbolic
    assert [title(collection) for collection in result.places[0].collections] == [
        "PUPIL#{pupil_id}",
        "COURSE#{course_id}",
    ]
    assert {entry.kind for entry in result.places[0].collections[0].entries} == {"Pupil", "Report"}
    assert [tie.kind for tie in result.ties] == ["index"] * 3
    assert map_json(empty)["symbolic"]


def test_an_entity_without_items_is_drawn_from_its_key_template(school: School) -> None:
    for number in range(1, 10):
        school.delete(Report, pupil_id="p0", number=number)
    result = drawn(of_design(school))
    (entry,) = [
        element
        for place in result.places
        for card in place.collections
        for element in card.entries
        if element.kind == "Report"
    ]
    assert entry.item == "template-Report"


def test_items_that_match_no_entity_are_marked(school: School) -> None:
    strange: S = {"pk": {"S": "?"}, "sk": {"S": "x"}, "deep": {"L": [{"M": {"a": {"B": "AAEC"}}}]}}
    school.store.transport.call("PutItem", {"TableName": "school", "Item": strange})
    result = drawn(of_design(school))
    (entry,) = [
        each for card in result.places[0].collections for each in card.entries if each.kind == "matches no entity"
    ]
    assert entry.item == identity({"pk": strange["pk"], "sk": strange["sk"]})
    assert entry.facts == [("deep", "[{a: 0x000102}]")]


def test_a_claim_is_identified_by_its_key(subject: Subject) -> None:
    item: S = {"pk": {"S": "EMAIL#a@example.org"}, "sk": {"S": "CLAIM"}}
    assert kind_of(item, design_of(subject), subject.table).label == "Pupil claim"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"S": "a\nb"}, "a b"),
        ({"N": "1.50"}, "1.50"),
        ({"BOOL": False}, "false"),
        ({"NULL": True}, "null"),
        ({"B": "AAEC"}, "0x000102"),
        ({"SS": ["a", "b"]}, "{a, b}"),
        ({"BS": ["AA=="]}, "1 binary values"),
        ({"L": [{"N": "1"}] * 10}, "[1, 1, 1, 1, 1, 1, 1, 1, and 2 more]"),
        ({"S": "x" * 1000}, "x" * 399 + "…"),
    ],
)
def test_attribute_values_are_abbreviated_on_the_map(value: dict[str, Any], text: str) -> None:
    assert attribute_text(value) == text


def test_a_key_is_split_into_the_parts_of_its_template(subject: Subject) -> None:
    template = design_of(subject).by_name["Report"].primary.sort[0][1]
    assert [(piece.text, piece.field) for piece in pieces("REPORT#9990", template)] == [
        ("REPORT#", None),
        ("9990", "number"),
    ]
    assert [piece.text for piece in pieces("something else", template)] == ["something else"]
    assert [piece.text for piece in plain_pieces("USER#1#2")] == ["USER#", "1#2"]
