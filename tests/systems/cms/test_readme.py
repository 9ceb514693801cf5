"""The README of the CMS lists the items of the sample, and the patterns and limits of the design."""

from __future__ import annotations

import re
from pathlib import Path

import keyplan_systems.cms
from keyplan_systems.cms import Cms
from keyplan_systems.cms.design import BODY_BYTES_MAX, EXCERPT_MAX, TAGS_MAX
from tests.systems.cms.support import stored

README = (Path(keyplan_systems.cms.__file__).parent / "README.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the tables in a section, as lists of cells without code markup."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| ")
    ]


def test_items_listed_in_the_readme_are_in_the_sample(sampled: Cms) -> None:
    shown = [row for row in rows("Key table") if "01KPZ33YY0NHSEMGHPPRVG99EN" in str(row)]
    items = [item for item in stored(sampled) if "01KPZ33YY0NHSEMGHPPRVG99EN" in f"{item['pk']}{item['sk']}"]
    result = {tuple(item.get(key, {"S": "–"})["S"] for key in ("pk", "sk", "gsi1pk", "gsi1sk")): item for item in items}
    assert {tuple(row[:4]) for row in shown} == result.keys()
    for row in shown:
        item = result[(row[0], row[1], row[2], row[3])]
        for name in re.findall(r"(?:^|, )(\w+)", re.sub(r"\{.*?\}", "", row[4])):
            assert name in item
        for name, value in re.findall(r"(version|wordCount|currentVersion|createdBy) (\w+)", row[4]):
            assert value in item[name].values()


def test_patterns_of_the_design_are_listed_in_the_readme() -> None:
    listed = {row[0]: row[1].partition("(")[0] for row in rows("Access patterns")[1:]}
    assert listed == {pattern.id: name for name, pattern in Cms.compiled.patterns.items()}


def test_limits_in_the_readme_equal_those_of_the_design() -> None:
    for number in (f"{BODY_BYTES_MAX:,} bytes", f"{TAGS_MAX} tags", f"{EXCERPT_MAX:,} characters"):
        assert number in README
