"""The whole report of a design's cost, as JSON data and as Markdown.

Two designs are compared in ``differences.py``; the terminal's tables are in ``keyplan.cli.cost_tables``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from keyplan.analysis.cost.bills import EXCLUDED, Bill, Payer
from keyplan.analysis.cost.cost_wording import (
    MILLION,
    bill_usd,
    called,
    million,
    number,
    size,
    spread,
    table_lines,
    usd,
    without,
    written,
)
from keyplan.analysis.cost.estimate import EntityEstimate, PatternEstimate
from keyplan.analysis.cost.unit_counts import Request

__all__ = ["pattern_json", "report_json", "report_markdown"]


# JSON


def report_json(payer: Payer, others: Sequence[Payer] = ()) -> dict[str, Any]:
    """The report as JSON data; ``others`` are the same design at other regions' prices."""
    estimate = payer.estimate
    average, peak = estimate.throughput(peak=False), estimate.throughput(peak=True)
    stored = estimate.stored_bytes()
    table_class = payer.settings.table_class
    return {
        "design": estimate.design,
        "table": estimate.table,
        "prices": {
            "region": payer.prices.region,
            "as_of": payer.prices.as_of,
            "source": payer.prices.source,
            "excluded": EXCLUDED,
        },
        "traffic": estimate.traffic.source,
        "patterns": [pattern_json(pattern, payer) for pattern in estimate.patterns],
        "targets": [
            {
                "name": target or estimate.table,
                "index": bool(target),
                "average": {"reads": average[target].reads, "writes": average[target].writes},
                "peak": {"reads": peak[target].reads, "writes": peak[target].writes},
                "stored_bytes": stored[target],
                "usd_month": payer.target_usd(target, table_class),
            }
            for target in estimate.targets
        ],
        "entities": [_entity_json(entity) for entity in estimate.entities],
        "bills": [_bill_json(bill) for bill in payer.bills()],
        "chosen": _bill_json(payer.chosen()),
        "idle": _bill_json(payer.idle(table_class)),
        "peak_hour_usd": payer.peak_hour_usd(table_class),
        "regions": [
            {
                "region": element.prices.region,
                "as_of": element.prices.as_of,
                "bills": [_bill_json(bill) for bill in element.bills()],
            }
            for element in others
        ],
        "failures": list(estimate.failures),
    }


def pattern_json(estimate: PatternEstimate, payer: Payer) -> dict[str, Any]:
    """One pattern's requests with their arithmetic, and what they cost."""
    table_class = payer.settings.table_class
    return {
        "id": estimate.id,
        "pattern": estimate.name,
        "kind": estimate.kind,
        "question": estimate.question,
        "requests": [_request_json(request) for request in estimate.requests],
        "read_units": estimate.read_units,
        "write_units": estimate.write_units,
        "write_units_range": list(estimate.span("write")),
        "incomplete": estimate.incomplete,
        "amplification": estimate.amplification,
        "per_second": estimate.load.per_second,
        "peak_per_second": estimate.load.peak,
        "usd_million_calls": _million(payer.call_usd(estimate, table_class)),
        "usd_month": payer.pattern_usd(estimate, table_class),
        "notes": list(estimate.notes),
        "failure": estimate.failure,
    }


def _request_json(request: Request) -> dict[str, Any]:
    return {
        "operation": request.operation,
        "units": [
            {"direction": line.direction, "target": line.target or None, "units": line.units, "arithmetic": line.why}
            for line in request.lines
        ],
    }


def _entity_json(estimate: EntityEstimate) -> dict[str, Any]:
    return {
        "entity": estimate.sizes.entity,
        "count": estimate.count,
        "item_bytes": estimate.item_bytes,
        "entries": estimate.entries,
        "claims": list(estimate.claims),
        "fields": [
            {"field": field.field, "bytes": field.size_bytes, "from": field.source, "exact": field.exact}
            for field in estimate.sizes.fields
        ],
    }


def _bill_json(bill: Bill) -> dict[str, Any]:
    return {
        "name": bill.name,
        "usd": bill.usd,
        "known_usd": bill.known_usd,
        "missing": list(bill.missing),
        "charges": [{"what": charge.what, "usd": charge.usd, "arithmetic": charge.why} for charge in bill.charges],
    }


def _million(price: float | None) -> float | None:
    return None if price is None else price * MILLION


# Markdown


def report_markdown(payer: Payer, others: Sequence[Payer] = ()) -> str:
    """The report as Markdown, for a README."""
    return "\n".join(_markdown(payer, others)) + "\n"


def _markdown(payer: Payer, others: Sequence[Payer]) -> Iterator[str]:
    estimate, table_class = payer.estimate, payer.settings.table_class
    yield f"# What {estimate.design} costs"
    yield ""
    yield f"Prices of {payer.prices.said}. A month has 730 hours. Not estimated: {EXCLUDED}."
    yield ""
    yield from table_lines(
        ("Id", "Pattern", "A call is", "Read units", "Write units", "Calls/s", "USD a million calls", "USD per month"),
        (
            (
                pattern.id,
                f"`{pattern.name}`",
                called(pattern.requests) if pattern.failure is None else "not estimated",
                number(pattern.read_units) if pattern.read_units else "",
                written(pattern.units("write")) + spread(pattern),
                number(pattern.load.per_second),
                million(payer.call_usd(pattern, table_class)),
                usd(payer.pattern_usd(pattern, table_class)),
            )
            for pattern in estimate.patterns
        ),
    )
    yield ""
    average, stored = estimate.throughput(peak=False), estimate.stored_bytes()
    yield from table_lines(
        ("Table or index", "Read units/s", "Write units/s", "StoredAs", "USD per month on demand"),
        (
            (
                f"`{target or estimate.table}`",
                number(average[target].reads),
                number(average[target].writes),
                size(stored[target]),
                usd(payer.target_usd(target, table_class)),
            )
            for target in estimate.targets
        ),
    )
    yield ""
    yield from table_lines(
        ("Paid", *(f"USD per month in {element.prices.region}" for element in (payer, *others))),
        _bill_rows((payer, *others)),
    )
    for element in (payer, *others):
        text = without(element)
        if text:
            yield ""
            yield f"{text}."
    if estimate.failures:
        yield ""
        yield "Not estimated:"
        yield ""
        yield from (f"- {failure}" for failure in estimate.failures)


def _bill_rows(payers: Sequence[Payer]) -> Iterator[tuple[str, ...]]:
    bills = [{bill.name: bill for bill in (*payer.bills(), payer.idle(payer.settings.table_class))} for payer in payers]
    for name in dict.fromkeys(name for bill in bills for name in bill):
        yield (name, *(bill_usd(bill.get(name)) for bill in bills))
