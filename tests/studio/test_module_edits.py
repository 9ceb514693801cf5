"""Additions to a design's module by forms: the result compiles, other code is unchanged, and errors are reported
together.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import RequestError
from keyplan.session.design import Design
from keyplan.studio.actions import Studio, run
from keyplan.studio.changing import Source, loaded
from keyplan.studio.module_edits import module_outline, with_addition
from keyplan.studio.module_runs import ModuleRunner
from keyplan.studio.subject import Subject
from tests.studio import school as module

SOURCE = Source(Path(module.__file__), "School", None)
TEXT = SOURCE.text()


def added(text: str = TEXT, **given: Any) -> tuple[str, type[Design]]:
    made = with_addition(text, "School", given)
    design = loaded(SOURCE, made)
    assert isinstance(design, type), design
    return made, design


def test_a_form_adds_an_access_pattern_with_the_next_id_and_field_types() -> None:
    made, design = added(
        what="pattern", name="pupils_by_page", entity="Pupil", parameters=["year"], returns="page", doc="By page."
    )
    pattern = design.compiled.reads["pupils_by_page"]
    assert (pattern.id, str(pattern.signature)) == (
        "Q7",
        "pupils_by_page(year: int, limit: int = 10, cursor: Cursor | None = None) -> Page[Pupil]",
    )
    removed = [line for line in difflib.ndiff(TEXT.splitlines(), made.splitlines()) if line.startswith("- ")]
    assert removed == []


def test_forms_add_an_entity_an_index_and_a_key_to_a_module() -> None:
    made, _ = added(what="index", name="GSI2")
    made, _ = added(
        made, what="entity", name="Room", fields="room: str\nseats: int = 30", partition="ROOM#{room}", sort="#ROOM"
    )
    made, _ = added(
        made, what="key", entity="Room", name="by_seats", index="GSI2", partition="SEATS#{seats}", sort="ROOM#{room}"
    )
    made, design = added(made, what="pattern", name="rooms", entity="Room", parameters=["seats"], returns="list")
    assert [index.name for index in design.table.indexes] == ["GSI1", "GSI2"]
    room = design.compiled.by_name["Room"]
    assert [(key.name, key.place) for key in room.keys] == [("primary", "the table"), ("by_seats", "GSI2")]
    outline = module_outline(made)
    assert outline["entities"]["Room"] == ["room", "seats"]
    assert outline["indexes"] == ["GSI1", "GSI2"]


def test_quotes_and_newlines_in_a_form_are_escaped_in_the_module() -> None:
    doc = 'The "rooms"\nof C:\\'
    made, _ = added(what="entity", name="Room", doc=doc, fields="room: str", partition="ROOM#{room}", sort="A\nB")
    assert "The 'rooms' of C:/" in made
    assert '"A\\nB"' in made


@pytest.mark.parametrize(
    ("given", "places"),
    [
        ({"what": "pattern", "name": "a b", "entity": "Pupil", "returns": "x"}, {"name", "returns", "parameters"}),
        ({"what": "pattern", "name": "a", "entity": "Pupil", "returns": "one", "parameters": ["no"]}, {"parameters"}),
        ({"what": "entity", "name": "class", "fields": "import os"}, {"name", "fields", "partition"}),
        ({"what": "key", "name": "", "entity": "Pupil", "index": ""}, {"name", "index"}),
        ({"what": "index", "name": "1"}, {"name"}),
        ({"what": "else"}, {"what"}),
    ],
)
def test_all_errors_of_a_form_are_reported_together(given: dict[str, Any], places: set[str]) -> None:
    with pytest.raises(RequestError) as raised:
        with_addition(TEXT, "School", given)
    assert {fault.place for fault in raised.value.errors} == places


def test_a_design_file_is_written_only_if_it_is_unchanged_on_disk(subject: Subject, tmp_path: Path) -> None:
    file = tmp_path / "school.py"
    file.write_text(TEXT, encoding="utf-8")
    studio = Studio(subject, runner=ModuleRunner(Source(file, "School", None)))
    shown = run(studio, "change", {"text": None})
    text = run(studio, "add", {"text": shown["text"], "what": "index", "name": "GSI2"})["text"]
    assert file.read_text(encoding="utf-8") == TEXT
    run(studio, "write_module", {"text": text, "version": shown["file_version"]})
    assert file.read_text(encoding="utf-8") == text
    with pytest.raises(RequestError, match="another program changed the file"):
        run(studio, "write_module", {"text": TEXT, "version": shown["file_version"]})
    assert file.read_text(encoding="utf-8") == text
