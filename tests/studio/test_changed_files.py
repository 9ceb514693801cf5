"""What a changed file means, word by word: each answer about a scratch copy of the school, as agreed upon."""

from __future__ import annotations

from pathlib import Path

from keyplan.studio.actions import Studio, run
from keyplan.studio.changing import source_of
from keyplan.studio.subject import of_design
from tests.studio.school import School

TEXT = Path(__file__).with_name("school.py").read_text(encoding="utf-8")


def test_what_the_page_has_is_not_said_again(school: School) -> None:
    studio = Studio(of_design(school))
    first = run(studio, "change", {})
    source = source_of(School)
    assert source is not None
    assert (first["file"], first["text"], first["same"]) == (str(source.path), TEXT, True)
    assert run(studio, "change", {"version": first["version"]}) == {"version": first["version"], "unchanged": True}
    assert run(studio, "change", {"version": first["version"], "text": ""})["text"] == ""
