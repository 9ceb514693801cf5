"""``keyplan check``: check designs, and print the findings."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import FAILED, echo_json, json_option, reports_errors

if TYPE_CHECKING:
    from types import ModuleType

    from rich.console import Console
    from rich.padding import Padding

    from keyplan.analysis.check.findings import Finding, Report
    from keyplan.analysis.traffic.traffic_file import Traffic
    from keyplan.session.design import Design


_STYLES = {"error": "bold white on red", "warning": "bold black on yellow", "info": "bold black on cyan"}
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "check",
    short_help="Check a design's keys, indexes, access patterns and load.",
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
    help="Traffic file (TOML or JSON) with rates, sizes and table settings.  [see docs/traffic.md]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    help="Output format.  [default: text]",
)
@click.option("--baseline", type=_FILE, metavar="FILE", help="Ignore findings that --write-baseline wrote to FILE.")
@click.option("--write-baseline", type=_FILE, metavar="FILE", help="Write the current findings to FILE for --baseline.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info", "never"]),
    default="warning",
    help="Exit with status 1 if a finding has at least this severity.  [default: warning]",
)
@click.option("--all", "everything", is_flag=True, help="Also show findings that are ignored or in the baseline.")
@json_option
@reports_errors
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
    """Check the keys, indexes, access patterns and writes of designs. With --traffic, also check load and limits.

    Exit status: 1 if a finding has at least the severity of --fail-on, 2 if a design or file can't be read. To ignore a
    finding, give a reason in the design: class Inbox(Design, ignore={"KP201 Message.primary": "reason"}).
    """
    from keyplan.analysis.check.findings import Severity, compared, read_baseline
    from keyplan.analysis.check.findings import write_baseline as written

    reports = _checked(names, traffic)
    if write_baseline is not None:
        count = written(write_baseline, reports)
        click.echo(f"Wrote {count} finding{'' if count == 1 else 's'} to {write_baseline}.", err=True)
        return
    if baseline is not None:
        known = read_baseline(baseline)
        reports = [compared(report, known) for report in reports]
    _echo_reports(reports, "json" if as_json else form, everything=everything)
    least = None if fail_on == "never" else Severity[fail_on.upper()]
    if any(report.fails(least) for report in reports):
        raise click.exceptions.Exit(FAILED)


def _checked(names: Sequence[str], traffic: Path | None) -> list[Report]:
    """The reports of all named designs, including invalid ones. Raises all errors together."""
    from keyplan.analysis.check.checking import check
    from keyplan.analysis.check.findings import Report
    from keyplan.analysis.traffic.traffic_file import read_traffic
    from keyplan.cli.options import Collector

    collector = Collector("the designs can't be checked")
    modules: dict[type[Design], dict[str, ModuleType]] = {}
    others = modules if names[1:] else None
    result = [element for name in names for element in collector.step(partial(_found, name, others)) or ()]
    designs = [element for element in result if not isinstance(element, Report)]
    loads: dict[type[Design], Traffic | None] = dict.fromkeys(designs)
    # All designs share one traffic file, which isn't read if a design is invalid: it may use names of that design
    if traffic is not None and len(designs) == len(result):
        compiled = [design.compiled for design in designs]
        for design in designs:
            loads[design] = collector.step(partial(read_traffic, traffic, design.compiled, *compiled))
            if collector.errors:
                break
    collector.raise_all()
    reports: list[Report] = []
    for each in result:
        if isinstance(each, Report):
            reports.append(each)
            continue
        sys.modules.update(modules.get(each, {}))  # the reports refer to classes in these modules
        reports.append(check(each, loads[each]))
    return reports


def _found(name: str, modules: dict[type[Design], dict[str, ModuleType]] | None) -> list[type[Design] | Report]:
    """The designs of a name, or the report of an invalid one. ``modules`` receives the modules that were imported."""
    from keyplan.analysis.check.checking import refused
    from keyplan.cli.designs import apart, find_all
    from keyplan.errors import DesignError

    try:
        if modules is None:
            return [element.design for element in find_all(name)]
        with apart(name) as own:
            design_classes = [element.design for element in find_all(name)]
    except DesignError as error:
        return [refused(error)]
    modules.update(dict.fromkeys(design_classes, own))
    return list(design_classes)


def _echo_reports(reports: Sequence[Report], form: str, *, everything: bool) -> None:
    from keyplan.analysis.check.report_formats import as_github, as_json, as_sarif

    if form == "text":
        from keyplan.cli.show import console

        out = console()
        for report in reports:
            _show(out, report, everything=everything)
    elif form == "github":
        text = as_github(reports)
        if text:
            click.echo(text)
    else:
        echo_json(as_sarif(reports) if form == "sarif" else as_json(reports), indent=2)


# Text output


def _show(out: Console, report: Report, *, everything: bool) -> None:
    from rich.text import Text

    shown = list(report.findings) if everything else list(report.counted())
    about = "the design is invalid" if report.rules == 1 else f"{report.patterns} patterns, {report.rules} rules"
    rates = "" if report.traffic or not report.patterns else "; without --traffic, load isn't checked"
    out.print(Text.assemble((report.design, "bold"), (f"  {about}{rates}", "dim")))
    for finding in shown:
        out.print()
        _show_finding(out, finding)
    out.print()
    out.print(_summary(report))


def _show_finding(out: Console, finding: Finding) -> None:
    from rich.text import Text

    from keyplan.analysis.check.report_formats import place_in_source

    severity = str(finding.severity)
    where = "" if finding.source is None else f"  {place_in_source(finding.source.file)}:{finding.source.line}"
    mark = "dim" if not finding.counts else _STYLES[severity]
    head = Text.assemble((f" {severity.upper()} ", mark), " ", (finding.code, "bold"), " ", (finding.rule, "dim"))
    head.append(f"  {finding.place}", "bold")
    head.append(where, "dim")
    out.print(head, soft_wrap=True)
    out.print(_indented(finding.message))
    for line in finding.arithmetic:
        out.print(_indented(line, "cyan", 4))
    out.print(_indented(f"→ {finding.hint}", "green"))
    if finding.silenced is not None:
        out.print(_indented(f"ignored: {finding.silenced}", "dim"))
    elif finding.known:
        out.print(_indented("in the baseline", "dim"))


def _indented(text: str, style: str = "", by: int = 2) -> Padding:
    from rich.padding import Padding
    from rich.text import Text

    from keyplan.cli.options import printable

    return Padding(Text(printable(text), style=style), (0, 0, 0, by), expand=False)


def _summary(report: Report) -> str:
    counted = list(report.counted())
    numbers = [(sum(str(finding.severity) == name for finding in counted), name) for name in _STYLES]
    text = ", ".join(
        f"{count} {name}{'s' if count != 1 and name != 'info' else ''}" for count, name in numbers if count
    )
    silenced = sum(finding.silenced is not None for finding in report.findings)
    known = sum(finding.known for finding in report.findings)
    more = [f"{silenced} ignored"] * bool(silenced) + [f"{known} in the baseline"] * bool(known)
    gone = f" Baseline findings that no longer occur: {len(report.unmet)}." if report.unmet else ""
    hidden = f" ({', '.join(more)}; --all shows them)" if more else ""
    return f"{text or 'No findings'}{hidden}.{gone}"
