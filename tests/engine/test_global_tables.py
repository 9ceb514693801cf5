"""Global tables: the operations of 2017 answer as at AWS, where they are gone; one region has no replicas."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.engine import Engine
from tests.engine.support import answer, create


@pytest.mark.parametrize(
    ("operation", "request_", "error"),
    [
        ("CreateGlobalTable", {"ReplicationGroup": [{"RegionName": "eu-west-1"}]}, "ValidationException"),
        ("DescribeGlobalTable", {}, "GlobalTableNotFoundException"),
        ("DescribeGlobalTableSettings", {}, "GlobalTableNotFoundException"),
        ("UpdateGlobalTable", {"ReplicaUpdates": []}, "ValidationException"),
        ("UpdateGlobalTable", {"ReplicaUpdates": [{"Create": {"RegionName": "x"}}]}, "GlobalTableNotFoundException"),
        ("UpdateGlobalTableSettings", {}, "GlobalTableNotFoundException"),
    ],
)
def test_global_tables_of_2017_are_gone(engine: Engine, operation: str, request_: dict[str, Any], error: str) -> None:
    create(engine)
    assert answer(engine, operation, {"GlobalTableName": "orders", **request_})["error"] == error


def test_none_is_listed(engine: Engine) -> None:
    assert engine.call("ListGlobalTables", {}) == {"GlobalTables": []}


@pytest.mark.parametrize("name", ["orders", "missing"])
@pytest.mark.parametrize("operation", ["DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"])
def test_a_table_without_replicas_has_no_auto_scaling_of_them(engine: Engine, operation: str, name: str) -> None:
    create(engine)
    refused = answer(engine, operation, {"TableName": name})
    assert refused == {
        "error": "ResourceNotFoundException",
        "message": f"Global table with name: '{name}' does not exist.",
    }
