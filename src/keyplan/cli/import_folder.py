"""``keyplan import``: load real input into a system."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from keyplan.cli.options import db_option, json_option, name_argument, printable, tells_errors

if TYPE_CHECKING:
    from keyplan.systems import LoadReport

__all__ = ["command"]

SOME_LEFT_OUT = 3


@click.command(
    "import",
    short_help="Load a folder into a system.",
    epilog="""\b
Examples:
  keyplan import cms ~/blog/_posts
  keyplan import cms content/posts --db blog.db --json

\b
Exit status: 0 all went in, 3 some didn't, 2 nothing could be tried.
""",
)
@name_argument
@click.argument("folder", metavar="FOLDER")
@db_option
@json_option
@tells_errors
def command(name: str, folder: str, db: str | None, *, as_json: bool) -> None:
    """Load FOLDER into the system NAME. What can't be loaded is told by file and line; the rest goes in."""
    from pathlib import Path

    from keyplan.cli.designs import find, find_system
    from keyplan.cli.progress import progress
    from keyplan.errors import RequestError

    system = find_system(name, "a loader")
    path = Path(folder).expanduser()
    if not path.is_dir():
        what = "is a file" if path.exists() else "isn't there"
        raise RequestError(f"the folder {folder} {what}", hint="give the folder that holds the files")
    found = find(name)
    with found.open(db) as design, progress("Loading") as bar:
        report = system.load(design, path, bar)
    _tell(report, found.db(db), as_json=as_json)
    if report.faults:
        raise click.exceptions.Exit(SOME_LEFT_OUT)


def _tell(report: LoadReport, db: str, *, as_json: bool) -> None:
    from keyplan.web.answers import json_text

    if as_json:
        faults = [
            {
                name: value
                for name, value in (("place", one.place), ("message", one.message), ("hint", one.hint))
                if value
            }
            for one in report.faults
        ]
        click.echo(json_text({"loaded": report.loaded, "faults": faults}))
        return
    for fault in report.faults:
        click.echo(printable(str(fault)), err=True)
    left = f"; {len(report.faults)} faults, told above" if len(report.faults) > 1 else "; 1 fault, told above"
    click.echo(f"Loaded {report.loaded} into {db}{left if report.faults else ''}.")
