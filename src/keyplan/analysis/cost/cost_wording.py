"""Units, USD, bytes and requests as short strings for reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from keyplan.analysis.cost.bills import Bill, Payer
from keyplan.analysis.cost.estimate import PatternEstimate
from keyplan.analysis.cost.unit_counts import TABLE, Request

MILLION = 1_000_000
NAME_MAX = 8
"""The maximum length of an index name in a table cell."""


def usd(price: float | None) -> str:
    """Format a price to the cent; below one cent, with one significant digit."""
    if price is None:
        return "–"
    sign = "-" if price < 0 else ""
    if 0 < abs(price) < 0.01:
        return f"{sign}${abs(price):.1g}" if abs(price) >= 0.0001 else f"{sign}<$0.0001"
    return f"{sign}${abs(price):,.2f}"


def bill_usd(bill: Bill | None) -> str:
    if bill is None:
        return "–"
    if bill.usd is not None:
        return usd(bill.usd)
    return f"{usd(bill.known_usd)} + …" if bill.known_usd else "–"


def without(payer: Payer) -> str | None:
    """A sentence that lists the prices missing from the bills; None if no price is missing."""
    price_lists = [price_list for price_list in (payer.prices, *payer.replicas) if not price_list.usd]
    result = [price_list.source for price_list in price_lists]
    missing = list(dict.fromkeys(what for bill in payer.bills() for what in bill.missing))
    if missing and len(price_lists) < 1 + len(payer.replicas):
        lists = " or ".join(price_list.region for price_list in (payer.prices, *payer.replicas) if price_list.usd)
        result.append(f"The price list of {lists} has no price for {listed(missing)}")
    return ". ".join(result) or None


def million(price: float | None) -> str:
    """The price of a million calls, from the price of one call; below $10, with up to four decimals."""
    if price is None:
        return "–"
    whole, _, cents = f"{price * MILLION:,.{2 if price * MILLION >= 10 else 4}f}".partition(".")
    return f"${whole}.{cents[:2]}{cents[2:].rstrip('0')}"


def number(value: float | None) -> str:
    """Format units or a rate: as an integer if possible, otherwise with a decimal or three significant digits."""
    if value is None:
        return "–"
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3g}"


def size(size_bytes: float) -> str:
    for unit, bytes_ in (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024)):
        if size_bytes >= bytes_:
            return f"{size_bytes / bytes_:,.1f} {unit}"
    return f"{size_bytes:,.0f} B"


def called(requests: Iterable[Request]) -> str:
    """The number of requests of a call by operation, such as ``4 × Query, BatchGetItem``."""
    counts: dict[str, int] = {}
    for request in requests:
        counts[request.operation] = counts.get(request.operation, 0) + 1
    return ", ".join(f"{count} × {name}" if count > 1 else name for name, count in counts.items()) or "none"


def written(units: dict[str, float]) -> str:
    """The write units on the table and its indexes, such as ``12`` or ``14 + 6 on 3 indexes``."""
    table = units.get(TABLE, 0.0)
    indexes = {name: value for name, value in units.items() if name != TABLE}
    if not indexes:
        return number(table) if table else ""
    name = next(iter(indexes))
    where = f"{len(indexes)} indexes" if len(indexes) > 1 else name if len(name) <= NAME_MAX else "1 index"
    return f"{number(table)} + {number(sum(indexes.values()))} on {where}"


def spread(pattern: PatternEstimate) -> str:
    """The lowest and the highest write units of the branches of a write, such as `` (6–14)`` or `` (6 or more)``."""
    least, most = pattern.span("write")
    if pattern.incomplete:
        return f" ({number(least)} or more)"
    return "" if least == most else f" ({number(least)}–{number(most)})"


def listed(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def more(before: float | None, after: float | None) -> str:
    """The change from ``before`` to ``after`` in percent; empty if a number is unknown or unchanged."""
    if before is None or after is None or before == after:
        return ""
    if not before:
        return "new"
    return f"{(after - before) / before:+.0%}"


def table_lines(head: Sequence[str], body: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---' for _ in head)}|"
    for row in body:
        escaped = (cell.replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(escaped)} |"
