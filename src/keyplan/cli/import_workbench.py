"""``keyplan import-workbench``: generate a design module from a NoSQL Workbench model."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import FAILED, printable, tells_errors

if TYPE_CHECKING:
    from keyplan.errors import DesignError
    from keyplan.formats.workbench.module import MadeModule
    from keyplan.formats.workbench.reading import Model

__all__ = ["command", "working_module"]


@click.command(
    "import-workbench",
    short_help="Generate a design module from a NoSQL Workbench model.",
    epilog="""\b
Examples:
  keyplan import-workbench shop.json
  keyplan import-workbench shop.json -o shop.py
  keyplan explain shop.py

\b
Exit status: 0 the module is a design, 1 its keys can't work as the model has them, 2 the file is no model.
""",
)
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", metavar="FILE", help="Write the module to FILE.  [default: standard output]")
@tells_errors
def command(file: str, output: str | None) -> None:
    """Generate a design module from the model in FILE: indexes, entities with their keys, and the access patterns of
    each key.

    Templates are inferred from the facets and the sample items. Guesses are marked in the module and reported on
    standard error, with the sample items that the design would read or store differently.
    """
    from keyplan.cli.options import read_text, write_text
    from keyplan.formats.workbench.reading import read_model

    model = read_model(read_text(file), file)
    made, left_out, error = working_module(model)
    if output is None:
        click.echo(made.text, nl=False)
    else:
        write_text(Path(output).expanduser(), made.text)
        click.echo(f"Wrote {output}: {', '.join(made.designs)}.")
    for note in (*made.notes, *left_out):
        click.echo(printable(note), err=True)
    if error is not None:
        click.echo(f"{click.style('Error:', fg='red', bold=True)} {printable(str(error))}", err=True)
        raise click.exceptions.Exit(FAILED)


def working_module(model: Model) -> tuple[MadeModule, list[str], DesignError | None]:
    """The module without access patterns that fail to compile, those with their errors, and the error of the whole
    design if there is one.
    """
    from keyplan.errors import DesignError
    from keyplan.formats.workbench.module import made_module

    omitted: dict[str, str] = {}
    merged: set[frozenset[str]] = set()
    while True:
        made = made_module(model, without=omitted, merged=merged)
        reasons = [f"no access pattern {place}: {omitted[place]}" for place in made.left_out]
        try:
            module = _run(made)
        except DesignError as error:
            places = {detail.place: detail.message for detail in error.errors}
            reads = {place: text for place, text in places.items() if place.partition(".")[0] in made.designs}
            same = {
                frozenset({place.partition(".")[0], match[1]})
                for place, text in places.items()
                if (match := re.match(r"its key can be the same as (\w+)\.", text)) is not None
            }
            if not (same - merged or reads.keys() - omitted.keys()):
                return made, reasons, error
            merged |= same
            omitted |= {} if same else reads
        else:
            return made, [*reasons, *_sample_faults(made, module)], None


def _sample_faults(made: MadeModule, module: ModuleType) -> Iterator[str]:
    """The sample items that the designs can't read, or would store differently."""
    from keyplan.formats.workbench.samples import sample_faults

    for name, samples in made.samples.items():
        yield from sample_faults(getattr(module, name).compiled, samples)


def _run(made: MadeModule) -> ModuleType:
    """Run the module, which compiles its designs. All texts of the model are literals in it."""
    module = ModuleType("keyplan_workbench_model")
    sys.modules[module.__name__] = module  # annotations are resolved there
    try:
        exec(compile(made.text, "<the module>", "exec"), vars(module))  # noqa: S102 - the module is ours
    finally:
        del sys.modules[module.__name__]
    return module
