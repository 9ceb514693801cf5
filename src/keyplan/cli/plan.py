"""``keyplan plan``: keys and indexes derived from a design's questions."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keyplan.cli.options import echo_json, json_option, name_argument, printable, tells_errors

if TYPE_CHECKING:
    from keyplan.planner import Plan, PlannedKey
    from keyplan.planner.mirrors import Mirror

__all__ = ["command"]


@click.command(
    "plan",
    short_help="Derive keys and indexes from access patterns.",
    epilog="""\b
Examples:
  keyplan plan designs.py:Shop
  keyplan plan designs.py:Shop --traffic traffic.toml --write
  keyplan plan shop --anew --json
""",
)
@name_argument
@click.option(
    "--traffic", metavar="FILE", type=click.Path(), help="Traffic file (TOML or JSON) with rates, used to weight costs."
)
@click.option("--anew", is_flag=True, help="Ignore existing keys.")
@click.option("--attributes", is_flag=True, help="Use multi-attribute index keys instead of concatenated strings.")
@click.option("--write", is_flag=True, help="Write the best plan's declarations into the module, and show the diff.")
@json_option
@tells_errors
def command(name: str, traffic: str | None, *, anew: bool, attributes: bool, write: bool, as_json: bool) -> None:
    """Derive keys for the access patterns of a design: few indexes, verified by compiling, with estimated costs.

    Entities need no keys: mark the fields that identify an item with Id (`order_id: Id[str]`). Existing keys are kept,
    and missing keys are added. If no key is missing, the command shows which indexes you can remove.
    """
    from keyplan.cli.designs import find
    from keyplan.cli.files import write_text
    from keyplan.cli.progress import progress
    from keyplan.model.deferral import deferred
    from keyplan.planner import comparison, plan, spare_indexes
    from keyplan.planner.module import rewritten

    with deferred():
        design = find(name).design
    with progress("Planning") as report:
        wanted = {"anew": anew, "attributes": attributes}
        plans = plan(design, _traffic(traffic, design), **wanted, progress=lambda _, done, whole: report(done, whole))
    plans, words, stopped = _verified(plans)
    best = plans[0]
    changed = rewritten(best) if write and not stopped else None
    spare = [] if anew or _new_keys(best) else spare_indexes(design)
    if as_json:
        echo_json({**comparison(plans), "spare_indexes": spare})
    else:
        _show(plans, spare)
    for line in words:
        click.echo(printable(line), err=True)
    if changed is not None:
        write_text(changed.path, changed.after)
        if not as_json:
            click.echo(printable(changed.diff) or f"{changed.path.name} says so already.")
    if stopped:
        raise click.Abort


def _verified(plans: list[Plan]) -> tuple[list[Plan], list[str], bool]:
    """The plans that give right answers on generated stores; what is to be said besides; and whether Ctrl-C ended it,
    now or before. Raises DesignError where no plan is left.
    """
    from keyplan.cli.progress import progress
    from keyplan.errors import DesignError, ErrorDetail

    if plans[0].stopped:
        return plans, ["Stopped: this is the best so far, and isn't verified. Nothing is written."], True
    try:
        from keyplan.testing.plan_verification import verified
    except ImportError as error:
        return plans, [f"Not verified: that needs {error.name}: pip install 'keyplan[testing]'"], False
    with progress("Verifying") as report:
        outcome = verified(plans, progress=report)
    if not outcome.plans:
        faults = [ErrorDetail(f"plan {number}", text) for number, (_, text) in enumerate(outcome.refused, 1)]
        raise DesignError(
            "every plan that was found gives a wrong answer on generated items",
            place=plans[0].design.__name__,
            errors=faults,
            hint="what the design does with these values, its computed fields and serializers say why",
        )
    words = [f"A plan is left out, since it gives a wrong answer:\n{text}" for _, text in outcome.refused]
    if outcome.stopped:
        words.append("Stopped: not every plan is verified. Nothing is written.")
    return outcome.plans, words, outcome.stopped


def _traffic(path: str | None, design: Any) -> Any:
    """The traffic file. It names entities and patterns; without keys there is no compiled design to check them by."""
    if path is None:
        return None
    from keyplan.analysis.traffic.traffic_file import read_traffic
    from keyplan.planner.planning import provisional_design

    return read_traffic(Path(path), provisional_design(design))


def _new_keys(plan: Plan) -> bool:
    return any(key.new for key in plan.keys)


def _show(plans: list[Plan], spare: list[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from keyplan.cli.show import console

    out = console()
    best = plans[0]
    out.print(f"[bold]{escape(best.design.__name__)}[/bold]: {escape(best.summary)}")
    out.print()
    keys = Table("key", "stands in", "partition key", "sort key", "", box=None, pad_edge=False)
    for key in best.keys:
        partition, sort = (", ".join(part) for part in key.templates)
        mark = "[green]+[/green] " if key.new else "  "
        row = (key.where, partition, sort, _with_word(key))
        keys.add_row(mark + escape(key.place), *map(escape, row))
    out.print(keys)
    for index in best.indexes:
        if index.projection != "ALL":
            held = (
                "the keys alone" if isinstance(index.projection, str) else f"the keys and {', '.join(index.projection)}"
            )
            out.print(f"{escape(index.name)} holds {escape(held)}: no question asks more of it, and that is cheaper.")
    out.print()
    questions = Table("question", "is", "by", "since", box=None, pad_edge=False)
    for answer in best.answers:
        questions.add_row(*map(escape, (answer.question, answer.operation, answer.key, answer.proof)))
    out.print(questions)
    if best.verified is not None:
        out.print(f"Verified on {best.verified.stores} generated stores of {best.verified.items} items.")
        if best.verified.unanswered:
            names = ", ".join(best.verified.unanswered)
            out.print(f"[yellow]note[/yellow] {escape(names)}: never answered there, so nothing is proved of it")
    for note in best.notes:
        out.print(f"[yellow]note[/yellow] {escape(note)}")
    for number, other in enumerate(plans[1:], 2):
        mark = "" if other.best else ", and never better than plan 1"
        out.print(f"Plan {number}: {escape(other.summary)}: {escape(other.why)}{mark}")
        out.print(f"  {escape(other.differs_from(best) or best.differs_from(other) + ' left out')}")
        for mirror in other.mirrors:
            out.print(escape("".join(f"  {line}\n" for line in _words_of(mirror))), end="")
    for name in spare:
        out.print(f"{escape(name)} could go: every question is answered without it, in the same order.")


def _words_of(mirror: Mirror) -> list[str]:
    """What is to be added for a mirror item: its entity, what gives it, what the writes do."""
    return [
        *mirror.code.splitlines(),
        *(() if mirror.members else [f"# each write of {mirror.of.__name__} writes it too"]),
    ]


def _with_word(key: PlannedKey) -> str:
    """What a key serves, and what is said of it besides its templates."""
    return key.sentence + (f"; spread over {key.shards} shards" if key.shards > 1 else "")
