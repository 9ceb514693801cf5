"""``keyplan check``: a design reviewed by rules. What it finds is made in ``keyplan.check``; here it is shown."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import json_option, tells_errors

if TYPE_CHECKING:
    from types import ModuleType

    from rich.console import Console

    from keyplan.check.findings import Finding, Report
    from keyplan.design.traffic.files import Traffic
    from keyplan.opening import Design

__all__ = ["command"]

FOUND = 1
_STYLES = {"error": "bold white on red", "warning": "bold black on yellow", "info": "bold black on cyan"}
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "check",
    short_help="Review a design: keys, indexes, patterns, cost.",
    epilog="""\b
Examples:
  keyplan check blog
  keyplan check designs.py:Shop --traffic traffic.toml
  keyplan check designs.py --write-baseline keyplan-baseline.json
  keyplan check designs.py --baseline keyplan-baseline.json --format github
  keyplan check designs.py --format sarif > keyplan.sarif
""",
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--traffic",
    type=_FILE,
    metavar="FILE",
    help="TOML or JSON: rates, sizes, the table's settings.  [see docs/traffic.md]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    help="How findings are reported.  [default: text]",
)
@click.option("--baseline", type=_FILE, metavar="FILE", help="Only findings that this file doesn't have count.")
@click.option("--write-baseline", type=_FILE, metavar="FILE", help="Write the findings of today to this file.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info", "never"]),
    default="warning",
    help="The least severity that makes the exit status 1.  [default: warning]",
)
@click.option("--all", "everything", is_flag=True, help="Show silenced and known findings too.")
@json_option
@tells_errors
def command(
    names: tuple[str, ...],
    traffic: Path | None,
    form: str,
    baseline: Path | None,
    write_baseline: Path | None,
    fail_on: str,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    """Check the designs NAME by their keys, indexes, patterns and writes; with rates, by units and limits too.

    The exit status is 0 when nothing is found, 1 when something is, and 2 when a design or a file can't be read. A
    finding is left as it is with a reason: class Inbox(Design, silence={"KP201 Message.primary": "some a day"}).
    """
    from keyplan.check.baseline import compared, read_baseline
    from keyplan.check.baseline import write_baseline as written
    from keyplan.check.findings import Severity

    reports = _checked(names, traffic)
    if write_baseline is not None:
        count = written(write_baseline, reports)
        click.echo(f"{write_baseline}: {count} finding{'' if count == 1 else 's'}.", err=True)
        return
    if baseline is not None:
        known = read_baseline(baseline)
        reports = [compared(one, known) for one in reports]
    _tell(reports, "json" if as_json else form, everything=everything)
    least = None if fail_on == "never" else Severity[fail_on.upper()]
    if any(one.fails(least) for one in reports):
        raise click.exceptions.Exit(FOUND)


def _checked(names: Sequence[str], traffic: Path | None) -> list[Report]:
    """The reports of the designs that the names mean: of those that can't work too. Raises every fault at once."""
    from keyplan.check.findings import Report
    from keyplan.check.running import check
    from keyplan.cli.collector import Collector
    from keyplan.design.traffic.files import read_traffic

    collector = Collector("the designs can't be checked")
    modules: dict[type[Design], dict[str, ModuleType]] = {}
    others = modules if names[1:] else None
    found = [one for name in names for one in collector.step(partial(_found, name, others)) or ()]
    designs = [one for one in found if not isinstance(one, Report)]
    loads: dict[type[Design], Traffic | None] = dict.fromkeys(designs)
    # One file serves all of them. Beside a design that doesn't compile it isn't read: names in it may be that design's
    if traffic is not None and len(designs) == len(found):
        compiled = [one.compiled for one in designs]
        for one in designs:
            loads[one] = collector.step(partial(read_traffic, traffic, one.compiled, *compiled))
            if collector.errors:
                break
    collector.raise_all()
    reports: list[Report] = []
    for each in found:
        if isinstance(each, Report):
            reports.append(each)
            continue
        sys.modules.update(modules.get(each, {}))  # they say where classes stand
        reports.append(check(each, loads[each]))
    return reports


