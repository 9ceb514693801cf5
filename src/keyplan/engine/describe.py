"""The description of a table: what DescribeTable, CreateTable, UpdateTable and DeleteTable answer.

Counts are taken from the store while that is quick; those of a large table are remembered for some hours, as
the service does ("approximately every six hours").
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

from keyplan.engine.arns import arn_of, stream_arn
from keyplan.engine.storage.sqlite import Storage
from keyplan.engine.tables import Table

COUNTED_ROWS_MAX = 20_000
COUNTS_LIFETIME_S = 6 * 3600.0
_ALL_ROWS = 2**62


class Counts:
    """Item counts and sizes, in bytes, of tables and indexes."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[tuple[int, int | None], tuple[float, tuple[int, int]]] = {}

    def of(self, table: Table, index: int | None) -> tuple[int, int]:
        """The number of items and their size, of the table or one of its indexes."""
        counted = table.stored.count(index, COUNTED_ROWS_MAX)
        if counted is not None:
            return counted
        key = (table.stored.layout.id, index)
        known = self._known.get(key)
        if known is not None and time.monotonic() - known[0] < COUNTS_LIFETIME_S:
            return known[1]
        counted = table.stored.count(index, _ALL_ROWS) or (0, 0)
        self._known[key] = (time.monotonic(), counted)
        return counted

    def vectors(self, table: Table, number: int) -> int:
        """The number of items in a vector index."""
        key = (table.stored.layout.id, number)
        known = self._known.get(key)
        if known is not None and time.monotonic() - known[0] < COUNTS_LIFETIME_S:
            return known[1][0]
        count = self._storage.read(lambda reader: reader.vectors.count(*key))
        if count > COUNTED_ROWS_MAX:
            self._known[key] = (time.monotonic(), (count, 0))
        return count


def table_id(table: Table) -> str:
    """The id of a table: another one of the same name, made later, has another."""
    created = table.definition["CreationDateTime"]
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{arn_of(table.name)}#{created}"))


def describe(table: Table, counts: Counts | None, status: str = "ACTIVE") -> dict[str, Any]:
    """The ``TableDescription``; without ``counts`` (a new table) everything is empty."""
    definition = table.definition
    items, size_bytes = counts.of(table, None) if counts is not None else (0, 0)
    arn = arn_of(table.name)
    description: dict[str, Any] = {
        "AttributeDefinitions": definition["AttributeDefinitions"],
        "TableName": table.name,
        "KeySchema": definition["KeySchema"],
        "TableStatus": status,
        "CreationDateTime": definition["CreationDateTime"],
        "ProvisionedThroughput": _throughput(definition.get("ProvisionedThroughput")),
        "TableSizeBytes": size_bytes,
        "ItemCount": items,
        "TableArn": arn,
        "TableId": table_id(table),
        "DeletionProtectionEnabled": definition["DeletionProtectionEnabled"],
    }
    if definition["BillingMode"] == "PAY_PER_REQUEST":
        description["BillingModeSummary"] = {
            "BillingMode": "PAY_PER_REQUEST",
            "LastUpdateToPayPerRequestDateTime": definition.get("OnDemandSince", definition["CreationDateTime"]),
        }
    for member in ("OnDemandThroughput", "WarmThroughput"):
        if definition.get(member):
            description[member] = definition[member]
    if definition.get("StreamSpecification", {}).get("StreamEnabled"):
        description["StreamSpecification"] = definition["StreamSpecification"]
    if "Stream" in definition:
        label: str = definition["Stream"]["Label"]
        description |= {"LatestStreamLabel": label, "LatestStreamArn": stream_arn(table.name, label)}
    if definition.get("SSESpecification", {}).get("Enabled"):
        description["SSEDescription"] = {
            "Status": "ENABLED",
            "SSEType": definition["SSESpecification"].get("SSEType", "KMS"),
        }
    if definition.get("TableClass"):
        description["TableClassSummary"] = {"TableClass": definition["TableClass"]}
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        if definition.get(member):
            description[member] = [_describe_index(table, index, counts, member) for index in definition[member]]
    for member in ("GlobalTableSettingsReplicationMode", "DisassociationProtectionEnabled"):
        if definition.get(member) is not None:
            description[member] = definition[member]
    description |= _describe_replicas(table)
    if table.vector_indexes:
        description["VectorIndexes"] = [
            _describe_vectors(table, index, counts) for index in definition["VectorIndexes"]
        ]
    return description


def _describe_vectors(table: Table, index: Mapping[str, Any], counts: Counts | None) -> dict[str, Any]:
    name = index["IndexName"]
    number = next(each.number for each in table.vector_indexes if each.name == name)
    items = counts.vectors(table, number) if counts is not None else 0
    return {
        **index,
        "IndexStatus": "ACTIVE",
        "IndexSizeBytes": items * index["Dimensions"] * 4,
        "ItemCount": items,
        "IndexArn": arn_of(table.name, name),
    }


def _describe_index(table: Table, index: Mapping[str, Any], counts: Counts | None, member: str) -> dict[str, Any]:
    name = index["IndexName"]
    number = table.index_by_name[name].number
    items, size_bytes = counts.of(table, number) if counts is not None else (0, 0)
    description: dict[str, Any] = {
        "IndexName": name,
        "KeySchema": index["KeySchema"],
        "Projection": index["Projection"],
        "IndexSizeBytes": size_bytes,
        "ItemCount": items,
        "IndexArn": arn_of(table.name, name),
    }
    if member == "GlobalSecondaryIndexes":
        description["IndexStatus"] = "ACTIVE"
        description["ProvisionedThroughput"] = _throughput(index.get("ProvisionedThroughput"))
        for setting in ("OnDemandThroughput", "WarmThroughput"):
            if index.get(setting):
                description[setting] = index[setting]
    return description


def _throughput(throughput: Mapping[str, int] | None) -> dict[str, int]:
    units = throughput or {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    return {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": units["ReadCapacityUnits"],
        "WriteCapacityUnits": units["WriteCapacityUnits"],
    }


def _describe_replicas(table: Table) -> dict[str, Any]:
    """The members of a description that tell of replicas."""
    replication: dict[str, Any] | None = table.definition.get("Replication")
    if replication is None:
        return {}
    described: dict[str, Any] = {
        "GlobalTableVersion": "2019.11.21",
        "Replicas": [
            {"RegionName": region, "ReplicaStatus": "ACTIVE"}
            for region in replication["Regions"]
            if region != replication["Own"]
        ],
        "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES",
    }
    if replication.get("Strong"):
        described["MultiRegionConsistency"] = "STRONG"
    witness = replication.get("Witness")
    if witness:
        described["GlobalTableWitnesses"] = [{"RegionName": witness, "WitnessStatus": "ACTIVE"}]
    return described
