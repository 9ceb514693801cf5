"""The whole report of a design's cost, as JSON data and as Markdown.

Two designs are compared in ``differences.py``; the terminal's tables are in ``keyplan.cli.cost_tables``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from keyplan.cost.bills import EXCLUDED, Bill, Payer
from keyplan.cost.estimate import EntityEstimate, PatternEstimate
from keyplan.cost.units import Request
from keyplan.cost.words import (
    MILLION,
    bill_usd,
    called,
    million,
    number,
    size,
    table_lines,
    usd,
    without,
    written,
)

__all__ = ["pattern_json", "report_json", "report_markdown"]


# JSON


def report_json(payer: Payer, others: Sequence[Payer] = ()) -> dict[str, Any]:
    """The report as JSON data; ``others`` are the same design at other regions' prices."""
    found = payer.estimate
    average, peak = found.throughput(peak=False), found.throughput(peak=True)
    stored = found.stored_bytes()
    table_class = payer.settings.table_class
    return {
        "design": found.design,
        "table": found.table,
        "prices": {
            "region": payer.prices.region,
            "as_of": payer.prices.as_of,
            "source": payer.prices.source,
            "excluded": EXCLUDED,
        },
        "traffic": found.traffic.source,
        "patterns": [pattern_json(one, payer) for one in found.patterns],
        "targets": [
            {
                "name": target or found.table,
                "index": bool(target),
                "average": {"reads": average[target].reads, "writes": average[target].writes},
                "peak": {"reads": peak[target].reads, "writes": peak[target].writes},
                "stored_bytes": stored[target],
                "usd_month": payer.target_usd(target, table_class),
            }
            for target in found.targets
        ],
        "entities": [_entity_json(one) for one in found.entities],
        "bills": [_bill_json(one) for one in payer.bills()],
        "chosen": _bill_json(payer.chosen()),
        "idle": _bill_json(payer.idle(table_class)),
        "peak_hour_usd": payer.peak_hour_usd(table_class),
        "regions": [
            {
                "region": one.prices.region,
                "as_of": one.prices.as_of,
                "bills": [_bill_json(bill) for bill in one.bills()],
            }
            for one in others
        ],
        "failures": list(found.failures),
    }


def pattern_json(one: PatternEstimate, payer: Payer) -> dict[str, Any]:
    """One pattern's requests with their arithmetic, and what they cost."""
    table_class = payer.settings.table_class
    return {
        "id": one.id,
        "pattern": one.name,
        "kind": one.kind,
        "question": one.question,
        "requests": [_request_json(request) for request in one.requests],
        "read_units": one.read_units,
        "write_units": one.write_units,
        "amplification": one.amplification,
        "per_second": one.load.per_second,
        "peak_per_second": one.load.peak,
        "usd_million_calls": _million(payer.call_usd(one, table_class)),
        "usd_month": payer.pattern_usd(one, table_class),
        "notes": list(one.notes),
        "failure": one.failure,
    }


def _request_json(request: Request) -> dict[str, Any]:
    return {
        "operation": request.operation,
        "units": [
            {"direction": line.direction, "target": line.target or None, "units": line.units, "arithmetic": line.why}
            for line in request.lines
        ],
    }


def _entity_json(one: EntityEstimate) -> dict[str, Any]:
    return {
        "entity": one.sizes.entity,
        "count": one.count,
        "item_bytes": one.item_bytes,
        "entries": one.entries,
        "claims": list(one.claims),
        "fields": [
            {"field": field.field, "bytes": field.size_bytes, "from": field.source, "exact": field.exact}
            for field in one.sizes.fields
        ],
    }


def _bill_json(bill: Bill) -> dict[str, Any]:
    return {
        "name": bill.name,
        "usd": bill.usd,
        "known_usd": bill.known_usd,
        "missing": list(bill.missing),
        "charges": [{"what": one.what, "usd": one.usd, "arithmetic": one.why} for one in bill.charges],
    }


def _million(price: float | None) -> float | None:
    return None if price is None else price * MILLION


# Markdown


def report_markdown(payer: Payer, others: Sequence[Payer] = ()) -> str:
    """The report as Markdown, for a README."""
    return "\n".join(_markdown(payer, others)) + "\n"


def _markdown(payer: Payer, others: Sequence[Payer]) -> Iterator[str]:
    found, table_class = payer.estimate, payer.settings.table_class
    yield f"# What {found.design} costs"
    yield ""
    yield f"Prices of {payer.prices.said}. A month has 730 hours. Not estimated: {EXCLUDED}."
    yield ""
    yield from table_lines(
        ("Id", "Pattern", "A call is", "Read units", "Write units", "Calls/s", "USD a million calls", "USD a month"),
        (
            (
                one.id,
                f"`{one.name}`",
                called(one.requests) if one.failure is None else "not estimated",
                number(one.read_units) if one.read_units else "",
                written(one.units("write")),
                number(one.load.per_second),
                million(payer.call_usd(one, table_class)),
                usd(payer.pattern_usd(one, table_class)),
            )
            for one in found.patterns
        ),
    )
    yield ""
    average, stored = found.throughput(peak=False), found.stored_bytes()
    yield from table_lines(
        ("Table or index", "Read units/s", "Write units/s", "Stored", "USD a month on demand"),
        (
            (
                f"`{target or found.table}`",
                number(average[target].reads),
                number(average[target].writes),
                size(stored[target]),
                usd(payer.target_usd(target, table_class)),
            )
            for target in found.targets
        ),
    )
    yield ""
    yield from table_lines(
        ("Paid", *(f"USD a month in {one.prices.region}" for one in (payer, *others))), _bill_rows((payer, *others))
    )
    for one in (payer, *others):
        text = without(one)
        if text:
            yield ""
            yield f"{text}."
    if found.failures:
        yield ""
        yield "Not estimated:"
        yield ""
        yield from (f"- {one}" for one in found.failures)


def _bill_rows(payers: Sequence[Payer]) -> Iterator[tuple[str, ...]]:
    bills = [{bill.name: bill for bill in (*one.bills(), one.idle(one.settings.table_class))} for one in payers]
    for name in dict.fromkeys(name for one in bills for name in one):
        yield (name, *(bill_usd(one.get(name)) for one in bills))
