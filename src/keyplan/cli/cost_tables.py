"""Print the tables of ``keyplan cost`` in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from keyplan.analysis.cost.bills import EXCLUDED, Payer, break_even, storage_break_even
from keyplan.analysis.cost.cost_wording import bill_usd, called, million, number, size, spread, usd, without, written
from keyplan.analysis.cost.estimate import EntityEstimate, Estimate, PatternEstimate
from keyplan.cli.options import printable

REQUESTS_MAX = 12
WIDE = 100
"""Minimum terminal width, in columns, to show the operations of a call."""
WIDE_WITH_RATES = 112
"""Minimum terminal width, in columns, to also show the three columns of rates and monthly cost."""


def show_cost(out: Console, payer: Payer, others: Sequence[Payer]) -> None:
    """Print the cost report. ``others`` has the costs of the same design in other regions."""
    estimate = payer.estimate
    if estimate.doc:
        out.print(estimate.doc, markup=False)
    source = estimate.traffic.source or "none; set rates, counts and sizes with --traffic FILE"
    out.print(Text(f"on-demand prices: {payer.prices.said} · traffic: {source}", style="dim"))
    out.print()
    _show_patterns(out, payer)
    _show_targets(out, payer)
    if estimate.traffic.known or any(entity.count for entity in estimate.entities):
        _show_bills(out, payer, others)
        out.print()
    _show_sizes(out, estimate)
    for failure in estimate.failures:
        out.print(Text.assemble(("not estimated: ", "bold red"), printable(failure)))
    out.print(Text(f"not estimated: {EXCLUDED}", style="dim"))


def _table(title: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
        title=title,
        title_justify="left",
        title_style="bold",
    )


def _show_patterns(out: Console, payer: Payer) -> None:
    estimate = payer.estimate
    known = estimate.traffic.known
    table = _table("Units per call, by access pattern")
    table.add_column("Id", no_wrap=True)
    wide = out.width >= (WIDE_WITH_RATES if known else WIDE)
    table.add_column("Pattern", overflow="fold", min_width=12)
    if wide:
        table.add_column("Operations", overflow="fold", min_width=19)
    table.add_column("Read", justify="right", no_wrap=True)
    table.add_column("Write", overflow="fold", max_width=20)
    table.add_column("$/million", justify="right", no_wrap=True)
    if known:
        for column in ("Calls/s", "Peak/s", "$/month"):
            table.add_column(column, justify="right", no_wrap=True)
    for pattern in estimate.patterns:
        row: list[Text | str] = [Text(pattern.id, style="cyan" if pattern.kind == "read" else "yellow"), pattern.name]
        if wide:
            row.append(called(pattern.requests))
        row += [
            ("~" if pattern.notes else "") + number(pattern.read_units) if pattern.read_units else "",
            written(pattern.units("write")) + spread(pattern)
            if pattern.failure is None
            else Text("not estimated", style="red"),
            million(payer.call_usd(pattern)),
        ]
        if known:
            rates = (pattern.load.per_second, pattern.load.peak_per_second)
            row += [*map(number, rates), usd(payer.pattern_usd(pattern))]
        table.add_row(*row)
    out.print(table)
    if any(pattern.notes for pattern in estimate.patterns):
        out.print(Text("~ based on assumptions, which --explain PATTERN shows", style="dim"))
        out.print()


def _show_targets(out: Console, payer: Payer) -> None:
    estimate = payer.estimate
    average, peak, stored = estimate.throughput(peak=False), estimate.throughput(peak=True), estimate.stored_bytes()
    if not any(stored.values()) and not estimate.traffic.known:
        return
    table = _table("Table and indexes")
    table.add_column("", overflow="fold")
    for column in ("Read units/s", "at peak", "Write units/s", "at peak", "Stored", "$/month"):
        table.add_column(column, justify="right", no_wrap=True)
    for target in estimate.targets:
        table.add_row(
            target or estimate.table,
            number(average[target].reads),
            number(peak[target].reads),
            number(average[target].writes),
            number(peak[target].writes),
            size(stored[target]),
            usd(payer.target_usd(target)),
        )
    out.print(table)


def _show_bills(out: Console, payer: Payer, others: Sequence[Payer]) -> None:
    payers = (payer, *others)
    bills = [element.by_name() for element in payers]
    table = _table("Monthly cost")
    table.add_column("")
    for element in payers:
        table.add_column(element.prices.region, justify="right", no_wrap=True)
    cheapest = min((bill.usd for bill in payer.bills() if bill.usd is not None), default=None)
    for name in dict.fromkeys(name for bill in bills for name in bill):
        style = "bold green" if name in bills[0] and bills[0][name].usd == cheapest and name != "idle" else ""
        table.add_row(Text(name, style=style), *(Text(bill_usd(bill.get(name)), style=style) for bill in bills))
    out.print(table)
    hour = payer.peak_hour_usd()
    if hour is not None:
        out.print(Text(f"One hour with every access pattern at its peak rate costs {usd(hour)} in on-demand mode."))
    use, share = break_even(payer.prices), storage_break_even(payer.prices)
    if use is not None and share is not None:
        cheaper = f"Provisioned mode is cheaper than on-demand mode if more than {use:.0%} of the capacity is used"
        out.print(Text(f"{cheaper}. Standard-IA is cheaper if storage costs more than {share:.0%} of request costs."))
    for element in payers:
        text = without(element)
        if text:
            out.print(Text(f"… {text}", style="dim"))


def _show_sizes(out: Console, estimate: Estimate) -> None:
    table = _table("Typical items")
    table.add_column("Entity")
    for column in ("Items", "Item", "Index entries"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("Assumed lengths", overflow="fold")
    for entity in estimate.entities:
        entries = sum(entity.entries.values())
        table.add_row(
            entity.sizes.entity,
            number(entity.count),
            f"{entity.item_bytes:,} B",
            f"{len(entity.entries)} × {entries // len(entity.entries):,} B" if entries else "none",
            Text(_open(entity), style="dim"),
        )
    out.print(table)


def _open(estimate: EntityEstimate) -> str:
    by_source: dict[str, list[str]] = {}
    for field in estimate.sizes.open_fields:
        by_source.setdefault(field.source, []).append(f"{field.field} {field.size_bytes:,}")
    return "; ".join(f"{source}: {', '.join(fields)}" for source, fields in by_source.items())


def show_pattern(out: Console, payer: Payer, estimate: PatternEstimate) -> None:
    out.print(Text.assemble((estimate.id, "cyan" if estimate.kind == "read" else "yellow"), f"  {estimate.signature}"))
    if estimate.failure is not None:
        out.print(Text.assemble(("not estimated: ", "bold red"), printable(estimate.failure)))
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for request in estimate.requests[:REQUESTS_MAX]:
        for position, line in enumerate(request.lines):
            grid.add_row(
                Text(request.operation if position == 0 else "", style="bold"),
                line.target or payer.estimate.table,
                f"{number(line.units)} {line.direction}",
                Text(line.why, style="dim"),
            )
    out.print()
    out.print(grid)
    rest = len(estimate.requests) - REQUESTS_MAX
    if rest > 0:
        out.print(Text(f"and {rest} more request{'' if rest == 1 else 's'} (--json shows all)", style="dim"))
    out.print()
    out.print(
        f"Per call: {number(estimate.read_units)} read and {number(estimate.write_units)} write units{spread(estimate)}"
    )
    call = payer.call_usd(estimate)
    if call is not None:
        out.print(f"Per million calls: {million(call)}, in {payer.prices.said}.")
    if estimate.load.per_second is not None:
        a_month = usd(payer.pattern_usd(estimate))
        out.print(f"Per month at {number(estimate.load.per_second)} calls per second: {a_month}.")
        for charge in payer.pattern_charges(estimate):
            out.print(Text(f"  {charge.what}: {charge.why} = {usd(charge.usd)}", style="dim"))
    for note in estimate.notes:
        out.print(Text.assemble(("assumed: ", "bold"), printable(note)))
