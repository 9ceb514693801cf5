"""Table descriptions, as DescribeTable, CreateTable, UpdateTable and DeleteTable return them.

Items are counted if that is fast; the counts of a large table are cached for a few hours, as in the service
("approximately every six hours").
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from keyplan.store.arns import REGION, arn_of, key_arn, stream_arn
from keyplan.store.state_delays import States, deleted_indexes
from keyplan.store.storage.sqlite import Storage
from keyplan.store.tables.table import Table
from keyplan.store.throughput import describe_throughput
from keyplan.store.work_budget import UNKNOWN_BYTES, spend

COUNTED_ROWS_MAX = 20_000
COUNTS_LIFETIME_S = 6 * 3600.0


class Counts:
    """Item counts and sizes, in bytes, of tables and indexes."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[tuple[int, int | None], tuple[float, tuple[int, int]]] = {}

    def now_s(self) -> float:
        return self._storage.clock()

    def of(self, table: Table, index: int | None) -> tuple[int, int]:
        counted = table.stored.count(index, COUNTED_ROWS_MAX + 1)
        if counted[0] <= COUNTED_ROWS_MAX:
            return counted
        return self._cached((table.stored.layout.id, index), lambda: table.stored.count(index))

    def vectors(self, table: Table, number: int) -> int:
        key = (table.stored.layout.id, number)
        return self._cached(key, lambda: (self._storage.read(lambda reader: reader.vectors.count(*key)), 0))[0]

    def _cached(self, key: tuple[int, int | None], count: Callable[[], tuple[int, int]]) -> tuple[int, int]:
        known = self._known.get(key)
        if known is not None and time.monotonic() - known[0] < COUNTS_LIFETIME_S:
            return known[1]
        spend(UNKNOWN_BYTES)
        counted = count()
        if counted[0] > COUNTED_ROWS_MAX:
            self._known[key] = (time.monotonic(), counted)
        return counted


def table_id(table: Table) -> str:
    """The id of a table, unique also among tables of the same name."""
    created = table.definition["CreationDateTime"]
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{arn_of(REGION, table.name)}#{created}")
    return str(uuid.UUID(bytes=name.bytes, version=4))  # the service uses a random ID


_SETTLED = States()


def describe(table: Table, counts: Counts | None, states: States = _SETTLED) -> dict[str, Any]:
    """The ``TableDescription`` of a table in these states; without ``counts``, the table is new and empty."""
    definition = table.definition
    items, size_bytes = counts.of(table, None) if counts is not None else (0, 0)
    now_s = counts.now_s() if counts is not None else definition["CreationDateTime"]
    description: dict[str, Any] = {
        "AttributeDefinitions": sorted(definition["AttributeDefinitions"], key=itemgetter("AttributeName")),
        "TableName": table.name,
        "KeySchema": definition["KeySchema"],
        "TableStatus": states.table,
        "CreationDateTime": definition["CreationDateTime"],
        **describe_throughput(definition, definition["BillingMode"], now_s, warming=states.warming),
        "TableSizeBytes": size_bytes,
        "ItemCount": items,
        "TableArn": table.arn(),
        "TableId": table_id(table),
        "DeletionProtectionEnabled": definition["DeletionProtectionEnabled"],
    }
    if definition["BillingMode"] == "PAY_PER_REQUEST" or "OnDemandSince" in definition:
        description["BillingModeSummary"] = {
            "BillingMode": definition["BillingMode"],
            "LastUpdateToPayPerRequestDateTime": definition.get("OnDemandSince", definition["CreationDateTime"]),
        }
    if definition.get("StreamSpecification", {}).get("StreamEnabled"):
        description["StreamSpecification"] = definition["StreamSpecification"]
    if "Stream" in definition:
        label: str = definition["Stream"]["Label"]
        description |= {"LatestStreamLabel": label, "LatestStreamArn": stream_arn(table.region, table.name, label)}
    if definition.get("SSESpecification", {}).get("Enabled"):
        description["SSEDescription"] = describe_encryption(table, "UPDATING" if states.encryption else "ENABLED")
    if definition.get("TableClass"):
        description["TableClassSummary"] = {"TableClass": definition["TableClass"]}
        if "TableClassSince" in definition:
            description["TableClassSummary"]["LastUpdateDateTime"] = definition["TableClassSince"]
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        if definition.get(member):
            description[member] = [
                _describe_index(table, index, counts, member, now_s, states) for index in definition[member]
            ]
    for index in deleted_indexes(definition, now_s):
        gone = _describe_index(table, index, None, "GlobalSecondaryIndexes", now_s, states)
        description.setdefault("GlobalSecondaryIndexes", []).append(gone)
    for member in ("GlobalTableSettingsReplicationMode", "DisassociationProtectionEnabled"):
        if definition.get(member) is not None:
            description[member] = definition[member]
    description |= _describe_replicas(table)
    if table.vector_indexes:
        description["VectorIndexes"] = [
            _describe_vectors(table, index, counts, states) for index in definition["VectorIndexes"]
        ]
    return description


