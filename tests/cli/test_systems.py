"""Systems from entry points, and the errors for missing or broken systems."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan import systems
from keyplan.errors import RequestError, UnknownDesign
from keyplan.systems import hint_for, system, system_names
from tests.cli.support import json_of, run

SYSTEM = """
from keyplan import Design, Entity, Key, Table, read
from keyplan.systems import LoadReport, System

class Book(Entity):
    isbn: str
    primary = Key("BOOK#{isbn}", "BOOK")

class Books(Design):
    table = Table("books")

    @read("L1")
    def book(self, isbn: str) -> Book | None: ...

def sample(design, count, progress):
    for number in range(count):
        design.put(Book(isbn=str(number)))
    return count

def load(design, path, progress, /):
    return LoadReport(0)

SYSTEM = System("NAME", "Books", Books, sample, 3, load, "a file", ("file",))
"""


def bring(folder: Path, package: str, name: str, text: str = SYSTEM, attribute: str = "SYSTEM") -> None:
    """Write an installed package with one module and one entry point to a folder."""
    module = package.replace("-", "_")
    (folder / f"{module}.py").write_text(text.replace("NAME", name))
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{systems.GROUP}]\n{name} = {module}:{attribute}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on ``sys.path`` for installed packages. Modules imported from the folder are removed after the test."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    known = set(sys.modules)
    yield folder
    for name in sys.modules.keys() - known:
        if str(folder) in str(sys.modules[name].__spec__):
            del sys.modules[name]


def test_the_five_installed_systems_are_found() -> None:
    assert {"blog", "cms", "papers", "shop", "social"} <= set(system_names())


def test_a_package_can_provide_a_system(site: Path) -> None:
    bring(site, "any-library", "library")
    assert run("sample", "library").exit_code == 0
    assert json_of("call", "library", "book", "isbn=2") == {"isbn": "2"}
    assert Path("library.db").is_file()


def test_only_the_named_system_is_imported(site: Path) -> None:
    bring(site, "broken-library", "library", "raise RuntimeError('never')")
    assert "library" in system_names()
    assert system("cms").name == "cms"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import no_such_thing", "the system library of the package bad-library requires no_such_thing"),
        ("raise RuntimeError('out of paper')", "can't be imported: RuntimeError: out of paper"),
        ("raise SystemExit(0)", "can't be imported: SystemExit"),
        ("x = (", "can't be imported: SyntaxError"),
        ("x = 1", "can't be imported: AttributeError"),
        ("SYSTEM = 1", "isn't a keyplan.systems.System: int"),
        (SYSTEM.replace("NAME", "other"), "is named other"),
        (SYSTEM.replace("isbn: str) ->", "isbm: str) ->"), "Book has no field 'isbm'"),
    ],
)
def test_a_system_that_cannot_be_loaded_is_an_error(site: Path, text: str, said: str) -> None:
    bring(site, "bad-library", "library", text)
    result = run("explain", "library")
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_the_error_for_a_duplicate_system_names_both_packages(site: Path) -> None:
    bring(site, "first-library", "library")
    bring(site, "second-library", "library")
    with pytest.raises(RequestError) as raised:
        system("library")
    assert "several packages provide a system 'library': first-library, second-library" in str(raised.value)


def test_a_system_with_two_identical_entry_points_is_found_once(site: Path) -> None:
    bring(site, "first-library", "library")
    (site / "again-1.0.dist-info").mkdir()
    for name in ("METADATA", "entry_points.txt"):
        text = (site / "first_library-1.0.dist-info" / name).read_text()
        (site / "again-1.0.dist-info" / name).write_text(text.replace("Name: first-library", "Name: again"))
    assert system("library").title == "Books"


def test_the_error_for_a_missing_systems_package_has_an_install_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert system_names() == ()
    with pytest.raises(UnknownDesign) as raised:
        system("blog")
    assert "pip install keyplan-systems adds blog, cms, papers, shop and social" in str(raised.value)
    for command in (["serve", "blog"], ["sample", "blog"], ["import", "blog", "."], ["check", "blog"]):
        result = run(*command)
        assert result.exit_code == 2, result.output
        assert "pip install keyplan-systems" in result.stderr


def test_the_hint_for_an_unknown_system_suggests_installed_systems(site: Path) -> None:
    assert hint_for("zzz") == "the installed systems are blog, cms, papers, shop, social"
    assert hint_for("cmss") == "did you mean cms?"
    bring(site, "any-library", "library")
    assert hint_for("librarie") == "did you mean library?"
