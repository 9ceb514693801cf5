"""The pyproject.toml of each package declares what the package imports, and constraints.txt pins the versions."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.repository.files import ROOT, SOURCE, SYSTEMS, written_files

PACKAGES = [(ROOT, SOURCE), (ROOT / "systems", SYSTEMS)]
"""The folder of each package's pyproject.toml, and of its modules."""

OF_OTHERS = {
    "opentelemetry-semantic-conventions": "it shares the name opentelemetry with the API, which is used",
    "pydantic-core": "pydantic pins it: the two are one",
}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(folder: Path) -> set[str]:
    """Return the dependencies that the pyproject.toml in a folder declares, including extras."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
    return {normalized(re.split(r"[^\w.-]", requirement)[0]) for value in lists for requirement in value}


IMPORT = re.compile(r"^\s*(?:from (\w+)[\w.]* import .*|import (\w+)[\w.]*(?: as \w+)?) *(?:#.*)?$", re.MULTILINE)


def imported(source: Path) -> set[str]:
    """Return the modules that a package imports, except its own modules and the standard library."""
    texts = (path.read_text(encoding="utf-8") for path in written_files(".py", source))
    result = {match[1] or match[2] for text in texts for match in IMPORT.finditer(text)}
    return result - sys.stdlib_module_names - {source.name}


@pytest.mark.parametrize(("folder", "source"), PACKAGES, ids=["keyplan", "keyplan-systems"])
def test_imported_packages_are_declared_as_dependencies(folder: Path, source: Path) -> None:
    homes = packages_distributions()
    needed = {normalized(name) for module in imported(source) for name in homes.get(module, [module])}
    assert needed - declared(folder) - OF_OTHERS.keys() == set()


def test_declared_dependencies_are_pinned() -> None:
    """constraints.txt has one exact version of each dependency."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {normalized(line.partition("==")[0]) for line in lines if "==" in line}
    needed = {name for folder, _ in PACKAGES for name in declared(folder)}
    assert needed - pinned - {"keyplan"} == set(), "run: make constraints"


def test_both_packages_have_the_same_version() -> None:
    """The two packages are released together."""
    versions = {(source / "_version.py").read_text(encoding="utf-8").rpartition("=")[2] for _, source in PACKAGES}
    assert len(versions) == 1
