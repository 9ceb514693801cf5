"""``--help``, ``--version``, usage errors, and the modules imported for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from keyplan._version import __version__
from tests.cli.support import program, run

COMMANDS = ("serve", "call", "explain", "import", "sample", "create", "dynamodb", "diff", "export", "import-workbench")


def test_help_lists_every_command_and_has_examples() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for name in COMMANDS:
        assert f"  {name} " in result.output
    assert "keyplan serve cms --sample 300" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_an_example(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"  keyplan {name} " in result.output


def test_the_version_is_printed() -> None:
    assert run("--version").output == f"keyplan, version {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [(), ("nothing",), ("serve",), ("call", "cms"), ("sample", "cms", "--count", "0")]
)
def test_invalid_arguments_print_usage(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.output


def loaded(arguments: str) -> set[str]:
    code = (
        "import sys\nfrom keyplan.cli import main\n"
        f"sys.argv = ['keyplan', *{arguments.split()!r}]\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in process.stderr.split()}


@pytest.mark.parametrize("arguments", ["--help", "serve --help", "explain --help"])
def test_help_imports_neither_the_server_nor_rich_nor_yaml(arguments: str) -> None:
    assert not loaded(arguments) & {"starlette", "uvicorn", "rich", "yaml"}


@pytest.mark.parametrize("module", ["pydantic", "apsw"])
def test_help_imports_no_module_that_is_slow_to_import(module: str) -> None:
    assert module not in loaded("--help")


def test_closing_the_output_pipe_prints_no_error() -> None:
    with program("explain", "cms", "--json") as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        assert started.stderr.read() == ""
