"""How commands find the design of the argument NAME, and the errors if they find none."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from keyplan.cli.designs import apart, find
from tests.cli.support import json_of, run

DESIGN = """
from helper import PREFIX
from keyplan import Design, Entity, Key, Table, read

class Note(Entity):
    name: str
    primary = Key(PREFIX + "#{name}", "META")

class MyNotes(Design):
    table = Table("notes")

    @read("N1")
    def note(self, name: str) -> Note | None: ...
"""


@pytest.fixture
def notes(folder: Path) -> Path:
    (folder / "sub").mkdir()
    (folder / "sub" / "helper.py").write_text('PREFIX = "NOTE"')
    path = folder / "sub" / "notes.py"
    path.write_text(DESIGN)
    return path


@pytest.mark.parametrize("name", ["sub/notes.py:MyNotes", "sub/notes.py", "./sub/notes.py"])
def test_a_design_file_imports_modules_of_its_own_folder(notes: Path, name: str) -> None:
    assert json_of("explain", name, "note")["key_condition"] == "pk = NOTE#{name}, sk = META"


def test_a_design_is_found_by_module_and_class_name() -> None:
    assert run("create", "tests.web.library:Library").exit_code == 0
    assert Path("library.db").is_file()


def test_the_default_database_file_is_named_after_the_design_class(notes: Path) -> None:
    assert run("create", str(notes)).exit_code == 0
    assert Path("my-notes.db").is_file()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("cmss", "did you mean cms?"),
        ("zzz", "the installed systems are blog, cms, papers, shop, social; NAME is an installed system, module:Class"),
        ("nowhere.py:Class", "file not found: nowhere.py"),
        ("no_such_module:Class", "module not found: no_such_module"),
        ("tests.web.library:Libary", "did you mean Library?"),
        ("tests.web.library:Book", "Book in tests.web.library isn't a design"),
        ("tests.web.no_such:Library", "module not found: tests.web.no_such"),
        ("tests.cli.support:Cms", "designs in tests.cli.support: none"),
        (":", "NAME is an installed system"),
        ("", "NAME is an installed system"),
        ("../..:x", "can't be imported"),
    ],
)
def test_the_error_for_an_unknown_design_has_a_hint(name: str, told: str) -> None:
    result = run("explain", name)
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = (", "SyntaxError"),
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("x = 1", "contains no design"),
        (DESIGN.replace("name: str) ->", "nam: str) ->"), "Note has no field 'nam'"),
        (DESIGN + "\nclass Other(MyNotes): ...", "MyNotes, Other"),
    ],
)
def test_an_exception_in_a_design_file_is_reported_with_its_line(folder: Path, text: str, told: str) -> None:
    (folder / "helper.py").write_text('PREFIX = "NOTE"')
    (folder / "bad.py").write_text(text)
    result = run("explain", "bad.py")
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.output
    if "Error" in told:
        assert "bad.py:1" in result.stderr


def test_packages_in_a_nested_virtual_environment_stay_imported(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a separate import of a design, its own modules are removed, but not those of a nested .venv."""
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    packages = notes.parent / ".venv" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "installed_below.py").write_text("")
    notes.write_text(f"import sys; sys.path.append({str(packages)!r}); import installed_below\n{DESIGN}")
    with apart(str(notes)) as forgotten:
        find(str(notes))
    try:
        assert "installed_below" in sys.modules
        assert "helper" in forgotten
        assert forgotten.keys().isdisjoint(sys.modules)
        assert str(packages) not in sys.path
    finally:
        del sys.modules["installed_below"]


def test_the_sample_and_import_commands_support_only_installed_systems(notes: Path) -> None:
    for arguments in (("sample", str(notes)), ("import", str(notes), ".")):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "installed systems: blog, cms, " in result.stderr


def test_ctrl_c_inside_pydantic_interrupts_the_command(notes: Path) -> None:
    """Pydantic's core converts a KeyboardInterrupt to a SchemaError."""
    text = """
        from pydantic_core import SchemaError
        raise SchemaError('Error building "model" validator: KeyboardInterrupt: ')
    """
    notes.write_text(dedent(text))
    stopped = run("explain", str(notes))
    assert (stopped.exit_code, stopped.stderr.strip()) == (130, "Stopped.")
    notes.write_text(dedent(text).replace("KeyboardInterrupt", "ValueError"))
    refused = run("explain", str(notes))
    assert (refused.exit_code, "SchemaError" in refused.stderr) == (2, True)


def test_the_most_similar_class_name_is_suggested(folder: Path) -> None:
    (folder / "several.py").write_text(
        "from keyplan import Design\nfrom keyplan.model.deferral import deferred\n"
        "with deferred():\n    class Ordersets(Design): ...\n    class Orders(Design): ...\n"
    )
    assert "did you mean Orders?" in run("explain", "several.py:Order").stderr
