"""Helpers that run ``keyplan`` in this process or as a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from keyplan.cli.group import cli
from tests.processes import Process

LIBRARY = "tests.web.library:Library"


def run(*arguments: str, env: dict[str, str] | None = None) -> Result:
    """Run ``keyplan`` in this process. Exceptions other than SystemExit are raised."""
    result = CliRunner().invoke(cli, list(arguments), env={"COLUMNS": "120", **(env or {})}, prog_name="keyplan")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def json_of(*arguments: str) -> Any:
    """Return the parsed output of a command with ``--json``, after checking its success and indentation."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    indents = {len(line) - len(line.lstrip(" ")) for line in result.stdout.splitlines()}
    assert printed in ({}, []) or indents == set(range(0, max(indents) + 1, 2)), result.stdout
    return printed


def program(*arguments: str, cwd: Path | None = None, stderr: int = subprocess.PIPE, **more: Any) -> Process:
    """Start ``keyplan`` as a program that imports this checkout of the library."""
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in ("", *sys.path))
    return Process(
        [sys.executable, "-c", "from keyplan.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
        **more,
    )
