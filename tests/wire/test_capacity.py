"""Capacity units are calculated by the rules of the Amazon DynamoDB Developer Guide."""

from __future__ import annotations

import pytest

from keyplan.dynamodb.capacity import Consumed, entry_units, read_units, write_units


@pytest.mark.parametrize(
    ("size", "eventual", "consistent", "transactional"),
    [(0, 0.5, 1, 2), (1, 0.5, 1, 2), (4096, 0.5, 1, 2), (4097, 1, 2, 4), (409_600, 50, 100, 200)],
)
def test_read_units_depend_on_size(size: int, eventual: float, consistent: float, transactional: float) -> None:
    assert read_units(size) == eventual
    assert read_units(size, consistent=True) == consistent
    assert read_units(size, transactional=True) == transactional


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (1024, 1), (1025, 2), (409_600, 400)])
def test_write_units_depend_on_item_size_and_transactions(size: int, units: float) -> None:
    assert write_units(size) == entry_units(size) == units
    assert write_units(size, transactional=True) == 2 * units


def test_the_response_contains_the_consumed_capacity_that_is_requested() -> None:
    consumed = Consumed("orders", "Write")
    consumed.table_units = 2.0
    consumed.add_index("ByG", 1.0, is_local=False)
    consumed.add_index("ByG", 1.0, is_local=False)
    consumed.add_index("ByL", 1.0, is_local=True)
    assert consumed.as_json("TOTAL") == {"TableName": "orders", "CapacityUnits": 5.0}
    assert consumed.as_json("INDEXES") == {
        "TableName": "orders",
        "CapacityUnits": 5.0,
        "Table": {"CapacityUnits": 2.0},
        "GlobalSecondaryIndexes": {"ByG": {"CapacityUnits": 2.0}},
        "LocalSecondaryIndexes": {"ByL": {"CapacityUnits": 1.0}},
    }
    assert consumed.as_json("TOTAL", by_direction=True) == {
        "TableName": "orders",
        "CapacityUnits": 5.0,
        "WriteCapacityUnits": 5.0,
    }
