"""Whole estimates of the tests' designs under traffic drawn at random, at made-up prices, as they were agreed upon:
each request with its arithmetic, what is stored, every bill with its charges, what was assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from keyplan import Design
from keyplan.cost.bills import Payer
from keyplan.cost.estimate import estimate
from keyplan.cost.pricelist import METERS, PriceList, Reserved
from keyplan.cost.report import report_json, report_markdown
from keyplan.design.compiled.model import CompiledDesign
from keyplan.design.compiled.plans import ReadPattern
from keyplan.design.traffic.files import traffic_from
from keyplan.errors import TrafficError
from tests.agreed import assert_agreed
from tests.rehearsal.test_writes import DESIGNS as ALL

DESIGNS = {
    name: design
    for name, design in ALL.items()
    if name not in {"trips", "things", "renamed", "callers", "joiners", "never", "attempts"}
    and all(entity.ttl is None for entity in design.compiled.entities.values())
}
"""Those whose estimates don't depend on the moment: what expires holds a number that does, and trips begin in time."""
HERE = PriceList(
    "us-east-1", "2026-01-01", "made up", {meter: (place + 3) / 1e6 for place, meter in enumerate(METERS)},
    {"1yr": Reserved(100, 0.02, 200, 0.05), "3yr": Reserved(150, 0.01, 300, 0.02)},
)  # fmt: skip
THERE = PriceList(
    "eu-west-1", "2026-02-01", "made up", {meter: (place + 5) / 1e6 for place, meter in enumerate([*METERS][:-3])}
)


@pytest.mark.parametrize("name", DESIGNS)
def test_an_estimate_is_as_it_was_agreed_upon(name: str) -> None:
    design = DESIGNS[name]
    for number in range(2):
        assert_agreed(_report(design, Random(f"{name} {number}"), replicated=number == 1))


def _report(cls: type[Design], random: Random, *, replicated: bool) -> str:
    data = drawn(cls.compiled, random, replicated=replicated)
    while True:
        try:
            traffic = traffic_from(data, cls.compiled)
            break
        except TrafficError as error:  # two members of what was drawn contradict each other: the latter goes
            for fault in error.faults:
                _drop(data, fault.place.split("."))
    result = estimate(cls, traffic)
    payer = Payer(result, HERE, [THERE] if replicated else [])
    others = [] if replicated else [Payer(result, THERE)]
    return "\n".join([*_said(data), *_lines(report_json(payer, others)), report_markdown(payer, others)])


def _drop(data: Any, place: list[str]) -> None:
    *outer, last = place
    for name in outer:
        data = data[name]
    del data[last]


def _said(data: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """The traffic as a file has it, a table a line."""
    own = {name: value for name, value in data.items() if not isinstance(value, dict) or place.count(".") == 1}
    if own:
        yield f"[{place}] {own}"
    for name, value in data.items():
        if name not in own:
            yield from _said(value, f"{place}.{name}" if place else name)


def drawn(design: CompiledDesign, random: Random, *, replicated: bool) -> dict[str, Any]:
    """Traffic that says some of what can be said."""

    def some(choices: Mapping[str, Any]) -> dict[str, Any]:
        return {name: random.choice(values) for name, values in choices.items() if random.random() < 0.4}

    table = some(
        {
            "table_class": ["standard-infrequent-access"],
            "billing": ["on-demand", "provisioned"],
            "point_in_time_recovery": [True, False],
            "stream": ["NEW_IMAGE", "KEYS_ONLY"],
        }
    )
    if replicated:
        table |= {"region": "us-east-1", "replicas": ["eu-west-1"]}
    patterns: dict[str, Any] = {}
    for name, pattern in design.patterns.items():
        patterns[name] = some({"per_second": [0, 0.5, 30, 4000], "item_bytes": [300, 5000], "items": [0, 1, 7, 2500]})
        if isinstance(pattern, ReadPattern):
            patterns[name] |= some({"kept": [0.25, 0.01]})
        else:
            patterns[name] |= some({"fails": [0.1, 0]})
            patterns[name].pop("item_bytes", None)
        if patterns[name].get("per_second"):
            patterns[name] |= some({"peak_per_second": [5000, 9000.5]})
    entities: dict[str, Any] = {}
    for entity in design.entities.values():
        entities[entity.name] = some(
            {
                "count": [0, 12, 3_000_000, 1e10],
                "item_bytes": [700, 20_000],
                "per_partition": [1, 40],
                "kept_days": [30],
            }
        )
    return {"table": table, "patterns": patterns, "entities": entities}


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    """The report as JSON data has it, a request and a charge a line."""
    for pattern in report["patterns"]:
        plain = {
            name: value for name, value in pattern.items() if name not in {"question", "requests", "pattern", "id"}
        }
        yield f"{pattern['id']} {pattern['pattern']} {_short(plain)}"
        for request in pattern["requests"]:
            yield f"  {request['operation']}"
            yield from (f"    {' | '.join(str(value) for value in unit.values())}" for unit in request["units"])
    yield from (f"{_short(target)}" for target in report["targets"])
    for entity in report["entities"]:
        yield f"{_short({name: value for name, value in entity.items() if name != 'fields'})}"
        fields = [f"{field['field']} {field['bytes']} {field['from']}" for field in entity["fields"]]
        yield f"  {', '.join(fields)}"
    bills = [*report["bills"], report["idle"], *(bill for region in report["regions"] for bill in region["bills"])]
    for bill in bills:
        yield f"{bill['name']}: {bill['usd']} {bill['known_usd']} {bill['missing']}"
        yield from (f"  {charge['what']}: {charge['usd']} = {charge['arithmetic']}" for charge in bill["charges"])
    yield f"chosen {report['chosen']['name']}, in the busiest hour {report['peak_hour_usd']}"
    yield from report["failures"]


def _short(values: Mapping[str, Any]) -> dict[str, Any]:
    """What says something."""
    return {name: value for name, value in values.items() if value not in (None, [], {})}
