"""The examples of the README and of docs/ run, and give what is shown."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from keyplan.cli.group import cli
from tests.repository.examples import File, Program, as_shown, blocks_of, commands_of, programs_of
from tests.repository.files import ROOT, SYSTEMS, place, written_files
from tests.repository.made_pages import ARCHITECTURE, COMMANDS, ERRORS, EVERY_OPERATION, SERVER, made

PAGES = [ROOT / "README.md", *written_files(".md", ROOT / "docs"), *written_files(".md", SYSTEMS)]
PROGRAMS = [(path, program) for path in PAGES for program in programs_of(path)]
WITH_COMMANDS = [path for path in PAGES if any(commands_of(path))]


@pytest.mark.parametrize(
    ("path", "program"), PROGRAMS, ids=[f"{place(path)}:{program.line}" for path, program in PROGRAMS]
)
def test_python_runs(path: Path, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program runs in an empty folder, and prints what is shown."""
    monkeypatch.chdir(tmp_path)
    for line, printed, shown in program.run(place(path)):
        assert printed.splitlines() == shown.splitlines(), f"{place(path)}:{line}"


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=place)
def test_commands_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of a page run one after the other, and give what is shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # a runner of tests may have set it: pages show what has no terminal
    for step in commands_of(path):
        if isinstance(step, File):
            (tmp_path / step.name).write_text(step.text, encoding="utf-8")
            continue
        exit_code, output = run(step.words)
        place_of_command = f"{place(path)}:{step.line}: {shlex.join(step.words)}"
        assert exit_code == 0, f"{place_of_command}\n{output}"
        if step.shown:
            assert as_shown(output, step.shown), f"{place_of_command}\n{output}"


def run(words: list[str]) -> tuple[int, str]:
    """A command's exit status and output; ``keyplan`` in this process, since that is quicker."""
    if words[0] == "python":
        done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    result = CliRunner().invoke(cli, words[1:], prog_name="keyplan")
    return result.exit_code, result.output


@pytest.mark.parametrize("path", [ERRORS, COMMANDS, SERVER, EVERY_OPERATION, ARCHITECTURE], ids=place)
def test_what_is_made_from_the_code_is_up_to_date(path: Path) -> None:
    """The table of errors, the help of the commands, the rooms of the house."""
    assert path.read_text(encoding="utf-8").splitlines() == made(path).splitlines(), "run: make docs"


def test_the_quick_start_runs_as_a_file(tmp_path: Path) -> None:
    """The README's first program, copied into an empty file."""
    first = next(block for block in blocks_of(ROOT / "README.md") if block.language == "python")
    program = tmp_path / "quick_start.py"
    program.write_text(first.text, encoding="utf-8")
    command = [sys.executable, "-W", "error", program.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_an_example_prints_is_told(tmp_path: Path) -> None:
    """The examples are compared, not only run; and one may go on where another ended."""
    page = tmp_path / "page.md"
    page.write_text(
        "```python\na = 1\n```\n\n```python continues\nprint(a + 1)\n```\n\n```text\n3\n```\n", encoding="utf-8"
    )
    (program,) = programs_of(page)
    assert list(program.run("page.md")) == [(5, "2\n", "3\n")]


def test_dots_stand_for_any_lines() -> None:
    """A shown output may leave lines out."""
    assert as_shown("a\nb\nc\nd\n", "a\n...\nd\n")
    assert not as_shown("a\nb\nc\n", "a\n...\nd\n")
