"""The patterns, pages and tests in the tables of systems/README.md exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keyplan.systems import system
from tests.systems.sites.support import OPTIONS

ROOT = Path(__file__).parents[2]
NAMES = ("blog", "cms", "social", "shop", "papers")


def rows(name: str) -> list[list[str]]:
    """Return the rows of a system's table: item, patterns, pages and tests."""
    text = (ROOT / "systems/README.md").read_text(encoding="utf-8")
    section = re.split(r"(?m)^##+ ", text.split(f"\n### {name}\n", 1)[1])[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("name", NAMES)
def test_patterns_pages_and_tests_listed_in_the_systems_readme_exist(name: str) -> None:
    title = {"cms": "CMS"}.get(name, name.capitalize())
    installed = system(name)
    assert installed.site is not None
    with installed.design.open(":memory:") as design:
        pages = {getattr(route, "path", None) for route in installed.site(design, OPTIONS).application.routes}
    table = rows(title)
    assert len(table) > 10
    for _, *cells in table:
        patterns, shown, tests = (re.findall(r"`([^`]+)`", cell) for cell in cells)
        assert set(patterns) <= set(installed.design.compiled.patterns)
        assert set(shown) <= pages
        assert tests
        assert all((ROOT / "tests/systems" / test).is_file() for test in tests)
