"""Reads of random designs return the same results as a brute-force filter; ``check`` and ``cost`` accept all designs.
Normal runs test 20 fixed designs, nightly runs 100; ``make designs`` tests thousands of new designs.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from keyplan.analysis.check import check
from keyplan.analysis.cost.estimate import estimate
from keyplan.testing import verify
from tests.designs.running import Run
from tests.designs.settled import Settled, settled
from tests.designs.source import source_of
from tests.seeds import examples

FIRST = int(os.environ.get("KEYPLAN_SEED", "0"))
COUNT = int(os.environ.get("KEYPLAN_DESIGNS", examples(20, 100)))
TOGETHER = 10
STORES = 2

numbers = pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, TOGETHER))


def designs(first: int) -> list[Settled]:
    return [settled(number) for number in range(first, min(first + TOGETHER, FIRST + COUNT))]


def names_of(design: Settled) -> list[str]:
    return [*(spec.name for spec in design.spec.reads), *(spec.name for spec in design.spec.writes)]


@numbers
def test_reads_of_random_designs_match_the_brute_force_results(first: int) -> None:
    """Each read runs on random stores, and is compared with a filter over all items."""
    for design in designs(first):
        for number in range(STORES):
            with design.cls.open(":memory:") as store:
                Run(design, store, Random(f"{design.spec.number}/{number}")).go()


@numbers
def test_check_and_cost_accept_every_random_design(first: int) -> None:
    for design in designs(first):
        report = check(design.cls)
        broken = [finding for finding in report.findings if finding.code == "KP100"]
        assert not broken, f"{broken}\n{source_of(design.spec)}"
        result = estimate(design.cls)
        assert {pattern.name for pattern in result.patterns} == {*names_of(design)}


@numbers
def test_verify_finds_no_difference_in_random_designs(first: int) -> None:
    """A read that has no results in any store isn't a failure."""
    for design in designs(first)[:: max(1, TOGETHER // 3)]:
        try:
            verify(design.cls, stores=8, seed=design.spec.number)
        except AssertionError as error:
            if "returned no result" not in str(error):
                raise AssertionError(f"{error}\n{source_of(design.spec)}") from error


def test_most_reads_of_random_designs_return_items() -> None:
    """The comparison would be useless for reads that never find an item."""
    asked = answered = 0
    for number in range(20):
        design = settled(number)
        with design.cls.open(":memory:") as store:
            run = Run(design, store, Random(number))
            run.go()
            asked += len(design.spec.reads)
            answered += sum(1 for spec in design.spec.reads if run.counts[spec.name])
    assert answered > asked * 0.6, (answered, asked)
