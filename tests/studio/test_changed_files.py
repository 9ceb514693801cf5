"""What a changed file means, word by word: each answer about a scratch copy of the school, as agreed upon."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from keyplan.plain.answers import pretty
from keyplan.studio import changing
from keyplan.studio.actions import Studio, run
from keyplan.studio.changing import Source, change_json, source_of
from keyplan.studio.subject import of_design
from tests.agreed import assert_agreed
from tests.studio.school import School

TEXT = Path(__file__).with_name("school.py").read_text(encoding="utf-8")
ASKED_FIRST = '    @read("Q1")'
CHANGES: dict[str, tuple[tuple[str, str], ...]] = {
    "as it is": (),
    "a key": (("YEAR#{year}", "IN_YEAR#{year}"),),
    "a field more": (("    room: str | None = None\n", "    room: str | None = None\n    seats: int = 30\n"),),
    "a field gone": (("    text: str\n\n", "\n"),),
    "a question more": (
        (ASKED_FIRST, f'    @read("Q9")\n    def course(self, course_id: str) -> Course: ...\n\n{ASKED_FIRST}'),
    ),
    "a question that scans": (
        (ASKED_FIRST, f'    @read("Q9", scan=True)\n    def courses(self) -> list[Course]: ...\n\n{ASKED_FIRST}'),
    ),
    "an index more": (("indexes=[GSI1]", 'indexes=[GSI1, Index("GSI2", "gsi2pk")]'),),
    "an entity without its index": (('    by_room = Key("ROOM#{room}", "COURSE#{course_id}", index=GSI1)\n', ""),),
    "no syntax": (("class Pupil(Entity):", "class Pupil(Entity)"),),
    "a fault": (("PUPIL#{pupil_id}", "PUPIL#{pupil}"),),
    "faults in three places": (("REPORT#{number:04d:desc}", "REPORT#{no}"), ("ROOM#{room}", "{room}#{hall}")),
    "a question that no key serves": (
        ("def courses_in_room(self, room: str)", "def courses_in_room(self, title: str)"),
    ),
    "it raises": (("GSI1 = Index", "1 / 0\nGSI1 = Index"),),
    "another class": (("class School(Design)", "class Other(Design)"),),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_change_means_is_as_it_was_agreed_upon(what: str) -> None:
    text = TEXT
    for before, after in CHANGES[what]:
        assert before in text
        text = text.replace(before, after)
    assert_agreed(_shown(change_json(School, text, None)))


def test_a_design_without_a_file_is_answered_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changing, "source_of", lambda _design: None)
    assert_agreed(pretty(change_json(School, None, None)))


def test_a_file_that_is_gone_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = Source(tmp_path / "gone.py", "School", None)
    monkeypatch.setattr(changing, "source_of", lambda _design: gone)
    answer = change_json(School, None, None)
    assert answer.pop("file") == str(gone.path)
    assert_agreed(pretty(answer))


def test_what_the_page_has_is_not_said_again(school: School) -> None:
    studio = Studio(of_design(school))
    first = run(studio, "change", {})
    source = source_of(School)
    assert source is not None
    assert (first["file"], first["text"], first["same"]) == (str(source.path), TEXT, True)
    assert run(studio, "change", {"version": first["version"]}) == {"version": first["version"], "unchanged": True}
    assert run(studio, "change", {"version": first["version"], "text": ""})["text"] == ""


def _shown(answer: dict[str, Any]) -> str:
    """The answer without the file's place and text, which the test has given; the drawing a line for each element."""
    answer = {name: value for name, value in answer.items() if name not in {"file", "version", "text", "words"}}
    drawing = ""
    if answer["map"] is not None:
        drawing = answer["map"]["svg"].replace("><", ">\n<")
        answer["map"] = {name: value for name, value in answer["map"].items() if name != "svg"}
    marked = [line for line in drawing.splitlines() if re.search(r'class="row [^"]* ', line)]
    return "\n".join([pretty(answer), *marked])
