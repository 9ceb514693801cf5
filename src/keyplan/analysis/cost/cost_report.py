"""The cost report of a design, and the cost difference of two designs, as JSON data and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from keyplan.analysis.cost import cost_wording
from keyplan.analysis.cost.bills import EXCLUDED, Bill, Payer
from keyplan.analysis.cost.estimate import EntityEstimate, PatternEstimate
from keyplan.analysis.cost.unit_counts import Request

# JSON


def report_json(payer: Payer, others: Sequence[Payer] = ()) -> dict[str, Any]:
    estimate = payer.estimate
    average, peak = estimate.throughput(peak=False), estimate.throughput(peak=True)
    stored = estimate.stored_bytes()
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
                "usd_month": payer.target_usd(target),
            }
            for target in estimate.targets
        ],
        "entities": [_entity_json(entity) for entity in estimate.entities],
        "bills": [_bill_json(bill) for bill in payer.bills()],
        "chosen": _bill_json(payer.chosen()),
        "idle": _bill_json(payer.idle()),
        "peak_hour_usd": payer.peak_hour_usd(),
        "regions": [
            {"region": each.prices.region, "as_of": each.prices.as_of, "bills": list(map(_bill_json, each.bills()))}
            for each in others
        ],
        "failures": list(estimate.failures),
    }


def pattern_json(estimate: PatternEstimate, payer: Payer) -> dict[str, Any]:
    call_usd = payer.call_usd(estimate)
    return {
        "id": estimate.id,
        "pattern": estimate.name,
        "kind": estimate.kind,
        "signature": estimate.signature,
        "requests": [_request_json(request) for request in estimate.requests],
        "read_units": estimate.read_units,
        "write_units": estimate.write_units,
        "write_units_range": list(estimate.span("write")),
        "incomplete": estimate.incomplete,
        "amplification": estimate.amplification,
        "per_second": estimate.load.per_second,
        "peak_per_second": estimate.load.peak,
        "usd_million_calls": None if call_usd is None else call_usd * cost_wording.MILLION,
        "usd_month": payer.pattern_usd(estimate),
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


# Markdown


def report_markdown(payer: Payer, others: Sequence[Payer] = ()) -> str:
    return "\n".join(_markdown(payer, others)) + "\n"


def _markdown(payer: Payer, others: Sequence[Payer]) -> Iterator[str]:
    estimate = payer.estimate
    yield f"# Cost of {estimate.design}"
    yield ""
    yield f"Prices of {payer.prices.said}. A month has 730 hours. Not estimated: {EXCLUDED}."
    yield ""
    yield from cost_wording.table_lines(
        ("Id", "Pattern", "Requests", "Read units", "Write units", "Calls/s", "USD per million calls", "USD per month"),
        (
            (
                pattern.id,
                f"`{pattern.name}`",
                cost_wording.called(pattern.requests) if pattern.failure is None else "not estimated",
                cost_wording.number(pattern.read_units) if pattern.read_units else "",
                cost_wording.written(pattern.units("write")) + cost_wording.spread(pattern),
                cost_wording.number(pattern.load.per_second),
                cost_wording.million(payer.call_usd(pattern)),
                cost_wording.usd(payer.pattern_usd(pattern)),
            )
            for pattern in estimate.patterns
        ),
    )
    yield ""
    average, stored = estimate.throughput(peak=False), estimate.stored_bytes()
    yield from cost_wording.table_lines(
        ("Table or index", "Read units/s", "Write units/s", "Stored", "USD per month on demand"),
        (
            (
                f"`{target or estimate.table}`",
                cost_wording.number(average[target].reads),
                cost_wording.number(average[target].writes),
                cost_wording.size(stored[target]),
                cost_wording.usd(payer.target_usd(target)),
            )
            for target in estimate.targets
        ),
    )
    yield ""
    yield from cost_wording.table_lines(
        ("Billing mode", *(f"USD per month in {element.prices.region}" for element in (payer, *others))),
        _bill_rows((payer, *others)),
    )
    for element in (payer, *others):
        text = cost_wording.without(element)
        if text:
            yield ""
            yield f"{text}."
    if estimate.failures:
        yield ""
        yield "Not estimated:"
        yield ""
        yield from (f"- {failure}" for failure in estimate.failures)


def _bill_rows(payers: Sequence[Payer]) -> Iterator[tuple[str, ...]]:
    bills = [payer.by_name() for payer in payers]
    for name in dict.fromkeys(name for bill in bills for name in bill):
        yield (name, *(cost_wording.bill_usd(bill.get(name)) for bill in bills))


@dataclass(frozen=True)
class Difference:
    """A cost in two designs, in units per call or USD per month. ``before`` and ``after`` can be unknown or absent."""

    what: str
    name: str
    before: float | None
    after: float | None

    @property
    def same(self) -> bool:
        if self.before is None or self.after is None:
            return self.before is self.after
        return math.isclose(self.before, self.after, rel_tol=1e-9, abs_tol=1e-9)


def difference(old: Payer, new: Payer) -> list[Difference]:
    """Compare the costs of two designs, without the patterns that can't be estimated in one of the designs."""
    before, after = map(_figures, _comparable(old, new))
    names = sorted({**before, **after}, key=lambda figure: list(_UNITS).index(figure[0]))
    return [Difference(*figure, before.get(figure), after.get(figure)) for figure in names]


