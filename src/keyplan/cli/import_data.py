"""``keyplan import``: import files into a system."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from keyplan.cli.options import db_option, echo_json, json_option, name_argument, printable, reports_errors

if TYPE_CHECKING:
    from pathlib import Path

    from keyplan.systems import LoadReport, System


SOME_LEFT_OUT = 3
MEMORY = ":memory:"


@click.command(
    "import",
    short_help="Import files into a system.",
    epilog="""\b
Examples:
  keyplan import cms ~/blog/_posts
  keyplan import cms content/posts --db blog.db --json
  keyplan import blog ~/blog/_posts --dry-run
  keyplan import social facebook_combined.txt
  keyplan import shop exported/
  keyplan import shop goods.csv --map product_id=SKU --map name=Title
  keyplan import papers references.bib

\b
Exit status: 0 if all records were imported, 3 if some records couldn't be imported, 2 if PATH can't be read.
""",
)
@name_argument
@click.argument("path", metavar="PATH")
@db_option
@click.option(
    "--map",
    "mapped",
    metavar="FIELD=COLUMN",
    multiple=True,
    help="Read FIELD from the column named COLUMN. Repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Import into memory instead of the store, and print the report.")
@json_option
@reports_errors
def command(name: str, path: str, db: str | None, *, mapped: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Import PATH, a file or folder, into the system NAME.

    Invalid records are reported with their file and line. All other records are imported.
    """
    from keyplan.cli.designs import find
    from keyplan.cli.show import progress

    result = find(name)
    system = result.system_with("importer", name)
    source = _source(system, path)
    options: Any = {"columns": _columns(system, mapped)} if mapped else {}
    place = MEMORY if dry_run else db
    with result.open(place) as design, progress("Loading") as bar:
        report = system.load(design, source, bar, **options)
    _echo_report(report, None if dry_run else result.db(db), as_json=as_json)
    if report.errors:
        raise click.exceptions.Exit(SOME_LEFT_OUT)


def _source(system: System, given: str) -> Path:
    """The file or folder. Raises RequestError if it doesn't exist, or if the system can't import it."""
    from pathlib import Path

    from keyplan.errors import RequestError

    path = Path(given).expanduser()
    hint = f"{system.name} imports {system.input}"
    if not os.path.exists(path):  # noqa: PTH110 - Path raises an error for names that are too long
        raise RequestError(f"file or folder not found: {given}", hint=hint)
    kind = "folder" if path.is_dir() else "file"
    if kind not in system.takes:
        raise RequestError(f"{given} is a {kind}, which {system.name} can't import", hint=hint)
    return path


def _columns(system: System, mapped: tuple[str, ...]) -> dict[str, str]:
    from keyplan.errors import RequestError

    if not system.maps_columns:
        raise RequestError(f"{system.name} doesn't support --map", hint="omit --map")
    parts = [text.partition("=") for text in mapped]
    for text, (field, _, column) in zip(mapped, parts, strict=True):
        if not field.strip() or not column.strip():
            raise RequestError(f"--map {text} is invalid", hint="write FIELD=COLUMN, such as --map name=Title")
    return {field.strip(): column.strip() for field, _, column in parts}


def _echo_report(report: LoadReport, db: str | None, *, as_json: bool) -> None:
    """Print the report. ``db`` is None for a dry run."""
    if as_json:
        faults = [
            {name: value for name in ("place", "message", "hint") if (value := getattr(error, name))}
            for error in report.errors
        ]
        shown = {"loaded": report.loaded, "counts": dict(report.counts), "errors": faults}
        echo_json({**shown, "more_faults": report.more_faults, "written": db is not None})
        return
    for fault in report.errors:
        click.echo(printable(str(fault)), err=True)
    left = ""
    if report.errors:
        left = f"; {len(report.errors):,} error{'s' * (len(report.errors) > 1)}, listed above"
    if report.more_faults:
        left += f", and {report.more_faults:,} more"
    for what, count in report.counts.most_common():
        click.echo(f"  {count:,} {printable(what)}")
    done = f"Would import {report.loaded}" if db is None else f"Imported {report.loaded} into {db}"
    click.echo(f"{done}{left}.")
