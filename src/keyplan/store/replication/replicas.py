"""Replicas of a global table: UpdateTable adds and removes them. A change of one region's replica is applied to the
stores of the other regions, in one transaction each. Strong consistency of several regions, witnesses and
disassociation aren't supported. Rules and texts are recorded from the service (October 2026).
"""

from __future__ import annotations

import json
from typing import Any

from keyplan.dynamodb.service_errors import ValidationException, one_or_more, table_not_found
from keyplan.store.database import Database, Group
from keyplan.store.replication.replica_backfill import abandon, begin_replica, finish_joining
from keyplan.store.requests.request_expressions import Request
from keyplan.store.state_delays import COPYING, SETTLING, check_changeable
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.streams import STREAM, disable, enable
from keyplan.store.tables.resources import MEMBER, Replication, forget_table, replication_of
from keyplan.store.tables.table import Table, next_layout

Definition = dict[str, Any]
Overrides = dict[str, Any]
"""Replica-specific settings."""

_REGIONAL = frozenset(
    {
        MEMBER,
        "Tags",
        "ResourcePolicy",
        "PointInTimeRecovery",
        "DeletionProtectionEnabled",
        STREAM,
        "ContributorInsights",
        SETTLING,
        COPYING,
    }
)
"""Settings that a replica doesn't inherit."""
GROUP_WIDE = (
    "AttributeDefinitions",
    "BillingMode",
    "ProvisionedThroughput",
    "GlobalSecondaryIndexUpdates",
    "VectorIndexUpdates",
    "OnDemandThroughput",
    "WarmThroughput",
)
"""Members of UpdateTable that change all replicas."""
_OVERRIDES = (
    "KMSMasterKeyId",
    "ProvisionedThroughputOverride",
    "OnDemandThroughputOverride",
    "GlobalSecondaryIndexes",
    "TableClassOverride",
)


def others_of(database: Database, table: Table) -> list[str]:
    """The other available regions of a table."""
    replication = replication_of(table)
    if replication is None or database.group is None:
        return []
    return [name for name in replication["Regions"] if name != database.region and name in database.group.names]


def change_replicas(database: Database, name: str, request: Request) -> None:
    """Add or remove a replica, or several for strong consistency.

    Raises:
        ValidationException: the changes are invalid.
    """
    table = database.described_table(name)
    check_changeable(name, database.states(table))
    if request.get("MultiRegionConsistency") == "STRONG" or any(request.get("GlobalTableWitnessUpdates") or ()):
        raise one_or_more("This store doesn't support MultiRegionConsistency STRONG")
    creates, updates, deletes = _actions(request)
    for region in (*creates, *deletes):
        if region == database.region:
            raise ValidationException(
                "Cannot add or delete the local region through ReplicaUpdates. "
                "Use CreateTable, DeleteTable, or UpdateTable as required."
            )
    group = database.group
    supported = [] if group is None else group.names
    if len(creates) + len(deletes) > 1:
        raise ValidationException(
            "Update table operation with more than one create or delete replica actions not allowed"
        )
    for region in (*creates, *(each for each in deletes if not each)):
        if region not in supported:
            raise ValidationException(
                f"Region {region} is not supported. The latest version of global tables are only supported in the "
                f"following regions: [{', '.join(supported)}]"
            )
    for region in (*updates, *deletes):
        if region not in others_of(database, table):
            raise _not_a_replica(region)
    if group is None:
        return
    for region in creates:
        if group.database(region).find(name) is not None:
            raise ValidationException(
                f"Failed to create a the new replica of table with name: '{name}' because one or more replicas "
                "already existed as tables."
            )
    for region in creates:
        _add(group, database, name, region)
    for region, overrides in {**creates, **updates}.items():
        if overrides:
            _set_apart(group, name, region, overrides)
    for region in deletes:
        leave(group, name, region)
        _drop(group.database(region), name)


def _not_a_replica(region: str) -> ValidationException:
    return ValidationException(
        "Update global table operation failed because one or more replicas were not part of the global table. "
        f"Please retry the request without these replicas: [{region}]."
    )


def _actions(request: Request) -> tuple[dict[str, Overrides], dict[str, Overrides], list[str]]:
    """The regions of new and of changed replicas, with their overrides, and of removed ones."""
    creates: dict[str, Overrides] = {}
    updates: dict[str, Overrides] = {}
    deletes: list[str] = []
    for update in request.get("ReplicaUpdates") or []:
        if update.get("Disassociate") is not None:
            raise one_or_more("This store doesn't support Disassociate; delete the replica instead")
        given = [kind for kind in ("Create", "Update", "Delete") if update.get(kind) is not None]
        if not given:
            raise ValidationException("There are no actions specified in the Replica Update Action of the request.")
        if len(given) > 1:
            raise ValidationException("Update table operation with more than one type of replica actions not allowed.")
        action = update[given[0]]
        if action.get("RegionName") is None:
            raise ValidationException("One or more parameter values were invalid")
        if given[0] == "Delete":
            deletes.append(action["RegionName"])
        else:
            overrides = {member: action[member] for member in _OVERRIDES if action.get(member) is not None}
            (creates if given[0] == "Create" else updates)[action["RegionName"]] = overrides
    return creates, updates, deletes