def _figures(payer: Payer) -> dict[tuple[str, str], float | None]:
    patterns = payer.estimate.patterns
    result: dict[tuple[str, str], float | None] = {}
    result |= {("read units", each.name): each.read_units for each in patterns if each.read_units}
    result |= {("write units", each.name): each.write_units for each in patterns if each.write_units}
    known = [each for each in patterns if each.load.per_second is not None]
    result |= {("USD per month", each.name): payer.pattern_usd(each) for each in known}
    targets = payer.estimate.targets
    result |= {("USD per month on demand", target or "the table"): payer.target_usd(target) for target in targets}
    return result | {("USD per month of a billing mode", name): bill.usd for name, bill in payer.by_name().items()}


def _failing(old: Payer, new: Payer) -> list[str]:
    patterns = (*old.estimate.patterns, *new.estimate.patterns)
    return list(dict.fromkeys(pattern.name for pattern in patterns if pattern.failure is not None))


def _comparable(old: Payer, new: Payer) -> tuple[Payer, Payer]:
    """Both estimates without the patterns that fail in either: a pattern with an error would look like a saving."""
    failing = set(_failing(old, new))

    def kept(payer: Payer) -> Payer:
        patterns = tuple(pattern for pattern in payer.estimate.patterns if pattern.name not in failing)
        return Payer(replace(payer.estimate, patterns=patterns), payer.prices, payer.replicas)

    return (kept(old), kept(new)) if failing else (old, new)


def difference_json(old: Payer, new: Payer) -> dict[str, Any]:
    return {
        "before": report_json(old),
        "after": report_json(new),
        "differences": [asdict(entry) for entry in difference(old, new) if not entry.same],
        "not_compared": _failing(old, new),
    }


def difference_markdown(old: Payer, new: Payer) -> str:
    """The changed costs as Markdown tables, each with the values before and after."""
    return "\n".join(_difference_markdown(old, new)) + "\n"


def _difference_markdown(old: Payer, new: Payer) -> Iterator[str]:
    changed = [entry for entry in difference(old, new) if not entry.same]
    failures = dict.fromkeys((*new.estimate.failures, *old.estimate.failures))
    failing = "".join(f", without `{name}`" for name in _failing(old, new))
    old, new = _comparable(old, new)
    yield f"## Cost: {old.estimate.design} → {new.estimate.design}"
    yield ""
    before, after = old.chosen(), new.chosen()
    prices = f"Prices of {new.prices.said}"
    by = f"{cost_wording.more(before.usd, after.usd)} ".lstrip()
    change = (
        f"**{cost_wording.bill_usd(before)} → {cost_wording.bill_usd(after)} per month** {by}({after.name}{failing})"
    )
    yield f"{change}. {prices}."
    yield ""
    if not changed:
        yield "The cost of each pattern, index and billing mode is unchanged."
        yield from ("",) if failures else ()
    for title, kinds in _SECTIONS:
        of_section = [entry for entry in changed if entry.what in kinds]
        if not of_section:
            continue
        yield from cost_wording.table_lines(
            (title, "what", "before", "after", "change"),
            ((f"`{each.name}`", _UNITS[each.what], *_values(each), _change(each)) for each in of_section),
        )
        yield ""
    if failures:
        yield "Not estimated:"
        yield ""
        yield from (f"- {failure}" for failure in failures)


_SECTIONS = (
    ("Pattern", ("read units", "write units", "USD per month")),
    ("Table or index", ("USD per month on demand",)),
    ("Billing mode", ("USD per month of a billing mode",)),
)
_UNITS = {
    "read units": "read units per call",
    "write units": "write units per call",
    "USD per month": "USD per month",
    "USD per month on demand": "USD per month on demand",
    "USD per month of a billing mode": "USD per month",
}


def _values(entry: Difference) -> Iterator[str]:
    shown = cost_wording.usd if entry.what.startswith("USD") else cost_wording.number
    yield from ("–" if value is None else shown(value) for value in (entry.before, entry.after))


def _change(entry: Difference) -> str:
    if entry.before is None:
        return "new"
    return "gone" if entry.after is None else cost_wording.more(entry.before, entry.after)
