"""``keyplan import-workbench``: generate a design module from a NoSQL Workbench model."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import click

from keyplan.cli.options import FAILED, printable, reports_errors


@click.command(
    "import-workbench",
    short_help="Generate a design module from a NoSQL Workbench model.",
    epilog="""\b
Examples:
  keyplan import-workbench shop.json
  keyplan import-workbench shop.json -o shop.py
  keyplan explain shop.py

\b
Exit status: 0 if the module's design is valid, 1 if the design has errors, 2 if FILE isn't a NoSQL Workbench model.
""",
)
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", metavar="FILE", help="Write the module to FILE.  [default: standard output]")
@reports_errors
def command(file: str, output: str | None) -> None:
    """Generate a design module from the NoSQL Workbench model in FILE, with indexes, entities, their keys, and the
    access patterns of each key.

    Key templates are inferred from the model's facets and sample items. Guesses are marked in the module,
    and standard error lists the guesses and the sample items that the design can't read or would store differently.
    """
    from keyplan.cli.options import echo_error, read_text, write_output
    from keyplan.formats.workbench.module import working_module
    from keyplan.formats.workbench.reading import read_model

    model = read_model(read_text(file), file)
    made, left_out, error = working_module(model)
    write_output(made.text, output, f": {', '.join(made.designs)}")
    for note in (*made.notes, *left_out):
        click.echo(printable(note), err=True)
    if error is not None:
        echo_error(error)
        raise click.exceptions.Exit(FAILED)
