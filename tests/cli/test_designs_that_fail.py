"""Errors for a NAME that can't be imported, and cleanup after the import of a design."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.cli.designs import apart, find, find_all
from keyplan.errors import UnknownDesign

DESIGN = """
from keyplan import Design, Entity, Key, Table, read

class Note(Entity):
    name: str
    primary = Key("NOTE#{name}", "META")

class MyNotes(Design):
    table = Table("notes")

    @read("N1")
    def note(self, name: str) -> Note | None: ...
"""
FILES = {
    "notes.py": DESIGN,
    "two.py": DESIGN + "\nclass Others(MyNotes): ...\n",
    "borrowed.py": "from notes import MyNotes\n",
    "borrowed_too.py": "from notes import MyNotes\nclass Own(MyNotes): ...\n",
    "none.py": "x = 1\n",
    "syntax.py": "x = 1\ny = (\n",
    "raises.py": "def wrong():\n    return 1 / 0\n\nwrong()\n",
    "ends.py": "raise SystemExit(0)\n",
    "imports.py": "import raises\n",
    "imports_syntax.py": "import syntax\n",
    "imports_nothing.py": "import no_such_thing\n",
    "imports_of_package.py": "import package.no_such_part\n",
    "imports_package.py": "import package.raises\n",
    "names_nothing.py": "raise ModuleNotFoundError('no name is given')\n",
    "names_itself.py": "raise ModuleNotFoundError('odd', name='names_itself')\n",
    "stands_on_nothing.py": "raise ModuleNotFoundError('odd', name='names_it')\n",
    "broken.py": DESIGN.replace("name: str) ->", "nam: str) ->"),
    "package/__init__.py": "",
    "package/raises.py": "\n\nraise ValueError('package')\n",
    "package/notes.py": DESIGN,
    "folder.py/x": "",
}


@pytest.fixture(autouse=True)
def left_as_it_was(folder: Path) -> Iterator[None]:
    """Restore the imported modules and ``sys.path`` after the test."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    modules, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in sys.modules.keys() - modules:
        del sys.modules[name]


def test_imported_designs_are_found_only_in_files_that_define_no_design(folder: Path) -> None:
    """In a file that defines designs, imported designs are ignored."""
    there = ("notes.py", "two.py", "borrowed_too.py", "notes.py:MyNotes", "notes:MyNotes", "cms")
    for name in there:
        assert find_all(name), name
    for name in ("borrowed.py", "none.py", "gone.py", "two", "two.py:"):
        with pytest.raises(UnknownDesign):
            find_all(name)


def test_design_folders_are_appended_to_sys_path_once(folder: Path) -> None:
    before = list(sys.path)
    find("notes.py")
    find("two.py:Others")
    find("package/notes.py")
    assert sys.path == [*before, *(each for each in (str(folder), str(folder / "package")) if each not in before)]
    find("package.notes:MyNotes")
    assert sys.path.count(str(folder)) == 1


def test_only_modules_imported_with_a_design_file_are_removed_from_sys_modules(folder: Path) -> None:
    """Designs given by module name, modules imported before, and modules in other folders stay imported."""
    path = list(sys.path)
    with apart("package.notes:MyNotes") as forgotten:
        find("package.notes:MyNotes")
    assert ("package.notes" in sys.modules, forgotten) == (True, {})
    assert str(folder) in sys.path
    sys.path[:] = path
    with apart("borrowed_too.py:Own") as forgotten:
        find("borrowed_too.py:Own")
        assert "notes" in sys.modules
    assert {name.partition("_borrowed")[0] for name in forgotten} == {"keyplan_design", "notes"}
    assert sys.modules.keys().isdisjoint(forgotten)
    assert "package.notes" in sys.modules
    assert sys.path == path
    with apart("borrowed_too.py") as forgotten:
        find("borrowed_too.py")
    assert "notes" in forgotten
