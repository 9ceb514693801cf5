"""``keyplan traffic``: print a traffic file template."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import click

from keyplan.cli.options import name_argument, reports_errors


@click.command(
    "traffic",
    short_help="Print a traffic file template for keyplan cost and keyplan check.",
    epilog="""\b
Examples:
  keyplan traffic cms > traffic.toml
  keyplan cost cms --traffic traffic.toml
""",
)
@name_argument
@click.option("-o", "--output", metavar="FILE", help="Write the template to FILE.  [default: standard output]")
@reports_errors
def command(name: str, output: str | None) -> None:
    """Print a traffic file template for a design. The template lists each access pattern, entity and field that
    the cost depends on, with units and assumed values. All lines are commented out: uncomment the values that you know.
    """
    from keyplan.analysis.cost.traffic_template import skeleton
    from keyplan.cli.designs import find
    from keyplan.cli.options import write_output

    write_output(skeleton(find(name).design), output)
