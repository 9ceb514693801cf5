"""For random designs, the predicted requests of writes (CRUD methods and patterns) equal the metered requests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.write_costs import estimate_write
from keyplan.analysis.traffic.traffic_file import traffic_of
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.errors import DesignError
from tests.cost.test_prediction import called, check, stored
from tests.designs.designs import design_of
from tests.designs.source import module_of
from tests.seeds import seed

DESIGNS = 16
STORES = 5
FIRST = seed(0) % 1_000_000
"""Other designs in a nightly run; the test's name has the number."""


def compiled(number: int) -> Any:
    """A random design without the access patterns that the compiler rejects."""
    spec = design_of(number)
    for _ in range(8):
        try:
            return vars(module_of(spec))[f"D{number}"]
        except DesignError as error:
            refused = {fault.place.rpartition(".")[2] for fault in error.errors}
            kept = [read_spec for read_spec in spec.reads if read_spec.name not in refused]
            spec = replace(spec, reads=type(spec.reads)(kept))
    raise AssertionError(f"design {number} is refused")


@pytest.mark.parametrize("number", range(FIRST, FIRST + DESIGNS))
def test_the_predicted_cost_of_a_random_design_equals_the_metered_cost(number: int) -> None:
    cls = compiled(number)
    compared = check(cls, STORES)
    assert sum(compared.values()) > 0 or not cls.compiled.writes
    typical = Typical(cls.compiled)
    facts, analyzer = Facts(typical, traffic_of(cls.compiled)), WriteAnalyzer(cls.compiled, cls)
    for name, pattern in cls.compiled.writes.items():
        cost = estimate_write(analyzer, pattern, facts)
        if cost.failure is not None:
            continue
        with cls.open(":memory:") as design:
            for item in stored(cls.compiled, cost.there):
                design.store.transport.call("PutItem", {"TableName": design.store.table_name, "Item": item})
            called(design, name, dict(cost.arguments), {})
