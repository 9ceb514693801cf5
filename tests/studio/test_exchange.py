"""Export and import of items as JSON lines and CSV: exported items are imported with exact digits and types."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Table, read
from keyplan.errors import Refused, RequestError
from keyplan.studio.editing import edit_json
from keyplan.studio.exchange import export_json, import_json
from keyplan.studio.finding import data_json
from keyplan.studio.subject import Subject, of_design
from tests.studio.school import Course, School


class Thing(Entity):
    """An entity with a field of every type that a CSV cell supports."""

    thing_id: str
    whole: int
    part: Decimal | None = None
    flag: bool = False
    at: datetime | None = None
    tags: frozenset[str] = frozenset()
    lines: tuple[int, ...] = ()
    more: dict[str, str] | None = None
    content: bytes = b""

    primary = Key("THING#{thing_id}", "#")


class Things(Design):
    """A design of things."""

    table = Table("things")

    @read("Q1")
    def things(self, thing_id: str) -> Thing | None:
        """One thing."""
        ...


GIVEN = [
    Thing(thing_id="007", whole=10**30, part=Decimal("0.1000000000000000000000000001"), flag=True),
    Thing(thing_id='a "quoted", text\nof two lines', whole=0, at=datetime(2026, 5, 1, tzinfo=UTC)),
    Thing(thing_id="null", whole=-1, tags=frozenset({"a", "true"}), lines=(1, 2), more={"1": "2"}, content=b"\x00\xff"),
    Thing(thing_id="[1]", whole=5, tags=frozenset({"1.50"})),
]


def emptied(design: Things) -> Subject:
    for element in GIVEN:
        design.delete(Thing, thing_id=element.thing_id)
    return of_design(design)


@pytest.mark.parametrize(("form", "entity"), [("jsonl", "Thing"), ("jsonl", None), ("csv", "Thing")])
def test_exported_items_are_imported_unchanged(form: str, entity: str | None) -> None:
    with Things.open(":memory:") as design:
        for element in GIVEN:
            design.put(element)
        taken = export_json(of_design(design), {"form": form, "entity": entity})
        assert (taken["items"], taken["more"]) == (4, False)
        subject = emptied(design)
        edits = import_json(subject, {"form": form, "text": taken["text"], "entity": entity})["edits"]
        assert data_json(subject, {})["rows"] == [], "they are staged, not written"
        edit_json(subject, edits, save=True)
        for element in GIVEN:
            assert design.things(element.thing_id) == element


@pytest.mark.parametrize(("form", "entity"), [("jsonl", "Thing"), ("jsonl", None), ("csv", "Thing")])
def test_an_import_changes_only_items_that_differ(form: str, entity: str | None) -> None:
    with Things.open(":memory:") as design:
        for element in GIVEN:
            design.put(element)
        subject = of_design(design)
        text = export_json(subject, {"form": form, "entity": entity})["text"]
        made = import_json(subject, {"form": form, "text": text, "entity": entity})
        assert (made["edits"], made["same"]) == ([], 4)
        now = GIVEN[1].model_copy(update={"whole": 7})
        design.put(now)
        (edit,) = import_json(subject, {"form": form, "text": text, "entity": entity})["edits"]
        assert (edit["do"], edit["fields"], edit["was"]) == ("change", {"whole": 0}, {"whole": 7})
        edit_json(subject, [edit], save=True)
        assert design.things(now.thing_id) == GIVEN[1]


def test_items_that_match_no_entity_are_imported_by_attribute(subject: Subject) -> None:
    line = '{"Item": {"pk": {"S": "ODD#1"}, "sk": {"S": "x"}, "note": {"S": "%s"}}}'
    edit_json(subject, import_json(subject, {"form": "jsonl", "text": line % "a"})["edits"], save=True)
    (edit,) = import_json(subject, {"form": "jsonl", "text": line % "b"})["edits"]
    assert (edit["do"], edit["fields"], edit["was"]) == ("change", {"note": {"S": "b"}}, {"note": {"S": "a"}})
    edit_json(subject, [edit], save=True)
    assert import_json(subject, {"form": "jsonl", "text": line % "b"})["same"] == 1


def test_claims_in_an_exported_file_are_not_imported(school: School) -> None:
    subject = of_design(school)
    text = export_json(subject, {"form": "jsonl"})["text"]
    assert '"CLAIM"' in text or "EMAIL#" in text
    made = import_json(subject, {"form": "jsonl", "text": text})
    assert made["left_out"] == 4
    assert (made["edits"], made["same"]) == ([], 18)


def test_search_conditions_select_the_exported_items(school: School) -> None:
    wanted = [{"name": "number", "operator": "<", "values": ["3"]}]
    made = export_json(of_design(school), {"form": "csv", "entity": "Report", "conditions": wanted, "limit": 1})
    assert made["text"].splitlines() == ["pupil_id,number,text", "p0,2,good", "p0,1,good"]


@pytest.mark.parametrize(
    "title", ["=1+1", "+1+1", "-1+1", "@x", "'=1", "''=1", "'plain", "-5", "\tx", "\n=1", "\uff1d1"]
)
def test_formulas_in_csv_are_quoted_and_imported_unchanged(school: School, title: str) -> None:
    subject = of_design(school)
    school.put(Course(course_id="art", title=title))
    text = export_json(subject, {"form": "csv", "entity": "Course"})["text"]
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert title == "-5" or not [cell for cell in cells if cell[:1] in tuple("=+-@\t\n\uff1d")]
    assert import_json(subject, {"form": "csv", "entity": "Course", "text": text})["edits"] == []


def test_items_of_a_partition_are_exported_to_csv_with_their_keys(subject: Subject) -> None:
    lines = export_json(subject, {"form": "csv", "partition": "COURSE#art"})["text"].splitlines()
    assert lines[0].split(",")[:2] == ["pk", "sk"]
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("form", "text", "says"),
    [
        ("jsonl", '{"a": 1}\n{', "line 2"),
        ("jsonl", "[1]", "line 1"),
        ("jsonl", '{"Item": {"pk": {"S": 3}}}', ""),
        ("csv", 'a,b\n1,"2\n', "line"),
        ("csv", "a,b\n1,2,3\n", "line 2"),
        ("jsonl", "", "0 items"),
        ("jsonl", "{}\n" * 101, "101 items"),
        ("xml", "<a/>", "jsonl or csv"),
        ("jsonl", 3, "text to import is missing"),
    ],
)
def test_every_error_of_an_import_has_a_line_number(subject: Subject, form: str, text: Any, says: str) -> None:
    def brought() -> None:
        made = import_json(subject, {"form": form, "text": text, "entity": "Course"})
        edit_json(subject, made["edits"], save=True)

    with pytest.raises(RequestError) as caught:
        brought()
    places = " ".join(fault.place for fault in caught.value.errors)
    assert says in f"{caught.value} {places}"


def test_csv_rows_without_an_entity_or_keys_are_rejected(subject: Subject) -> None:
    with pytest.raises(RequestError, match="can't be imported"):
        import_json(subject, {"form": "csv", "text": "a\n1\n"})


def test_a_read_only_studio_rejects_imports(school: School) -> None:
    with pytest.raises(Refused):
        import_json(of_design(school, writable=False), {"form": "jsonl", "text": "{}"})


def test_large_integers_are_shown_and_edited_exactly() -> None:
    with Things.open(":memory:") as design:
        design.put(Thing(thing_id="a", whole=2**53 + 1))
        (row,) = data_json(of_design(design), {"entity": "Thing"})["rows"]
        assert row["fields"]["whole"] == str(2**53 + 1)
        edit = {"do": "change", "key": row["key"], "fields": {"whole": str(2**70)}, "was": {"whole": str(2**53 + 1)}}
        edit_json(of_design(design), [edit], save=True)
        assert design.things("a").whole == 2**70  # type: ignore[union-attr]
