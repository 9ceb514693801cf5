"""Analyzes a design without its data: the explanation, price and findings of each access pattern, and the total cost.
The results are the same as those of ``keyplan explain``, ``keyplan check`` and ``keyplan cost``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

from keyplan.analysis.check.checking import check
from keyplan.analysis.check.findings import Finding
from keyplan.analysis.check.report_formats import as_json
from keyplan.analysis.check.rules import RULES
from keyplan.analysis.cost.bills import Payer
from keyplan.analysis.cost.cost_report import report_json
from keyplan.analysis.cost.estimate import Estimate, PatternEstimate, estimate
from keyplan.analysis.cost.pricelist import price_list, priced_regions
from keyplan.analysis.explain.explanation import Explanation, explain_all
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_of
from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.errors import ErrorDetail, RequestError
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.declared.pattern_load import Load
from keyplan.session.design import Design

REGION = "us-east-1"
MILLION = 1_000_000
RATE_MAX = 1_000_000.0
COUNT_MAX = 10**12
TIMES = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
"""Multiples of the call rates for which the chart shows the cost."""


def questions_json(design: type[Design], traffic: Traffic | None = None) -> dict[str, Any]:
    """Every access pattern with its request, cost and findings."""
    result = _estimate(cast("Any", design), _Held(traffic), (), ())
    payer = _payer(result, _region(traffic))
    estimates = {pattern.name: pattern for pattern in result.patterns}
    findings = [finding for finding in check(design, traffic).findings if finding.counts]
    return {
        "region": payer.prices.region,
        "traffic": any(pattern.load.per_second for pattern in result.patterns),
        "questions": [
            _question(design, explanation, estimates[explanation.pattern], payer, findings)
            for explanation in explain_all(design)
        ],
    }


def _question(
    design: type[Design], explanation: Explanation, known: PatternEstimate, payer: Payer, findings: list[Finding]
) -> dict[str, Any]:
    pattern = design.compiled.patterns[explanation.pattern]
    call = None if known.failure is not None else payer.call_usd(known)
    own = [each for each in findings if each.place.endswith(f".{explanation.pattern}")]
    return {
        **explanation.as_json(),
        "entities": [each.__name__ for each in pattern.shape.entities] if isinstance(pattern, ReadPattern) else [],
        "read_units": known.read_units,
        "write_units": known.write_units,
        "calls": len(known.requests),
        "usd_million": None if call is None else call * MILLION,
        "per_second": known.load.per_second,
        "usd_month": payer.pattern_usd(known),
        "failure": known.failure,
        "notes": list(known.notes),
        "findings": [
            {"code": each.code, "rule": each.rule, "severity": str(each.severity), "message": each.message}
            for each in own
        ],
    }


def check_json(design: type[Design], traffic: Traffic | None = None) -> dict[str, Any]:
    report = as_json([check(design, traffic)])["reports"][0]
    codes = {finding["code"] for finding in report["findings"]}
    return {
        **report,
        "manuals": {rule.code: {"title": rule.title, "manual": rule.manual} for rule in RULES if rule.code in codes},
    }


def cost_json(design: type[Design], given: Mapping[str, Any], traffic: Traffic | None = None) -> dict[str, Any]:
    """The cost for the page's rates, counts and sizes. Raises PriceError, and RequestError with all errors."""
    faults: list[ErrorDetail] = []
    rates = _numbers(given, "rates", design.compiled.patterns, RATE_MAX, faults)
    counts = _numbers(given, "counts", design.compiled.by_name, COUNT_MAX, faults)
    sizes = _numbers(given, "bytes", design.compiled.by_name, ITEM_BYTES_MAX, faults)
    region = given.get("region") or _region(traffic)
    if given.get("region") and region not in priced_regions():
        faults.append(ErrorDetail("region", "has no price list", f"use one of {', '.join(priced_regions())}"))
    if faults:
        raise RequestError("the cost of this traffic can't be estimated", errors=faults)
    held = _Held(traffic)
    result = _estimate(cast("Any", design), held, tuple(sorted(counts.items())), tuple(sorted(sizes.items())))
    patterns = tuple(
        replace(pattern, load=replace(pattern.load, per_second=rates.get(pattern.name, pattern.load.per_second)))
        for pattern in result.patterns
    )
    payer = _payer(replace(result, patterns=patterns), region)
    return {
        **report_json(payer),
        "curve": [_multiplied(payer, times) for times in TIMES],
        "regions": sorted({*priced_regions(), region}),
        "region": region,
    }


def _region(traffic: Traffic | None) -> str:
    return REGION if traffic is None or traffic.table.region is None else traffic.table.region


def _payer(result: Estimate, region: str) -> Payer:
    return Payer(result, price_list(region), [price_list(text) for text in result.traffic.table.replicas])


@dataclass(frozen=True)
class _Held:
    """A traffic file's content, hashable as a cache key."""

    traffic: Traffic | None

    def __hash__(self) -> int:
        return hash(None if self.traffic is None else self.traffic.source)


@lru_cache(maxsize=32)
def _estimate(
    design: Any, held: _Held, counts: tuple[tuple[str, float], ...], sizes: tuple[tuple[str, float], ...]
) -> Estimate:
    """Estimate calls and stored items, without rates. Cached, because large designs take a second."""
    start = held.traffic or traffic_of(design.compiled)
    given, items = dict(counts), dict(sizes)
    entities = {
        name: replace(
            stored,
            count=given.get(name, stored.count),
            item_bytes=max(int(items[name]), 1) if name in items else stored.item_bytes,
        )
        for name, stored in start.entities.items()
    }
    return estimate(design, replace(start, entities=entities))


def _multiplied(payer: Payer, times: float) -> dict[str, Any]:
    patterns = tuple(replace(pattern, load=_times(pattern.load, times)) for pattern in payer.estimate.patterns)
    other = Payer(replace(payer.estimate, patterns=patterns), payer.prices, payer.replicas)
    return {"times": times, "on_demand": other.on_demand().usd, "provisioned": other.provisioned().usd}


def _times(load: Load, times: float) -> Load:
    rates = {name: value * times for name, value in load.given.items() if name in {"per_second", "peak_per_second"}}
    return replace(load, **rates)


def _numbers(
    given: Mapping[str, Any], member: str, names: Mapping[str, Any], most: float, faults: list[ErrorDetail]
) -> dict[str, float]:
    value = given.get(member) or {}
    if not isinstance(value, dict):
        faults.append(ErrorDetail(member, "isn't a JSON object"))
        return {}
    result: dict[str, float] = {}
    for name, number in value.items():
        place = f"{member}.{name}"
        if name not in names:
            faults.append(ErrorDetail(place, "unknown name"))
        elif isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= most:
            faults.append(ErrorDetail(place, f"isn't a number from 0 to {most:,.0f}"))
        else:
            result[name] = float(number)
    return result
