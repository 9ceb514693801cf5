"""UpdateTable: each change alone, and each two of them together, on a table that is paid by request and on one that is
provisioned. What is answered is agreed upon.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from itertools import combinations
from typing import Any

import pytest

from keyplan.engine import Engine
from keyplan.errors import DynamoDBError
from tests.agreed import assert_agreed
from tests.engine.support import create, index
from tests.engine.test_states import VECTORS, X, of_index
from tests.engine.tour import START_S

UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
OTHER_UNITS = {"ReadCapacityUnits": 6, "WriteCapacityUnits": 6}
LIMITS = {"MaxReadRequestUnits": 9, "MaxWriteRequestUnits": 9}
WARM = {"ReadUnitsPerSecond": 15_000, "WriteUnitsPerSecond": 5_000}
OFF = {"StreamEnabled": False}
ON = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
CHANGES: dict[str, dict[str, Any]] = {
    "by request": {"BillingMode": "PAY_PER_REQUEST"},
    "provisioned": {"BillingMode": "PROVISIONED"},
    "units": {"ProvisionedThroughput": UNITS},
    "other units": {"ProvisionedThroughput": OTHER_UNITS},
    "many units": {"ProvisionedThroughput": {"ReadCapacityUnits": 6, "WriteCapacityUnits": 400_000}},
    "a limit": {"OnDemandThroughput": LIMITS},
    "no limit": {"OnDemandThroughput": {"MaxReadRequestUnits": -1}},
    "a limit of 0": {"OnDemandThroughput": {"MaxReadRequestUnits": 0}},
    "warm": {"WarmThroughput": WARM},
    "less warm": {"WarmThroughput": {"ReadUnitsPerSecond": 1, "WriteUnitsPerSecond": 1}},
    "a stream": {"StreamSpecification": ON},
    "no stream": {"StreamSpecification": OFF},
    "infrequent": {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
    "standard": {"TableClass": "STANDARD"},
    "protected": {"DeletionProtectionEnabled": True},
    "unprotected": {"DeletionProtectionEnabled": False},
    "encrypted": {"SSESpecification": {"Enabled": True, "SSEType": "KMS"}},
    "not encrypted": {"SSESpecification": {"Enabled": False}},
    "attributes": dict(X),
    "index made": of_index(Create=index("ByX", "x")),
    "index made with units": of_index(Create={**index("ByX", "x"), "ProvisionedThroughput": UNITS}),
    "index gone": of_index(Delete={"IndexName": "ByG"}),
    "other index gone": of_index(Delete={"IndexName": "Other"}),
    "index units": of_index(Update={"IndexName": "ByG", "ProvisionedThroughput": UNITS}),
    "index other units": of_index(Update={"IndexName": "ByG", "ProvisionedThroughput": OTHER_UNITS}),
    "index limit": of_index(Update={"IndexName": "ByG", "OnDemandThroughput": LIMITS}),
    "index warm": of_index(Update={"IndexName": "ByG", "WarmThroughput": WARM}),
    "index nothing": of_index(Update={"IndexName": "ByG"}),
    "vectors": {"VectorIndexUpdates": [{"Create": VECTORS}]},
    "no vectors": {"VectorIndexUpdates": [{"Delete": {"IndexName": "ByV"}}]},
    "replica": {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
}
PROVISIONED: dict[str, Any] = {
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": UNITS,
    "GlobalSecondaryIndexes": [{**index("ByG", "g", "h"), "ProvisionedThroughput": UNITS}],
}
LEFT_OUT = {
    *("CreationDateTime", "TableId", "TableArn", "IndexArn", "LatestStreamArn", "LatestStreamLabel", "KeySchema"),
    *("ItemCount", "TableSizeBytes", "IndexSizeBytes", "TableName", "NumberOfDecreasesToday"),
}


class _Tables:
    """A table that is made anew when a change of it was accepted."""

    def __init__(self, **settings: Any) -> None:
        self._settings = settings
        self._open = ExitStack()
        self._anew()
        self.plain = members(self._engine.call("DescribeTable", {"TableName": "orders"})["Table"])

    def _anew(self) -> None:
        self._open.close()
        self._engine = self._open.enter_context(Engine.open(":memory:", clock=lambda: START_S))
        create(self._engine, **self._settings)

    def told(self, params: dict[str, Any]) -> str:
        """The error, or what isn't as it was."""
        try:
            table = self._engine.call("UpdateTable", {"TableName": "orders", **params})["TableDescription"]
        except DynamoDBError as error:
            return f"{error.type}: {error.message}"
        self._anew()
        now = members(table)
        gone = [f"no {line}" for line in self.plain if line not in now]
        return ", ".join([*gone, *(line for line in now if line not in self.plain)]) or "nothing changes"

    def close(self) -> None:
        self._open.close()


def members(value: Any, place: str = "") -> list[str]:
    """Each member of a description, in a line."""
    match value:
        case dict():
            name = value.get("IndexName") or value.get("AttributeName")
            place = f"{place}{name} " if name else place
            return [line for key in value if key not in LEFT_OUT for line in members(value[key], f"{place}{key} ")]
        case list():
            return [line for element in value for line in members(element, place)]
        case _:
            return [f"{place}{value}"]


@pytest.mark.parametrize("settings", [{}, PROVISIONED], ids=["by request", "provisioned"])
def test_what_becomes_of_each_two_changes(settings: dict[str, Any]) -> None:
    tables = _Tables(**settings)
    told: dict[str, list[str]] = defaultdict(list)
    for name, change in CHANGES.items():
        told[tables.told(change)].append(name)
    for (name, change), (other, beside) in combinations(CHANGES.items(), 2):
        if not change.keys() & beside.keys():
            told[tables.told({**change, **beside})].append(f"{name} + {other}")
    tables.close()
    assert_agreed("\n".join(f"{answer}\n  {', '.join(names)}" for answer, names in told.items()))
