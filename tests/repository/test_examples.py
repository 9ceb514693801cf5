"""The examples in the README and in docs/ run, and print the output that the page shows."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from keyplan.cli.group import cli
from tests.repository.examples import File, Program, blocks_of, commands_of, matches, programs_of
from tests.repository.files import ROOT, SYSTEMS, place, written_files
from tests.repository.made_pages import ARCHITECTURE, COMMANDS, ERRORS, EVERY_OPERATION, SERVER, made

PAGES = [ROOT / "README.md", *written_files(".md", ROOT / "docs"), *written_files(".md", SYSTEMS)]
PROGRAMS = [(path, program) for path in PAGES for program in programs_of(path)]
WITH_COMMANDS = [path for path in PAGES if any(commands_of(path))]


@pytest.mark.parametrize(
    ("path", "program"), PROGRAMS, ids=[f"{place(path)}:{program.line}" for path, program in PROGRAMS]
)
def test_a_python_example_prints_the_output_on_its_page(
    path: Path, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each example runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for line, printed, shown in program.run(place(path)):
        assert printed.splitlines() == shown.splitlines(), f"{place(path)}:{line}"


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=place)
def test_commands_on_a_page_print_the_shown_output(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of a page run one after the other in the same folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # pages show the output without a terminal
    for step in commands_of(path):
        if isinstance(step, File):
            (tmp_path / step.name).write_text(step.text, encoding="utf-8")
            continue
        exit_code, output = run(step.words)
        place_of_command = f"{place(path)}:{step.line}: {shlex.join(step.words)}"
        assert exit_code == 0, f"{place_of_command}\n{output}"
        if step.shown:
            assert matches(output, step.shown), f"{place_of_command}\n{output}"


def run(words: list[str]) -> tuple[int, str]:
    """Return the exit status and output of a command. ``keyplan`` runs in this process, which is faster."""
    if words[0] == "python":
        done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    result = CliRunner().invoke(cli, words[1:], prog_name="keyplan")
    return result.exit_code, result.output


@pytest.mark.parametrize("path", [ERRORS, COMMANDS, SERVER, EVERY_OPERATION, ARCHITECTURE], ids=place)
def test_generated_pages_are_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8").splitlines() == made(path).splitlines(), "run: make docs"


def test_the_first_program_of_the_readme_runs_as_a_file(tmp_path: Path) -> None:
    """The program runs in an empty folder, with warnings as errors."""
    first = next(block for block in blocks_of(ROOT / "README.md") if block.language == "python")
    program = tmp_path / "quick_start.py"
    program.write_text(first.text, encoding="utf-8")
    command = [sys.executable, "-W", "error", program.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_in_several_code_blocks_returns_its_actual_and_documented_output(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\na = 1\n```\n\n```python continues\nprint(a + 1)\n```\n\n```text\n3\n```\n", encoding="utf-8"
    )
    (program,) = programs_of(page)
    assert list(program.run("page.md")) == [(5, "2\n", "3\n")]


def test_three_dots_in_a_documented_output_match_any_lines() -> None:
    assert matches("a\nb\nc\nd\n", "a\n...\nd\n")
    assert not matches("a\nb\nc\n", "a\n...\nd\n")
