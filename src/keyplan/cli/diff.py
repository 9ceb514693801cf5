"""``keyplan diff``: print the differences between two designs, and their effect on deployed data."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import FAILED, Collector, echo_json, json_option, reports_errors

if TYPE_CHECKING:
    from rich.console import Console

    from keyplan.analysis.diff.diff_report import Difference


_SEVERITIES = ("breaking", "migration", "api", "safe")


@click.command(
    "diff",
    short_help="Compare two designs, and show the effect on deployed data.",
    epilog="""\b
Examples:
  keyplan diff old/designs.py:Shop designs.py:Shop
  keyplan diff old/designs.py:Shop designs.py:Shop --markdown > comment.md
  keyplan diff old/designs.py:Shop designs.py:Shop --fail-on migration

\b
To get the design of another commit:
  git worktree add old main

\b
Exit status: 1 if a change has at least the severity of --fail-on, 2 if a design can't be compared.
""",
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Markdown table for a pull request.")
@click.option(
    "--fail-on",
    type=click.Choice([*_SEVERITIES, "never"]),
    default="breaking",
    show_default=True,
    help="Exit with status 1 if a change has at least this severity.",
)
@json_option
@reports_errors
def command(old: str, new: str, fail_on: str, *, as_markdown: bool, as_json: bool) -> None:
    """Compare OLD, the deployed design, with NEW.

    Classify each change: it breaks deployed data, needs a migration, changes the API, or is safe. No store is opened.
    """
    from keyplan.analysis.diff.changes import Severity
    from keyplan.analysis.diff.diff_report import difference
    from keyplan.cli.designs import find_apart
    from keyplan.cli.show import console
    from keyplan.errors import RequestError

    if as_markdown and as_json:
        raise RequestError("--markdown and --json are mutually exclusive", hint="choose one")
    collector = Collector("the designs can't be compared")
    before, after = (collector.step(partial(find_apart, name)) for name in (old, new))
    collector.raise_all()
    assert before is not None  # noqa: S101 - raise_all() raises if a design is missing
    assert after is not None  # noqa: S101
    result = difference(before.design.compiled, after.design.compiled)
    if as_json:
        echo_json(result.as_json(), indent=2)
    elif as_markdown:
        click.echo(result.markdown(), nl=False)
    else:
        _show(console(), result)
    if fail_on != "never" and result.reaches(Severity(fail_on)):
        raise click.exceptions.Exit(FAILED)


def _show(out: Console, difference: Difference) -> None:
    from rich.table import Table
    from rich.text import Text

    from keyplan.analysis.diff.changes import Severity
    from keyplan.analysis.diff.diff_report import HEADINGS
    from keyplan.cli.options import printable

    colours = {
        Severity.BREAKING: "bold red",
        Severity.MIGRATION: "bold yellow",
        Severity.API: "bold cyan",
        Severity.SAFE: "bold green",
    }
    for severity, heading in HEADINGS.items():
        changes = difference.of(severity)
        if not changes:
            continue
        out.print(Text(heading[0].upper() + heading[1:], style=colours[severity]))
        grid = Table.grid(padding=(0, 2, 0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for change in changes:
            text = Text(printable(change.what))
            if change.effect:
                text.append(f"\n{printable(change.effect)}", style="dim")
            if change.action:
                text.append("\n→ ").append(printable(change.action))
            grid.add_row(Text(printable(change.place.partition(".")[2] or change.place), style="bold"), text)
        out.print(grid)
        out.print()
    before = f"{difference.old} → " if difference.old != difference.new else ""
    out.print(Text(f"{before}{difference.new}: {difference.summary}."))