def _found(name: str, modules: dict[type[Design], dict[str, ModuleType]] | None) -> list[type[Design] | Report]:
    """The designs that a name means, or the report of one that can't work. ``modules`` gets what each was imported
    with; None: there are no others to keep it apart from. Raises as ``find_all`` does.
    """
    from keyplan.check.running import refused
    from keyplan.cli.designs import apart, find_all
    from keyplan.errors import DesignError

    try:
        if modules is None:
            return [one.design for one in find_all(name)]
        with apart(name) as own:
            found = [one.design for one in find_all(name)]
    except DesignError as error:
        return [refused(error)]
    modules.update(dict.fromkeys(found, own))
    return list(found)


def _tell(reports: Sequence[Report], form: str, *, everything: bool) -> None:
    from keyplan.check.forms import as_github, as_json, as_sarif

    if form == "text":
        from keyplan.cli.show import console

        out = console()
        for one in reports:
            _show(out, one, everything=everything)
    elif form == "github":
        text = as_github(reports)
        if text:
            click.echo(text)
    else:
        from keyplan.plain.answers import json_text

        click.echo(json_text(as_sarif(reports) if form == "sarif" else as_json(reports), indent=2))


# For people


def _show(out: Console, report: Report, *, everything: bool) -> None:
    from rich.text import Text

    shown = list(report.findings) if everything else list(report.counted())
    about = f"{report.patterns} patterns, {report.rules} rules" if report.patterns else "it doesn't compile"
    rates = "" if report.traffic or not report.patterns else "; no rates are known, so load isn't judged (--traffic)"
    out.print(Text.assemble((report.design, "bold"), (f"  {about}{rates}", "dim")))
    for one in shown:
        out.print()
        _show_finding(out, one)
    out.print()
    out.print(_summary(report))


def _show_finding(out: Console, one: Finding) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from keyplan.check.forms import place_in_source
    from keyplan.cli.options import printable

    severity = str(one.severity)
    where = "" if one.source is None else f"  {place_in_source(one.source.file)}:{one.source.line}"
    mark = "dim" if not one.counts else _STYLES[severity]
    head = Text.assemble((f" {severity.upper()} ", mark), " ", (one.code, "bold"), " ", (one.rule, "dim"))
    head.append(f"  {one.place}", "bold")
    head.append(where, "dim")
    out.print(head, soft_wrap=True)
    out.print(Padding(Text(printable(one.message)), (0, 0, 0, 2), expand=False))
    for line in one.arithmetic:
        out.print(Padding(Text(printable(line), style="cyan"), (0, 0, 0, 4), expand=False))
    out.print(Padding(Text(printable(f"→ {one.hint}"), style="green"), (0, 0, 0, 2), expand=False))
    if one.silenced is not None:
        out.print(Padding(Text(printable(f"silenced: {one.silenced}"), style="dim"), (0, 0, 0, 2), expand=False))
    elif one.known:
        out.print(Padding(Text("known: the baseline has it", style="dim"), (0, 0, 0, 2), expand=False))


def _summary(report: Report) -> str:
    counted = list(report.counted())
    numbers = [(sum(str(one.severity) == name for one in counted), name) for name in _STYLES]
    told = ", ".join(
        f"{count} {name}{'s' if count != 1 and name != 'info' else ''}" for count, name in numbers if count
    )
    silenced = sum(one.silenced is not None for one in report.findings)
    known = sum(one.known for one in report.findings)
    more = [f"{silenced} silenced"] * bool(silenced) + [f"{known} known by the baseline"] * bool(known)
    gone = f" The baseline has {len(report.unmet)} that are no longer found." if report.unmet else ""
    hidden = f" ({', '.join(more)}: --all shows them)" if more else ""
    return f"{told or 'Nothing found'}{hidden}.{gone}"
