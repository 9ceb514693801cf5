"""``keyplan plan``: keys and indexes derived from a design's questions."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keyplan.cli.options import json_option, name_argument, printable, tells_errors

if TYPE_CHECKING:
    from keyplan.planner import Plan

__all__ = ["command"]


@click.command(
    "plan",
    short_help="Derive keys and indexes from a design's questions.",
    epilog="""\b
Examples:
  keyplan plan designs.py:Shop
  keyplan plan designs.py:Shop --traffic traffic.toml --write
  keyplan plan shop --anew --json
""",
)
@name_argument
@click.option("--traffic", metavar="FILE", type=click.Path(), help="How often patterns are called; prices weigh by it.")
@click.option("--anew", is_flag=True, help="Leave the keys that the design has out of account.")
@click.option("--write", is_flag=True, help="Put the best plan's declarations into the module, and show the change.")
@json_option
@tells_errors
def command(name: str, traffic: str | None, *, anew: bool, write: bool, as_json: bool) -> None:
    """Find keys for the questions of the design NAME: in the fewest indexes, proved by compiling them, and priced.

    Entities need no keys: mark the fields that identify an item (`order_id: Id[str]`). Keys that are there stay as they
    are, and what is missing is put beside them; without missing ones the command says which index could go.
    """
    from keyplan.cli.designs import find
    from keyplan.cli.progress import progress
    from keyplan.design.deferral import deferred
    from keyplan.planner import plan, spare_indexes
    from keyplan.planner.module import rewritten

    with deferred():
        design = find(name).design
    with progress("Planning") as report:
        found = plan(design, _traffic(traffic, design), anew=anew, progress=lambda _, done, whole: report(done, whole))
    best = found[0]
    changed = rewritten(best) if write else None
    spare = [] if anew or _new_keys(best) else spare_indexes(design)
    if as_json:
        from keyplan.plain.answers import json_text

        click.echo(json_text({"plans": [one.as_json() for one in found], "spare_indexes": spare}))
    else:
        _show(found, spare)
    if changed is not None:
        changed.path.write_text(changed.after, encoding="utf-8")
        if not as_json:
            click.echo(printable(changed.diff) or f"{changed.path.name} says so already.")


def _traffic(path: str | None, design: Any) -> Any:
    """The traffic file. It names entities and patterns; without keys there is no compiled design to check them by."""
    if path is None:
        return None
    from keyplan.design.traffic.files import read_traffic
    from keyplan.planner.planning import provisional_design

    return read_traffic(Path(path), provisional_design(design))


def _new_keys(plan: Plan) -> bool:
    return any(one.new for one in plan.keys)


def _show(found: list[Plan], spare: list[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from keyplan.cli.show import console

    out = console()
    best = found[0]
    out.print(f"[bold]{escape(best.design.__name__)}[/bold]: {_summary(best)}")
    out.print()
    keys = Table("key", "stands in", "partition key", "sort key", "answers", box=None, pad_edge=False)
    for one in best.keys:
        partition, sort = (", ".join(part) for part in one.templates)
        answers = ", ".join(place.rpartition(".")[2] for place in one.serves)
        mark = "[green]+[/green] " if one.new else "  "
        keys.add_row(mark + escape(one.place), escape(one.where), escape(partition), escape(sort), escape(answers))
    out.print(keys)
    out.print()
    questions = Table("question", "is", "by", box=None, pad_edge=False)
    for name, operation, key in best.answers:
        questions.add_row(escape(name), operation, escape(key))
    out.print(questions)
    for note in best.notes:
        out.print(f"[yellow]note[/yellow] {escape(note)}")
    for other in found[1:]:
        out.print(
            f"Another plan: {_summary(other)}{f'; {escape(other.differs_from(best))}' if other is not best else ''}"
        )
    for index in spare:
        out.print(f"{escape(index)} could go: every question is answered without it, in the same order.")


def _summary(plan: Plan) -> str:
    count = len(plan.indexes)
    indexes = f"{count} index{'es' if count != 1 else ''}" if count else "no index"
    usd = "" if plan.usd_per_million is None else f", ${plan.usd_per_million:,.2f} for a million calls"
    return f"{indexes}{usd}"
