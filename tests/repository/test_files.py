"""What must not stand in any file, and what the files say of each other."""

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


def test_no_file_names_a_registry_or_a_place_on_one_machine() -> None:
    """Where packages come from is the machine's affair, and paths are relative to the repository."""
    result = [
        f"{place(path)}:{number}: {line.strip()}"
        for path in written_files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if MACHINE.search(line) or any(host in line for host in HOSTS)
    ]
    assert result == []


@pytest.mark.parametrize("path", PAGES, ids=place)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link of a page is to a file that is there."""
    links = LINK.findall(path.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("folder", ["docs", "docs/decisions"])
def test_every_page_is_found_from_the_index(folder: str) -> None:
    """docs/index.md leads to every page, and the list of decisions to every decision."""
    index = ROOT / "docs" / "index.md" if folder == "docs" else ROOT / folder / "README.md"
    linked = {(index.parent / link).resolve() for link in LINK.findall(index.read_text(encoding="utf-8"))}
    pages = {path.resolve() for path in (ROOT / folder).glob("*.md")} - {index.resolve()}
    assert pages - linked == set()


def test_decisions_have_a_context_and_consequences() -> None:
    for path in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        headings = re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences"], place(path)


def contract(name: str) -> dict[str, Any]:
    """One of the import contracts in pyproject.toml."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return next(value for value in linter["contracts"] if value["id"] == name)


def test_the_contract_of_the_systems_names_every_layer() -> None:
    """A layer that the contract doesn't name could be imported by a system."""
    modules = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    free = {"__init__", "_version", "errors", "systems"}
    assert {f"keyplan.{name}" for name in modules - free} <= set(contract("systems")["forbidden_modules"])


def test_the_contract_between_systems_names_every_system() -> None:
    """A system that the contract doesn't name could be imported by another one."""
    systems = {f"keyplan_systems.{path.parent.name}" for path in SYSTEMS.glob("*/system.py")}
    assert systems == set(contract("systems-apart")["modules"])
