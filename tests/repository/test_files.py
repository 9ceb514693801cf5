"""Rules for all files, links between pages, and import contracts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.repository.files import ROOT, SOURCE, SYSTEMS, place, written_files

HOSTS = [name + end for name, end in (("pypi", ".org"), ("pythonhosted", ".org"), ("npmjs", "."), ("deb.debian", "."))]
MACHINE = re.compile(r"(?<![\w.~-])/" + r"(?:root|home|work|Users)/")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
PAGES = [*written_files(".md")]


def test_no_file_contains_a_registry_host_or_a_local_absolute_path() -> None:
    """Registries are configured on each machine, and paths are relative to the repository."""
    result = [
        f"{place(path)}:{number}: {line.strip()}"
        for path in written_files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if MACHINE.search(line) or any(host in line for host in HOSTS)
    ]
    assert result == []


@pytest.mark.parametrize("path", PAGES, ids=place)
def test_links_on_pages_point_to_existing_files(path: Path) -> None:
    links = LINK.findall(path.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("folder", ["docs", "docs/decisions"])
def test_the_index_of_a_folder_links_to_every_page(folder: str) -> None:
    """docs/index.md links to every page, and the list of decisions to every decision."""
    index = ROOT / "docs" / "index.md" if folder == "docs" else ROOT / folder / "README.md"
    linked = {(index.parent / link).resolve() for link in LINK.findall(index.read_text(encoding="utf-8"))}
    pages = {path.resolve() for path in (ROOT / folder).glob("*.md")} - {index.resolve()}
    assert pages - linked == set()


def test_decision_records_have_a_context_and_consequences() -> None:
    for path in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        headings = re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences"], place(path)


def contract(name: str) -> dict[str, Any]:
    """Return the import contract in pyproject.toml that has this ID."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return next(value for value in linter["contracts"] if value["id"] == name)


def test_the_import_contract_of_systems_lists_every_package() -> None:
    """The contract wouldn't prevent systems from importing a package that isn't listed."""
    modules = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    free = {"__init__", "_version", "errors", "systems"}
    assert {f"keyplan.{name}" for name in modules - free} <= set(contract("systems")["forbidden_modules"])


def test_the_import_contract_between_systems_lists_every_system() -> None:
    """The contract wouldn't prevent imports of a system that isn't listed."""
    systems = {f"keyplan_systems.{path.parent.name}" for path in SYSTEMS.glob("*/system.py")}
    assert systems == set(contract("systems-apart")["modules"])
