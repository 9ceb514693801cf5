"""The cost model's smaller steps beside plain accounts of them: prices as they are written, blocks, pages, averages."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from keyplan.analysis.cost.cost_difference import Difference
from keyplan.analysis.cost.hot_partitions import busiest_share, saturating_rate, shards_for
from keyplan.analysis.cost.pricelist import METERS, read_price_list
from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.read_ranges import ExpectedRange, Found
from keyplan.analysis.cost.simulated_reads import requests_of
from keyplan.analysis.cost.unit_counts import Line, Request, mixed, total_units
from keyplan.analysis.cost.write_costs import estimate_write
from keyplan.analysis.traffic.traffic_file import traffic_of
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.errors import PriceError
from keyplan.model.compiled.plans import ReadPattern
from tests.cli.clinic import Clinic


@pytest.mark.parametrize("written", ["0", "0.000000125", "12", 0.5, "-0.1", "abc", "", "NaN", "Infinity", None, [1]])
def test_a_price_is_a_number(written: Any, tmp_path: Path) -> None:
    meter = next(iter(METERS))
    path = tmp_path / "prices.json"
    given = {"region": "us-east-1", "as_of": "2026-01-01", "source": "here", "usd": {meter: written}}
    path.write_text(json.dumps(given))
    if written in ("0", "0.000000125", "12", 0.5):
        assert read_price_list(path).usd == {meter: float(written)}
        return
    with pytest.raises(PriceError) as caught:
        read_price_list(path)
    assert [(fault.place, fault.message) for fault in caught.value.errors] == [
        (f"usd.{meter}", f"{written!r} is no price"),
        ("usd", "it has no prices"),
    ]


def test_partitions() -> None:
    assert [shards_for(rate) for rate in (0, 1, 700, 701, 1400, 1401, 20_000)] == [1, 1, 1, 2, 2, 3, 29]
    assert [shards_for(rate, limit=3000, headroom=1) for rate in (3000, 3001)] == [1, 2]
    assert busiest_share(1, 1) == 1
    assert busiest_share(1, 3) == pytest.approx(6 / 11)
    assert (saturating_rate(0.25), saturating_rate(0.25, limit=3000)) == (4000, 12_000)


# Pages


# Several calls as one


def drawn(chance: Random) -> list[Request]:
    return [
        Request(
            chance.choice(("Query", "PutItem")),
            tuple(
                Line(chance.choice(("read", "write")), chance.choice(("", "GSI1")), units, f"{units} of them")
                for units in (chance.choice((0.5, 1.0, 2.0)) for _ in range(chance.randint(1, 4)))
            ),
        )
        for _ in range(chance.randint(0, 3))
    ]


@pytest.mark.parametrize("seed", range(40))
def test_an_average_call_takes_what_calls_take_on_average(seed: int) -> None:
    chance = Random(seed)
    calls = [(chance.choice((0.25, 1.0, 3.0)), drawn(chance)) for _ in range(chance.randint(1, 4))]
    total = sum(weight for weight, _ in calls)
    made = mixed(calls)
    for direction in ("read", "write"):
        expected: dict[str, float] = {}
        for weight, requests in calls:
            for target, units in total_units(requests, direction).items():
                expected[target] = expected.get(target, 0) + units * weight / total
        assert total_units(made, direction) == pytest.approx(expected)
    most = {
        operation: max(sum(request.operation == operation for request in requests) for _, requests in calls)
        for operation in ("Query", "PutItem")
    }
    assert {name: sum(request.operation == name for request in made) for name in most} == most
    if len({str(requests) for _, requests in calls}) == 1:
        assert [total_units([request], "read") for request in made] == [
            total_units([request], "read") for request in calls[0][1]
        ]


# What has changed


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (None, None, True), (None, 1.0, False), (1.0, None, False), (1.0, 1.0, True), (0.0, 1e-9, True),
        (0.0, 2e-9, False), (1e6, 1e6 * (1 + 9e-10), True), (1e6, 1e6 * (1 + 2e-9), False), (0.0, None, False),
    ],
)  # fmt: skip
def test_a_difference_is_more_than_a_rounding(before: float | None, after: float | None, same: bool) -> None:
    assert Difference("read units", "x", before, after).same is same


def test_behind_the_last_page_nothing_is_asked() -> None:
    pattern = Clinic.compiled.reads["waiting"]
    assert isinstance(pattern, ReadPattern)
    nothing = Found(stretches=(ExpectedRange(), ExpectedRange()))
    assert requests_of(pattern, nothing, 10)
    assert requests_of(pattern, nothing, 10, page=2) == []


def test_shards_are_counted_to_the_millionth() -> None:
    """What is a hair over a whole number, as fractions are, is the whole number."""
    assert [shards_for(700 * (1 + more)) for more in (4e-7, 6e-7, 1e-6)] == [1, 2, 2]


def test_a_write_whose_class_is_not_known_costs_nothing_that_is_known() -> None:
    """As a design is that was compiled apart from its class."""
    traffic = traffic_of(Clinic.compiled)
    made = Facts(Typical(Clinic.compiled, traffic.entities), traffic)
    analyzer = WriteAnalyzer(Clinic.compiled, None, traffic)
    costs = [estimate_write(analyzer, pattern, made) for pattern in Clinic.compiled.writes.values()]
    assert all((cost.requests, cost.notes) == ([], ()) for cost in costs)
    assert "its class isn't given" in {cost.failure for cost in costs}
