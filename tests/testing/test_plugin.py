"""The pytest plugin, run as in a user's project."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.repository.files import ROOT

DESIGN = """
from keyplan import Design, Entity, Key, Table, read


class Note(Entity):
    name: str

    primary = Key("NOTE#{name}", "HEAD")


class Notes(Design):
    table = Table("notes")

    @read("R1")
    def note(self, name: str) -> Note | None: ...
"""
TESTS = """
from __future__ import annotations

import pytest

from notes import Note, Notes
from keyplan.testing import open_test_store


def test_on_each_store(design: Notes) -> None:
    assert design.note("a") is None
    design.put(Note(name="a"))
    assert design.note("a") == Note(name="a")


def test_again(design: Notes) -> None:
    assert design.note("a") is None


class TestOthers:
    @pytest.fixture
    def design_class(self):
        return Notes

    @pytest.mark.parametrize("design", ["memory"], indirect=True)
    def test_without_an_annotation(self, design) -> None:
        assert isinstance(design, Notes)


def test_undeclared(design) -> None:
    pass
"""
QUIET = """
import sys, keyplan.testing.plugin
print([one for one in ("hypothesis", "pydantic", "apsw", "httptools") if one in sys.modules])
"""


def run(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_the_design_fixture_opens_a_design_on_each_store(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(DESIGN, encoding="utf-8")
    (tmp_path / "test_notes.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    text = run(tmp_path, "-m", "pytest", "-p", "keyplan.testing.plugin", "-p", "no:cacheprovider", "-q")
    assert "7 passed, 3 errors" in text, text
    assert text.count("annotate the parameter (design: YourDesign)") >= 3, text


def test_the_plugin_imports_no_module_that_is_slow_to_import(tmp_path: Path) -> None:
    """pytest loads the plugin at each start, with or without hypothesis."""
    assert run(tmp_path, "-c", QUIET).strip() == "[]"


def test_pytest_finds_the_installed_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"keyplan": "keyplan.testing.plugin"}
