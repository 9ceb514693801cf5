"""``keyplan cost``: print the cost of a design, or the difference in cost between two designs."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import echo_json, json_option, reports_errors

if TYPE_CHECKING:
    from keyplan.analysis.cost.bills import Payer
    from keyplan.analysis.cost.pricelist import PriceList
    from keyplan.analysis.traffic.traffic_file import Traffic
    from keyplan.session.design import Design


DEFAULT_REGION = "us-east-1"


@click.command(
    "cost",
    short_help="Estimate the cost of a design per access pattern and per index.",
    epilog="""\b
Examples:
  keyplan cost cms
  keyplan cost cms --traffic traffic.toml
  keyplan cost cms --traffic traffic.toml --explain publish
  keyplan cost designs.py:Shop --region us-east-1 --region ap-northeast-1
  keyplan cost before.py:Shop after.py:Shop --traffic traffic.toml --markdown
""",
)
@click.argument("name", metavar="NAME")
@click.argument("other", metavar="[OTHER]", required=False)
@click.option(
    "--traffic",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Traffic file (TOML or JSON) with rates, counts and sizes.  [default: no rates, so no monthly costs]",
)
@click.option(
    "--region", "regions", metavar="REGION", multiple=True,
    help="Use the prices of this region (repeatable).  [default: the traffic file's region, or us-east-1]",
)  # fmt: skip
@click.option(
    "--prices", metavar="FILE", type=click.Path(path_type=Path), multiple=True,
    help="Price list file of one region, created by python -m keyplan.analysis.cost.update_prices (repeatable).",
)  # fmt: skip
@click.option("--explain", metavar="PATTERN", help="Show how the cost of one access pattern is calculated.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@json_option
@reports_errors
def command(
    name: str,
    other: str | None,
    traffic: Path | None,
    regions: tuple[str, ...],
    prices: tuple[Path, ...],
    explain: str | None,
    *,
    markdown: bool,
    as_json: bool,
) -> None:
    """Estimate the read and write units of each access pattern of a design, and the monthly cost in USD.

    With OTHER, a changed version of the design, print the difference in cost as Markdown for a pull request.
    """
    from keyplan.analysis.cost import cost_report
    from keyplan.cli.cost_tables import show_cost, show_pattern
    from keyplan.cli.show import console

    if other is not None and (explain is not None or len(regions) > 1):
        raise click.UsageError("OTHER can't be combined with --explain or with several --region options")
    if explain is not None and markdown:
        raise click.UsageError("--explain doesn't support --markdown")
    payers = _payers([name] if other is None else [name, other], traffic, regions, prices, explain)
    first, *others = payers[0]
    if other is not None:
        new = payers[1][0]
        if as_json:
            echo_json(cost_report.difference_json(first, new), indent=2)
        else:
            click.echo(cost_report.difference_markdown(first, new), nl=False)
    elif explain is not None:
        pattern = next(estimate for estimate in first.estimate.patterns if explain in {estimate.name, estimate.id})
        if as_json:
            echo_json(cost_report.pattern_json(pattern, first), indent=2)
        else:
            show_pattern(console(), first, pattern)
    elif as_json:
        echo_json(cost_report.report_json(first, others), indent=2)
    elif markdown:
        click.echo(cost_report.report_markdown(first, others), nl=False)
    else:
        show_cost(console(), first, others)


# Read the arguments, and report all errors together


def _payers(
    names: Sequence[str], traffic: Path | None, regions: Sequence[str], files: Sequence[Path], pattern: str | None
) -> list[list[Payer]]:
    from keyplan.analysis.cost.bills import Payer
    from keyplan.analysis.cost.estimate import estimate
    from keyplan.analysis.cost.pricelist import price_list, read_price_list
    from keyplan.analysis.traffic.traffic_file import TableSettings
    from keyplan.cli.designs import find, find_apart
    from keyplan.cli.options import Collector

    collector = Collector("the cost can't be estimated")
    load = find_apart if names[1:] else find
    found = [collector.step(partial(load, name)) for name in names]
    designs = [each.design for each in found if each is not None]
    own = {each.region: each for each in (collector.step(partial(read_price_list, path)) for path in files) if each}
    loads: list[Traffic] = []
    if len(designs) == len(names):
        loads = collector.step(partial(_traffics, designs, traffic)) or []
        if pattern is not None:
            known = designs[0].compiled
            if all(each.id != pattern for each in known.patterns.values()):
                collector.step(partial(known.pattern, pattern))  # raises UnknownPattern
    settings = loads[0].table if loads else TableSettings()
    wanted = regions or ([settings.region] if settings.region is not None else list(own) or [DEFAULT_REGION])

    def prices_of(region: str) -> PriceList:
        return own[region] if region in own else price_list(region)

    lists = [collector.step(partial(prices_of, region)) for region in dict.fromkeys(wanted)]
    replicas = [collector.step(partial(prices_of, region)) for region in settings.replicas]
    collector.raise_all()
    elsewhere = list(filter(None, replicas))
    return [
        [Payer(each, prices, elsewhere) for prices in filter(None, lists)] for each in map(estimate, designs, loads)
    ]


def _traffics(designs: Sequence[type[Design]], traffic: Path | None) -> list[Traffic]:
    """The traffic of each design. Two versions of a design share one traffic file. Raises TrafficError."""
    from keyplan.analysis.traffic.traffic_file import read_traffic, traffic_of

    if traffic is None:
        return [traffic_of(design.compiled) for design in designs]
    return [
        read_traffic(traffic, design.compiled, *(other.compiled for other in designs if other is not design))
        for design in designs
    ]
