"""``keyplan plan``: derive keys and indexes from a design's access patterns."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import echo_json, json_option, name_argument, printable, reports_errors

if TYPE_CHECKING:
    from keyplan.planner import Plan


@click.command(
    "plan",
    short_help="Derive keys and indexes from access patterns.",
    epilog="""\b
Examples:
  keyplan plan designs.py:Shop
  keyplan plan designs.py:Shop --traffic traffic.toml --write
  keyplan plan shop --ignore-existing --json
""",
)
@name_argument
@click.option(
    "--traffic", metavar="FILE", type=click.Path(), help="Traffic file (TOML or JSON) with call rates to weight costs."
)
@click.option("--ignore-existing", is_flag=True, help="Ignore the design's existing keys, and derive all keys.")
@click.option("--attributes", is_flag=True, help="Use multi-attribute index keys instead of concatenated strings.")
@click.option("--write", is_flag=True, help="Write the best plan's keys and indexes to the module, and show the diff.")
@json_option
@reports_errors
def command(
    name: str, traffic: str | None, *, ignore_existing: bool, attributes: bool, write: bool, as_json: bool
) -> None:
    """Derive keys for the access patterns of the design NAME, with as few indexes as possible. Each plan is
    compiled, verified on generated items, and priced.

    Entities don't need keys: mark the fields that identify an item with Id[...], such as Id[str]. Existing keys are
    kept, and missing keys are added. If no key is missing, the command lists indexes that no access pattern needs.
    """
    from keyplan.analysis.traffic.traffic_file import read_traffic
    from keyplan.cli.designs import find
    from keyplan.cli.options import write_text
    from keyplan.cli.show import progress
    from keyplan.model.deferral import deferred
    from keyplan.planner import comparison, plan, provisional_design, rewritten, spare_indexes

    with deferred():
        design = find(name).design
    with progress("Planning") as report:
        wanted = {"ignore_existing": ignore_existing, "attributes": attributes}
        loads = None if traffic is None else read_traffic(Path(traffic), provisional_design(design))
        plans = plan(design, loads, **wanted, progress=lambda _, done, whole: report(done, whole))
    plans, words, stopped = _verified(plans)
    best = plans[0]
    changed = rewritten(best) if write and not stopped else None
    spare = [] if ignore_existing or any(key.new for key in best.keys) else spare_indexes(design)
    if as_json:
        echo_json({**comparison(plans), "spare_indexes": spare})
    else:
        _show(plans, spare)
    for line in words:
        click.echo(printable(line), err=True)
    if changed is not None:
        write_text(changed.path, changed.after)
        if not as_json:
            click.echo(printable(changed.diff) or f"{changed.path.name} already has the best plan's keys and indexes.")
    if stopped:
        raise click.Abort


def _verified(plans: list[Plan]) -> tuple[list[Plan], list[str], bool]:
    """The verified plans, messages for the user, and whether Ctrl-C stopped the verification. Raises DesignError."""
    from keyplan.cli.show import progress

    if plans[0].stopped:
        return plans, ["Stopped: the best plan so far is shown, and isn't verified. No file is written."], True
    try:
        from keyplan.testing.verifying import verified
    except ImportError as error:
        return plans, [f"The plans can't be verified without {error.name}: pip install 'keyplan[testing]'"], False
    with progress("Verifying") as report:
        outcome = verified(plans, progress=report)
    words = [f"A plan is omitted because it returns wrong results:\n{text}" for _, text in outcome.refused]
    if outcome.stopped:
        words.append("Stopped: some plans aren't verified. No file is written.")
    return outcome.plans, words, outcome.stopped


def _show(plans: list[Plan], spare: list[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from keyplan.cli.show import console

    out = console()
    best = plans[0]
    out.print(f"[bold]{escape(best.design.__name__)}[/bold]: {escape(best.summary)}")
    out.print()
    keys = Table("key", "in", "partition key", "sort key", "", box=None, pad_edge=False)
    for key in best.keys:
        partition, sort = (", ".join(part) for part in key.templates)
        mark = "[green]+[/green] " if key.new else "  "
        shards = f"; spread over {key.shards} shards" if key.shards > 1 else ""
        row = (key.where, partition, sort, f"{key.sentence}{shards}")
        keys.add_row(mark + escape(key.place), *map(escape, row))
    out.print(keys)
    for index in best.indexes:
        if index.projection != "ALL":
            included = () if isinstance(index.projection, str) else index.projection
            held = f"the keys and {', '.join(included)}" if included else "only the keys"
            out.print(f"The index {escape(index.name)} projects {escape(held)}: its reads need no other attributes.")
    out.print()
    patterns = Table("access pattern", "operation", "key", "why it works", box=None, pad_edge=False)
    for answer in best.answers:
        patterns.add_row(*map(escape, (answer.pattern, answer.operation, answer.key, answer.proof)))
    out.print(patterns)
    if best.verified is not None:
        out.print(f"Verified on {best.verified.stores} generated stores with {best.verified.items} items in total.")
        if best.verified.unanswered:
            names = ", ".join(best.verified.unanswered)
            out.print(f"[yellow]note[/yellow] {escape(names)}: not verified, because no results were found")
    for limit in best.limits:
        out.print(f"[yellow]limit[/yellow] {escape(limit)}: fewer indexes may be possible")
    for note in best.notes:
        out.print(f"[yellow]note[/yellow] {escape(note)}")
    for number, other in enumerate(plans[1:], 2):
        mark = "" if other.best else ", and never better than plan 1"
        out.print(f"Plan {number}: {escape(other.summary)}: {escape(other.why)}{mark}")
        out.print(f"  {escape(other.differs_from(best) or 'without ' + best.differs_from(other))}")
    for name in spare:
        out.print(f"The index {escape(name)} isn't needed: without it, all results and their order are the same.")
