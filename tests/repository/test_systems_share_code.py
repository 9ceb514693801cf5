"""Systems contain no duplicate code: code that several systems need is defined once."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

SYSTEMS = Path(__file__).resolve().parents[2] / "systems/src/keyplan_systems"
NAMES = ("blog", "cms", "papers", "shop", "social")
SAME_LINES_MAX = 7
"""Consecutive lines that two systems may have in common, such as the start of a template."""
KINDS = ("*.py", "*.html", "*.css", "*.js")


def code_lines(path: Path) -> list[tuple[int, str]]:
    """Return the numbered lines of a file, without imports, comments, blank lines and single brackets."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^from \S+ import \([^)]*\)", lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE)
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if len(line) > 3 and not re.match(r"import |from |#|@", line)]


def repeated(folder: Path, names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the sequences of lines that more than one system contains, by first line, with their places."""
    places: dict[tuple[str, ...], set[tuple[str, str]]] = defaultdict(set)
    for name in names:
        for path in (path for kind in KINDS for path in (folder / name).rglob(kind)):
            lines = code_lines(path)
            for first in range(len(lines) - SAME_LINES_MAX):
                run = tuple(line for _, line in lines[first : first + SAME_LINES_MAX + 1])
                places[run].add((name, f"{path.relative_to(folder)}:{lines[first][0]}"))
    return {
        run[0]: sorted(place for _, place in where)
        for run, where in places.items()
        if len({name for name, _ in where}) > 1
    }


def test_systems_contain_no_duplicate_code() -> None:
    assert repeated(SYSTEMS, NAMES) == {}


def test_the_search_for_duplicate_code_finds_common_lines(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        lines = "".join(f"    step_{number}()\n" for number in range(SAME_LINES_MAX + 1))
        (tmp_path / name / "doing.py").write_text(f"def {name}():\n{lines}", encoding="utf-8")
    assert repeated(tmp_path, ("one", "other")) == {"step_0()": ["one/doing.py:2", "other/doing.py:2"]}
