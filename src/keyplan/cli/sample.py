"""``keyplan sample``: write a system's sample data."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import click

from keyplan.cli.options import db_option, name_argument, reports_errors


@click.command(
    "sample",
    short_help="Write a system's sample data.",
    epilog="""\b
Examples:
  keyplan sample cms
  keyplan sample cms --count 50 --db try.db
""",
)
@name_argument
@click.option(
    "--count",
    "--posts",
    "count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of items of the system's main entity (blog: posts; shop: orders).  [default: depends on the system]",
)
@db_option
@reports_errors
def command(name: str, count: int | None, db: str | None) -> None:
    """Write the sample data of the system NAME. The same options write the same data, with dates relative to now."""
    from keyplan.cli.designs import find
    from keyplan.cli.show import progress

    result = find(name)
    system = result.system_with("sample data", name)
    with result.open(db) as design, progress("Sampling") as report:
        written = system.sample(design, count or system.sample_count, report)
    click.echo(f"Wrote {written} sample items to {result.db(db)}.")
