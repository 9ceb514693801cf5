"""What a changed design costs more or less: two estimates under the same traffic and prices, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from keyplan.analysis.cost.bills import Payer
from keyplan.analysis.cost.cost_report import report_json
from keyplan.analysis.cost.cost_wording import bill_usd, more, number, table_lines, usd

__all__ = ["Difference", "difference", "difference_json", "difference_markdown"]


@dataclass(frozen=True)
class Difference:
    """One pattern, table, index or billing mode in two designs; None if a design doesn't have it. In units per
    call, or USD per month.
    """

    what: str
    name: str
    before: float | None
    after: float | None

    @property
    def same(self) -> bool:
        """Whether nothing has changed."""
        if self.before is None or self.after is None:
            return self.before is self.after
        return math.isclose(self.before, self.after, rel_tol=1e-9, abs_tol=1e-9)


def difference(old: Payer, new: Payer) -> list[Difference]:
    """The differences between two designs under the same traffic and prices.

    Patterns that can't be estimated in one of them are excluded from both, and from the bills.
    """
    old, new = _comparable(old, new)
    differences: list[Difference] = []
    for what, values in (("read units", _read_units), ("write units", _write_units)):
        differences += _differences(what, values(old), values(new))
    differences += _differences("USD per month", _pattern_usd(old), _pattern_usd(new))
    differences += _differences("USD per month of", _target_usd(old), _target_usd(new))
    differences += _differences("USD per month, paid", _bill_usd(old), _bill_usd(new))
    return differences


def _failing(old: Payer, new: Payer) -> list[str]:
    """The patterns that couldn't be estimated in one of the designs."""
    patterns = (*old.estimate.patterns, *new.estimate.patterns)
    return list(dict.fromkeys(pattern.name for pattern in patterns if pattern.failure is not None))


def _comparable(old: Payer, new: Payer) -> tuple[Payer, Payer]:
    """Both without what can't be estimated in one of them: an error of a design would look like a saving."""
    failing = set(_failing(old, new))

    def kept(payer: Payer) -> Payer:
        patterns = tuple(pattern for pattern in payer.estimate.patterns if pattern.name not in failing)
        return Payer(replace(payer.estimate, patterns=patterns), payer.prices, payer.replicas)

    return (kept(old), kept(new)) if failing else (old, new)


def _differences(what: str, old: Mapping[str, float | None], new: Mapping[str, float | None]) -> Iterator[Difference]:
    for name in dict.fromkeys((*old, *new)):
        yield Difference(what, name, old.get(name), new.get(name))


def _read_units(payer: Payer) -> dict[str, float | None]:
    return {pattern.name: pattern.read_units for pattern in payer.estimate.patterns if pattern.read_units}


def _write_units(payer: Payer) -> dict[str, float | None]:
    return {pattern.name: pattern.write_units for pattern in payer.estimate.patterns if pattern.write_units}


def _pattern_usd(payer: Payer) -> dict[str, float | None]:
    table_class = payer.settings.table_class
    return {
        pattern.name: payer.pattern_usd(pattern, table_class)
        for pattern in payer.estimate.patterns
        if pattern.load.per_second is not None
    }


def _target_usd(payer: Payer) -> dict[str, float | None]:
    return {
        target or "the table": payer.target_usd(target, payer.settings.table_class) for target in payer.estimate.targets
    }


def _bill_usd(payer: Payer) -> dict[str, float | None]:
    return {bill.name: bill.usd for bill in (*payer.bills(), payer.idle(payer.settings.table_class))}


def difference_json(old: Payer, new: Payer) -> dict[str, Any]:
    """The difference, and both reports, as JSON data."""
    return {
        "before": report_json(old),
        "after": report_json(new),
        "differences": [asdict(entry) for entry in difference(old, new) if not entry.same],
        "not_compared": _failing(old, new),
    }


def difference_markdown(old: Payer, new: Payer) -> str:
    """The difference as Markdown: what has changed, with what it was."""
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
    change = f"**{bill_usd(before)} → {bill_usd(after)} per month** {_by(before.usd, after.usd)}({after.name}{failing})"
    yield f"{change}. {prices}."
    yield ""
    if not changed:
        yield "No pattern, index or bill costs anything else than before."
        yield from ("",) if failures else ()
    for title, kinds in _SECTIONS:
        of_section = [entry for entry in changed if entry.what in kinds]
        if not of_section:
            continue
        yield from table_lines(
            (title, "what", "before", "after", "change"),
            [
                (
                    f"`{entry.name}`",
                    _UNITS[entry.what],
                    _value(entry, entry.before),
                    _value(entry, entry.after),
                    _change(entry),
                )
                for entry in of_section
            ],
        )
        yield ""
    if failures:
        yield "Not estimated:"
        yield ""
        yield from (f"- {failure}" for failure in failures)


_SECTIONS = (
    ("Pattern", ("read units", "write units", "USD per month")),
    ("Table or index", ("USD per month of",)),
    ("Paid", ("USD per month, paid",)),
)
_UNITS = {
    "read units": "read units a call",
    "write units": "write units a call",
    "USD per month": "USD per month",
    "USD per month of": "USD per month on demand",
    "USD per month, paid": "USD per month",
}


def _value(entry: Difference, value: float | None) -> str:
    if value is None:
        return "–"
    return usd(value) if entry.what.startswith("USD") else number(value)


def _change(entry: Difference) -> str:
    if entry.before is None:
        return "new"
    return "gone" if entry.after is None else more(entry.before, entry.after)


def _by(before: float | None, after: float | None) -> str:
    text = more(before, after)
    return f"{text} " if text else ""
