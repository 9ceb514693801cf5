"""Untrusted files next to a design, and stored text, can't affect a command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from keyplan_systems.cms import Article, Cms
from tests.cli.support import run

CONTROLS = "\u202eevil\u2066\x9b\x1b[31m\u200f"
DESIGN = """
from keyplan import Design, Entity, Key, Table, read

class Note(Entity):
    name: str
    primary = Key("NOTE#{name}", "#")

class Notes(Design):
    table = Table("notes")

    @read("N1")
    def note(self, name: str) -> Note: ...
"""


@pytest.mark.parametrize("name", ["notes.py", "notes:Notes"])
def test_a_file_next_to_a_design_shadows_no_installed_module(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.py").write_text(DESIGN)
    for shadow in ("apsw", "colorsys", "rich"):
        (tmp_path / f"{shadow}.py").write_text("raise SystemExit('a neighbor was imported')")
    main = "from keyplan.cli import main; main()"
    given = [sys.executable, "-P", "-c", main, "create", name, "--db", "notes.db"]
    made = subprocess.run(given, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, ""), made.stderr


def test_stored_control_characters_do_not_reach_the_terminal() -> None:
    with Cms.open("cms.db") as cms:
        article = cms.create_article(Article(title=CONTROLS, slug="s", author_id="a"))
    shown = run("call", "cms", "article", f"article_id={article.article_id}")
    assert "evil" in shown.output
    assert not set(CONTROLS[:1] + "\u2066\x9b\x1b\u200f") & set(shown.output)
    as_json = run("call", "cms", "article", f"article_id={article.article_id}", "--json").output
    assert not set("\u202e\u2066\x9b\x1b\u200f") & set(as_json)
    assert json.loads(as_json)["title"] == CONTROLS