def describe_new(table: Table, states: States = _SETTLED) -> dict[str, Any]:
    """The description of a new table, in which the service omits some members."""
    description, definition = describe(table, None, states), table.definition
    description.get("BillingModeSummary", {}).pop("LastUpdateToPayPerRequestDateTime", None)
    if not definition.get("WarmThroughput"):
        del description["WarmThroughput"]
    indexes = zip(
        description.get("GlobalSecondaryIndexes") or (), definition.get("GlobalSecondaryIndexes") or (), strict=True
    )
    for described, index in indexes:
        if not index.get("WarmThroughput"):
            del described["WarmThroughput"]
    return description


def _describe_vectors(table: Table, index: Mapping[str, Any], counts: Counts | None, states: States) -> dict[str, Any]:
    name = index["IndexName"]
    number = next(each.number for each in table.vector_indexes if each.name == name)
    if states.index(name).status == "CREATING":
        counts = None
    items = counts.vectors(table, number) if counts is not None else 0
    return {
        **index,
        **_index_state(states, name),
        "IndexSizeBytes": items * index["Dimensions"] * 4,
        "ItemCount": items,
        "IndexArn": table.arn(name),
    }


def _describe_index(
    table: Table, index: Mapping[str, Any], counts: Counts | None, member: str, now_s: float, states: States
) -> dict[str, Any]:
    name = index["IndexName"]
    items = size_bytes = 0
    if counts is not None and states.index(name).status != "CREATING":
        items, size_bytes = counts.of(table, table.index_by_name[name].number)
    description: dict[str, Any] = {
        "IndexName": name,
        "KeySchema": index["KeySchema"],
        "Projection": _sorted_projection(index["Projection"]),
        "IndexSizeBytes": size_bytes,
        "ItemCount": items,
        "IndexArn": table.arn(name),
    }
    if member == "GlobalSecondaryIndexes":
        description |= _index_state(states, name)
        description |= describe_throughput(index, table.definition["BillingMode"], now_s)
    return description


def _index_state(states: States, name: str) -> dict[str, Any]:
    state = states.index(name)
    if state.backfilling is None:
        return {"IndexStatus": state.status}
    return {"IndexStatus": state.status, "Backfilling": state.backfilling}


def _sorted_projection(projection: Mapping[str, Any]) -> dict[str, Any]:
    names = projection.get("NonKeyAttributes")
    return {**projection, "NonKeyAttributes": sorted(names)} if names else dict(projection)


def describe_encryption(table: Table, status: str = "ENABLED") -> dict[str, Any]:
    """The ``SSEDescription`` of a table with encryption enabled. The key is named, but nothing is encrypted."""
    wanted = table.definition["SSESpecification"]
    key: str = wanted.get("KMSMasterKeyId") or "alias/aws/dynamodb"
    if key.startswith("arn:"):
        arn = key
    else:
        # An alias gets a key ID computed from its name; a key ID is used unchanged.
        number = str(uuid.uuid5(uuid.NAMESPACE_URL, key)) if key.startswith("alias/") else key
        arn = key_arn(table.region, number)
    return {"Status": status, "SSEType": wanted.get("SSEType") or "KMS", "KMSMasterKeyArn": arn}


def encrypts_by_same_key(table: Table, request: Mapping[str, Any]) -> bool:
    """Whether a request has the ARN of the table's current encryption key. Key IDs and aliases aren't compared."""
    if not (table.definition.get("SSESpecification") or {}).get("Enabled"):
        return False
    wanted = (request.get("SSESpecification") or {}).get("KMSMasterKeyId")
    return wanted is not None and wanted == describe_encryption(table)["KMSMasterKeyArn"]


def _describe_replicas(table: Table) -> dict[str, Any]:
    replication: dict[str, Any] | None = table.definition.get("Replication")
    if replication is None:
        return {}
    described: dict[str, Any] = {
        "GlobalTableVersion": "2019.11.21",
        "Replicas": [
            {"RegionName": region, "ReplicaStatus": "ACTIVE", **_overrides_of(replication, region)}
            for region in replication["Regions"]
            if region != replication["Own"]
        ],
        "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES",
    }
    if not replication.get("Strong"):
        described["DisassociationProtectionEnabled"] = table.definition.get("DisassociationProtectionEnabled", True)
    if replication.get("Strong"):
        described["MultiRegionConsistency"] = "STRONG"
    witness = replication.get("Witness")
    if witness:
        described["GlobalTableWitnesses"] = [{"RegionName": witness, "WitnessStatus": "ACTIVE"}]
    return described


def _overrides_of(replication: Mapping[str, Any], region: str) -> dict[str, Any]:
    overrides: dict[str, Any] = dict((replication.get("Overrides") or {}).get(region) or {})
    table_class = overrides.pop("TableClassOverride", None)
    return overrides if table_class is None else {**overrides, "ReplicaTableClassSummary": {"TableClass": table_class}}
