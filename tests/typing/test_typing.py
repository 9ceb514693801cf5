"""What type checkers say of right and wrong calls: mypy and basedpyright, strict, over the files of this folder."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.typing import correct

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
FILES = ["library.py", "correct.py", "wrong.py"]
MYPY = ["mypy", "--config-file", str(FOLDER / "mypy.ini"), "--cache-dir", str(ROOT / ".mypy_cache" / "typing")]
PYRIGHT = ["basedpyright", "--pythonpath", sys.executable, "--outputjson", "--project", str(FOLDER)]
MARK = re.compile(r"# refused: ((?:mypy|pyright|\s)+)$")
MYPY_ERROR = re.compile(r"^(.+?):(\d+): error: (.+)$", re.MULTILINE)

Findings = Mapping[str, Mapping[int, str]]
"""By file and line, what is said of it."""


@dataclass(frozen=True)
class Refusals:
    """What each checker refuses."""

    mypy: Findings
    pyright: Findings


@pytest.fixture(scope="module")
def refusals() -> Refusals:
    """Both checkers, side by side: they take some seconds."""
    files = [f"tests/typing/{name}" for name in FILES]
    runs = [
        subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, text=True, stdout=subprocess.PIPE)
        for command in ([*MYPY, *files], PYRIGHT)
    ]
    told_by_mypy, told_by_pyright = (run.communicate()[0] for run in runs)
    assert [run.returncode for run in runs] == [1, 1], told_by_mypy[-2000:] + told_by_pyright[-2000:]
    mypy: dict[str, dict[int, str]] = {name: {} for name in FILES}
    for path, line, message in MYPY_ERROR.findall(told_by_mypy):
        mypy.setdefault(Path(path).name, {})[int(line)] = message
    pyright: dict[str, dict[int, str]] = {name: {} for name in FILES}
    for one in json.loads(told_by_pyright)["generalDiagnostics"]:
        pyright.setdefault(Path(one["file"]).name, {})[one["range"]["start"]["line"] + 1] = one["message"]
    return Refusals(mypy, pyright)


def expected(checker: str) -> set[int]:
    """The lines of wrong.py that say that the checker refuses them."""
    lines = (FOLDER / "wrong.py").read_text(encoding="utf-8").splitlines()
    marks = ((number, MARK.search(line)) for number, line in enumerate(lines, 1))
    return {number for number, mark in marks if mark is not None and checker in mark.group(1).split()}


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_right_calls_are_accepted_with_their_types(refusals: Refusals, checker: str) -> None:
    found: Findings = getattr(refusals, checker)
    assert found["correct.py"] == {}
    assert found["library.py"] == {}
    assert set(found) == set(FILES)


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_wrong_calls_are_refused_line_by_line(refusals: Refusals, checker: str) -> None:
    found: Findings = getattr(refusals, checker)
    wanted = expected(checker)
    assert len(wanted) > 70
    accepted = wanted - found["wrong.py"].keys()
    unexpected = {line: said for line, said in found["wrong.py"].items() if line not in wanted}
    assert (accepted, unexpected) == (set(), {})


def test_the_right_calls_are_right_when_they_run() -> None:
    """What the checkers are told is also what happens."""
    with correct.opened() as library:
        correct.reads(library)
        correct.views(library)
        correct.parameters(library)
        correct.writes(library)
        asyncio.run(correct.awaited(library))
        assert [book.title for book in library.books_by("Ada")] == ["Notes"]
