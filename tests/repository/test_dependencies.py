"""What the package imports is declared in pyproject.toml, and its version is pinned for this repository."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

from tests.repository.files import ROOT, SOURCE, written_files

OF_OTHERS = {
    "opentelemetry-semantic-conventions": "it shares the name opentelemetry with the API, which is used",
    "pydantic-core": "pydantic pins it: the two are one",
}


def plain(name: str) -> str:
    """A distribution's name as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> set[str]:
    """The distributions that pyproject.toml names, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return {plain(re.split(r"[^\w.-]", requirement)[0]) for one in lists for requirement in one}


def imported() -> set[str]:
    """The modules that the package imports, but for the standard library's."""
    found: set[str] = set()
    for path in written_files(".py", SOURCE):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"keyplan"}


def test_what_is_imported_is_declared() -> None:
    """Nothing is used that only happens to be installed."""
    homes = packages_distributions()
    needed = {plain(name) for module in imported() for name in homes.get(module, [module])}
    assert needed - declared() - OF_OTHERS.keys() == set()


def test_what_is_declared_is_pinned() -> None:
    """constraints.txt holds one exact version of each."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {plain(line.partition("==")[0]) for line in lines if "==" in line}
    assert declared() - pinned - {"keyplan"} == set(), "run: make constraints"
