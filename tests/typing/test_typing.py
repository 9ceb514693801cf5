"""Strict mypy, pyright and basedpyright, and ty and pyrefly accept the correct calls and reject the wrong calls."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.repository.examples import programs_of
from tests.typing import correct

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
FILES = ["library.py", "correct.py", "wrong.py"]
PATHS = [f"tests/typing/{name}" for name in FILES]
PAGES = ["docs/designing.md", "docs/designing-more.md"]
PYTHON = ["--python", sys.executable]
SEARCHED = ["src", "."]
PYRIGHT = ROOT / ".cache" / "pyright" / "node_modules" / "pyright" / "index.js"
"""Pyright, if `make system` installed it by npm; the other checkers are Python packages."""
COMMANDS = {
    "mypy": [
        *(sys.executable, "-m", "mypy", "--config-file", str(FOLDER / "mypy.ini")),
        *("--cache-dir", str(ROOT / ".mypy_cache" / "typing"), *PATHS),
    ],
    "basedpyright": [
        *(sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable),
        *("--outputjson", "--project", str(FOLDER)),
    ],
    "pyright": [*("node", str(PYRIGHT), "--pythonpath", sys.executable), *("--outputjson", "--project", str(FOLDER))],
    "ty": [
        *(sys.executable, "-m", "ty", "check", *PYTHON, *(f"--extra-search-path={text}" for text in SEARCHED)),
        *("--ignore", "invalid-implicit-return-in-function-with-stub-body", "--output-format", "concise", *PATHS),
    ],
    "pyrefly": [
        *(sys.executable, "-m", "pyrefly", "check", "--python-interpreter-path", sys.executable),
        *(f"--search-path={text}" for text in SEARCHED),
        *("--output-format", "min-text", *PATHS),
    ],
}
"""The command of each checker. docs/designing-more.md explains what ty is told to ignore."""
CHECKERS = [
    pytest.param(
        name,
        marks=[
            pytest.mark.skipif(name == "pyright" and not PYRIGHT.exists(), reason="npm has it"),
            *([] if name == "mypy" else [pytest.mark.nightly]),
        ],
    )
    for name in COMMANDS
]
LINES = {
    "mypy": re.compile(r"^(?P<file>.+?):(?P<line>\d+): error: (?P<message>.+)$", re.MULTILINE),
    "ty": re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: error(?P<message>.+)$", re.MULTILINE),
    "pyrefly": re.compile(r"^ERROR (?P<file>.+?):(?P<line>\d+):(?P<message>.+)$", re.MULTILINE),
}
MARK = re.compile(r"# refused: all(?: but (\w+))?$")
UNKNOWN = re.compile(r"assert_type\(Unknown, |no-any-return-implicit")
"""pyrefly's errors about results of ``yield from``, which it doesn't know (see wrong.py)."""

Findings = Mapping[str, Mapping[int, str]]
"""Messages by file and line."""


@cache
def run_checker(checker: str) -> Findings:
    """Run one type checker, which takes some seconds, and return its findings."""
    run = subprocess.run(COMMANDS[checker], cwd=ROOT, text=True, capture_output=True, check=False)
    assert run.returncode == 1, (run.stdout, run.stderr)
    return findings(checker, run.stdout)


def findings(checker: str, output: str) -> Findings:
    result: dict[str, dict[int, str]] = {name: {} for name in FILES}
    if checker in {"pyright", "basedpyright"}:
        for diagnostic in json.loads(output)["generalDiagnostics"]:
            result.setdefault(Path(diagnostic["file"]).name, {})[diagnostic["range"]["start"]["line"] + 1] = diagnostic[
                "message"
            ]
        return result
    for match in LINES[checker].finditer(output):
        if not (checker == "pyrefly" and UNKNOWN.search(match["message"])):
            result.setdefault(Path(match["file"]).name, {})[int(match["line"])] = match["message"]
    return result


def expected(checker: str) -> set[int]:
    """Return the lines of wrong.py that the checker must reject."""
    lines = (FOLDER / "wrong.py").read_text(encoding="utf-8").splitlines()
    marks = ((number, MARK.search(line)) for number, line in enumerate(lines, 1))
    return {number for number, mark in marks if mark is not None and mark[1] != checker}


@pytest.mark.parametrize("checker", CHECKERS)
def test_each_type_checker_accepts_correct_calls_and_infers_their_types(checker: str) -> None:
    result = run_checker(checker)
    assert result["correct.py"] == {}
    assert result["library.py"] == {}
    assert set(result) == set(FILES)


@pytest.mark.parametrize("checker", CHECKERS)
def test_wrong_calls_are_rejected_by_each_type_checker(checker: str) -> None:
    result = run_checker(checker)
    rejected = expected(checker)
    assert len(rejected) > 100
    accepted = rejected - result["wrong.py"].keys()
    unexpected = {line: text for line, text in result["wrong.py"].items() if line not in rejected}
    assert (accepted, unexpected) == (set(), {})


@pytest.mark.nightly
def test_documented_designs_have_no_warnings(tmp_path: Path) -> None:
    """basedpyright has its default settings, without the two rules that docs/designing-more.md names."""
    for page in PAGES:
        for number, program in enumerate(programs_of(ROOT / page)):
            name = f"{Path(page).stem.replace('-', '_')}_{number}.py"
            (tmp_path / name).write_text(design_of(program.steps[0][1]), encoding="utf-8")
    settings = {"pythonVersion": "3.11", "extraPaths": [str(ROOT / "src")], **dict.fromkeys(OFF, False)}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "0 errors, 0 warnings" in done.stdout, done.stdout[-3000:]
    page = (ROOT / PAGES[1]).read_text(encoding="utf-8")
    assert all(f"{rule} = false" in page for rule in OFF)


OFF = ("reportUnannotatedClassAttribute", "reportUnusedParameter")


def design_of(text: str) -> str:
    """Return the part of a program before it opens its design. Imported names are exported, so that all are used."""
    opening = re.search(r"^\w+ = \w+\.open\(|^async def main", text, re.MULTILINE)
    design = text if opening is None else text[: opening.start()]
    imported = [
        alias.asname or alias.name
        for node in ast.walk(ast.parse(design))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    return f"{design}\n__all__ = {imported!r}\n"


def test_correct_calls_run_without_errors() -> None:
    with correct.opened() as library:
        correct.reads(library)
        correct.views(library)
        correct.parameters(library)
        correct.writes(library)
        asyncio.run(correct.awaited(library))
        assert [book.title for book in library.books_by("Ada")] == ["Notes"]
