"""What several systems need stands once: no two of them hold the same lines."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

SYSTEMS = Path(__file__).resolve().parents[2] / "systems/src/keyplan_systems"
NAMES = ("blog", "cms", "papers", "shop", "social")
SAME_LINES_MAX = 7
"""Lines in a row that two systems may have in common: a head of a template, a signature."""
KINDS = ("*.py", "*.html", "*.css", "*.js")


def said(path: Path) -> list[tuple[int, str]]:
    """The lines of a file that say something, with their numbers: no imports, no blank ones, no lone brackets."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^from \S+ import \([^)]*\)", lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE)
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if len(line) > 3 and not re.match(r"import |from |#|@", line)]


def repeated(folder: Path, names: tuple[str, ...]) -> dict[str, list[str]]:
    """The runs of lines that stand in more than one system, by their first line, with their places."""
    places: dict[tuple[str, ...], set[tuple[str, str]]] = defaultdict(set)
    for name in names:
        for path in (path for kind in KINDS for path in (folder / name).rglob(kind)):
            lines = said(path)
            for first in range(len(lines) - SAME_LINES_MAX):
                run = tuple(line for _, line in lines[first : first + SAME_LINES_MAX + 1])
                places[run].add((name, f"{path.relative_to(folder)}:{lines[first][0]}"))
    return {
        run[0]: sorted(place for _, place in where)
        for run, where in places.items()
        if len({name for name, _ in where}) > 1
    }


def test_no_two_systems_hold_the_same_lines() -> None:
    assert repeated(SYSTEMS, NAMES) == {}


def test_a_repetition_is_found(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        lines = "".join(f"    step_{number}()\n" for number in range(SAME_LINES_MAX + 1))
        (tmp_path / name / "doing.py").write_text(f"def {name}():\n{lines}", encoding="utf-8")
    assert repeated(tmp_path, ("one", "other")) == {"step_0()": ["one/doing.py:2", "other/doing.py:2"]}