def _add(group: Group, database: Database, name: str, region: str) -> None:
    own, there = database.region, group.database(region)
    table = database.described_table(name)
    last = 0
    if replication_of(table) is not None:
        last = database.storage.read(lambda reader: reader.replicas.last(table.stored.layout.id))
    # The replica first: later writes are then replicated to it.
    joining = begin_replica(there, name, _replica(table, own, region), own, last)

    def begin(writer: Writer) -> list[str]:
        table = database.fresh(writer).get(name)
        if table is None:
            raise table_not_found(name)
        replication = _with_region(table, own, region)
        if replication_of(table) is None:
            writer.replicas.begin(table.stored.layout.id)
        definition: Definition = {**table.definition, MEMBER: replication}
        if table.stream is None:
            wanted = {**definition, "StreamSpecification": _STREAM}
            definition = enable(writer.changes, name, table.stored.layout.id, wanted, database.clock())
        _store(writer, table, definition)
        return replication["Regions"]

    try:
        regions = database.write(begin)
    except BaseException:
        abandon(there, joining)
        raise
    database.refresh()
    try:
        for other in regions:
            if other not in {own, region} and other in group.names:
                _set_regions(group.database(other), name, regions)
        finish_joining(there, joining)
    except BaseException:
        leave(group, name, region)
        raise


_STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def _with_region(table: Table, own: str, region: str) -> Replication:
    """The group of a table with an additional region."""
    replication: Replication = replication_of(table) or {"Regions": [own], "Own": own}
    return {**replication, "Regions": [*replication["Regions"], region]}


def _replica(table: Table, own: str, region: str) -> Definition:
    """The definition of a table's new replica in a region."""
    kept = {member: value for member, value in table.definition.items() if member not in _REGIONAL}
    definition: Definition = {**kept, "Tags": [], "DeletionProtectionEnabled": False}
    definition["StreamSpecification"] = definition.get("StreamSpecification") or _STREAM
    definition[MEMBER] = {**_with_region(table, own, region), "Own": region}
    return definition


def _store(writer: Writer, table: Table, definition: Definition) -> None:
    """Store a definition as a new generation: processes with the previous generation must learn of it."""
    writer.change_indexes(table.stored, next_layout(definition, table.stored.layout), json.dumps(definition))


def _set_regions(database: Database, name: str, regions: list[str]) -> None:
    """Store the group's members in one region; a table alone is no longer a global table."""

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        replication = None if table is None else replication_of(table)
        if table is None or replication is None:
            return
        definition = dict(table.definition)
        if len(regions) > 1:
            overrides = replication.get("Overrides") or {}
            kept = {region: overrides[region] for region in regions if region in overrides}
            definition[MEMBER] = {**replication, "Regions": regions, "Overrides": kept}
        else:
            del definition[MEMBER]
            definition.pop("DisassociationProtectionEnabled", None)
            writer.replicas.end(table.stored.layout.id)
        _store(writer, table, definition)

    database.write(work)
    database.refresh()


def _set_apart(group: Group, name: str, region: str, overrides: Overrides) -> None:
    """Store a replica's overrides in all regions of its table."""
    for database in map(group.database, group.names):

        def work(writer: Writer, database: Database = database) -> None:
            table = database.fresh(writer).get(name)
            replication = None if table is None else replication_of(table)
            if table is None or replication is None:
                return
            before = replication.get("Overrides") or {}
            own = {**before.get(region, {}), **overrides}
            member: Replication = {**replication, "Overrides": {**before, region: own}}
            _store(writer, table, {**table.definition, MEMBER: member})

        database.write(work)
        database.refresh()


def leave(group: Group, name: str, region: str) -> None:
    """Remove a region from a table's group in the other regions."""
    for other in group.names:
        table = group.database(other).find(name)
        replication = None if table is None else replication_of(table)
        if other != region and replication is not None and region in replication["Regions"]:
            _set_regions(group.database(other), name, [each for each in replication["Regions"] if each != region])


def _drop(database: Database, name: str) -> None:
    """Remove a replica with its contents."""

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None:
            return
        if table.stream is not None:
            disable(writer.changes, table.definition, database.clock())
        forget_table(writer, table)

    database.write(work)
    database.refresh()
