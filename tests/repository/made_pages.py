"""Generates the parts of docs/ that come from the code, for ``make docs`` and a test: tables of errors and of
operations, the help of the commands, and the architecture page.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from keyplan import errors
from keyplan.cli.group import cli
from keyplan.dynamodb.operations.registry import OPERATIONS
from tests.repository import architecture_page, operations_page
from tests.repository.files import ROOT

ERRORS = ROOT / "docs" / "errors.md"
COMMANDS = ROOT / "docs" / "commands.md"
SERVER = ROOT / "docs" / "server.md"
EVERY_OPERATION = ROOT / "docs" / "operations.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
WIDTH = 100


def error_classes() -> list[type[errors.KeyplanError]]:
    """Return the classes of ``keyplan.errors``, each base class before its subclasses."""

    def below(cls: type[errors.KeyplanError]) -> Iterator[type[errors.KeyplanError]]:
        yield cls
        for kind in cls.__subclasses__():
            if kind.__module__ == errors.__name__:
                yield from below(kind)

    return list(below(errors.KeyplanError))


def error_table() -> str:
    """Return a Markdown table of the errors."""
    lines = ["| Code | Base classes | Meaning |", "|---|---|---|"]
    for cls in error_classes():
        kinds = ", ".join(f"`{base.__name__}`" for base in cls.__bases__)
        summary = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
        lines.append(f"| `{cls.code}` | {kinds} | {summary} |")
    return "\n".join(lines)


def command_help() -> str:
    """Return the help of ``keyplan`` and of each command, in Markdown."""
    names = list(cli.list_commands(click.Context(cli)))
    parts: list[str] = []
    for arguments in ([], *([name] for name in names)):
        shown = CliRunner().invoke(cli, [*arguments, "--help"], prog_name="keyplan", terminal_width=WIDTH)
        title = " ".join(["keyplan", *arguments])
        text = "\n".join(line.rstrip() for line in shown.output.strip().splitlines())
        parts.append(f"## {title}\n\n```text\n{text}\n```")
    return "\n\n".join(parts)


def operation_table() -> str:
    """Return a Markdown table of the operations that the server supports."""
    lines = ["| Group | Operations |", "|---|---|"]
    titles = {"table": "Tables", "read": "Reading items", "write": "Writing items", "stream": "Streams"}
    for kind, title in titles.items():
        names = [f"`{name}`" for name, operation in OPERATIONS.items() if operation.kind == kind]
        lines.append(f"| {title} | {', '.join(names)} |")
    return "\n".join(lines)


def made(path: Path) -> str:
    """Return a page with its generated parts updated (between the markers, or the whole page)."""
    if path == EVERY_OPERATION:
        return operations_page.page()
    if path == ARCHITECTURE:
        return architecture_page.page()
    page = path.read_text(encoding="utf-8")
    for name, make in {"errors": error_table, "commands": command_help, "operations": operation_table}.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if begin in page:
            head, _, rest = page.partition(begin)
            page = f"{head}{begin}\n\n{make()}\n\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    for one in (ERRORS, COMMANDS, SERVER, EVERY_OPERATION, ARCHITECTURE):
        one.write_text(made(one), encoding="utf-8")
