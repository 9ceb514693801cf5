"""Options and arguments that commands share, and error reporting."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click

from keyplan.errors import DesignError, ErrorDetail, KeyplanError, RequestError

# ruff: noqa: PLC0415 - expensive modules are imported when the command runs


P = ParamSpec("P")
R = TypeVar("R")

WRONG_INPUT = 2
FAILED = 1

name_argument = click.argument("name", metavar="NAME")
db_option = click.option(
    "--db",
    envvar="KEYPLAN_DB",
    metavar="FILE|URL",
    help="Store: a file, :memory:, or dynamodb://REGION/TABLE.  [default: $KEYPLAN_DB, or <name>.db]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print output and errors as JSON.")
_SAMPLE = "If the table is empty, write N sample items of the system's main entity (blog: posts; shop: orders)."
sample_option = click.option("--sample", type=click.IntRange(min=1), metavar="N", help=_SAMPLE)

_BIDIRECTIONAL = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNSHOWN = (*range(9), *range(11, 32), *range(0x7F, 0xA0), *range(0xD800, 0xE000), *_BIDIRECTIONAL)
_REPLACED = dict.fromkeys(_UNSHOWN, "\N{REPLACEMENT CHARACTER}")
_ESCAPED = {code: f"\\u{code:04x}" for code in _UNSHOWN}


def printable(text: str) -> str:
    """Replace control characters, bidirectional controls and lone surrogates, for output in a terminal."""
    return text.translate(_REPLACED)


def echo_json(value: Any, *, indent: int | None = None) -> None:
    """Print JSON. Characters that ``printable`` replaces are escaped."""
    from keyplan.formatting.results import json_text

    click.echo(json_text(value, indent=indent).translate(_ESCAPED))


def reports_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Print Keyplan's errors, as JSON with ``--json``, and exit with status 2 for invalid input, otherwise 1."""

    @functools.wraps(function)
    def reported(*args: P.args, **kwargs: P.kwargs) -> R:
        from pydantic import ValidationError

        from keyplan.formatting.results import error_json, known_error

        try:
            return function(*args, **kwargs)
        except (KeyplanError, ValidationError) as error:
            known = known_error(error)
            if kwargs.get("as_json"):
                echo_json(error_json(known))
            else:
                echo_error(known)
            wrong = isinstance(known, RequestError | DesignError)
            raise click.exceptions.Exit(WRONG_INPUT if wrong else FAILED) from None

    return reported


def echo_error(error: KeyplanError) -> None:
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {printable(str(error))}", err=True)


def read_text(where: str) -> str:
    try:
        return Path(where).expanduser().read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise RequestError(f"{where} can't be read: {error.strerror or error}", hint="choose another file") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{where} isn't valid UTF-8 at byte offset {error.start}", place=where) from None


def write_text(where: Path, text: str) -> None:
    try:
        where.write_bytes(text.encode())
    except OSError as error:
        raise RequestError(f"{where} can't be written: {error.strerror or error}", hint="choose another path") from None


def write_output(text: str, output: str | None, about: str = "") -> None:
    """Write the text to the file ``output``, and print a message; without a file, print the text."""
    if output is None:
        click.echo(text, nl=False)
        return
    write_text(Path(output).expanduser(), text)
    click.echo(f"Wrote {output}{about}.")


T = TypeVar("T")


class Collector:
    """Runs steps, and collects their errors into one error."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.errors: list[KeyplanError] = []

    def step(self, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except KeyplanError as error:
            self.errors.append(error)
            return None

    def raise_all(self) -> None:
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            faults = [
                fault
                for error in self.errors
                for fault in (error.errors or (ErrorDetail(error.place or "", error.message, error.hint, error.code),))
            ]
            raise RequestError(f"{self.message}: {len(faults)} errors", errors=faults)
