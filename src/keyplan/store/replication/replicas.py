"""Replicas of a global table, which UpdateTable adds and removes in the stores of all regions, in one transaction each.

A strongly consistent group has three regions, or two regions and a witness. One request creates such a group, and one
request removes the whole group. Rules and messages are recorded from the service (October 2026).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from keyplan.dynamodb.service_errors import ValidationException, one_or_more, table_not_found
from keyplan.store.database import Database, Group
from keyplan.store.replication.replica_backfill import abandon, begin_replica, finish_joining
from keyplan.store.requests.request_expressions import Request
from keyplan.store.state_delays import COPYING, SETTLING, check_changeable
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.streams import STREAM, disable, enable
from keyplan.store.tables.resources import MEMBER, Replication, forget_table, replication_of, store_generation
from keyplan.store.tables.table import Table

Definition = dict[str, Any]
Overrides = dict[str, Any]

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
    replication = replication_of(table)
    if replication is None or database.group is None:
        return []
    return [name for name in replication["Regions"] if name != database.region and name in database.group.names]


def change_replicas(database: Database, name: str, request: Request) -> None:
    """Add or remove one replica, or several replicas for strong consistency. Raises ValidationException."""
    table = database.described_table(name)
    check_changeable(name, database.states(table))
    if any(update.get("Disassociate") is not None for update in request.get("ReplicaUpdates") or []):
        _disassociate(database, table, request)
        return
    creates, updates, deletes = _actions(request)
    witness = _witness(request, "Create")
    strong = request.get("MultiRegionConsistency") == "STRONG"
    for region in (*creates, *deletes):
        if region == database.region:
            raise ValidationException(
                "Cannot add or delete the local region through ReplicaUpdates. "
                "Use CreateTable, DeleteTable, or UpdateTable as required."
            )
    group = database.group
    supported = [] if group is None else group.names
    changes = Changes(creates, updates, deletes, witness, _witness(request, "Delete"))
    check_consistency(table, request.get("MultiRegionConsistency"), changes, database.region, supported)
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
        _add(group, database, name, region, {"Witness": witness} if strong else {})
    for region, overrides in {**creates, **updates}.items():
        if overrides:
            _store_overrides(group, name, region, overrides)
    for region in deletes:
        leave(group, name, region)
        _drop(group.database(region), name)


def _not_a_replica(region: str) -> ValidationException:
    return ValidationException(
        "Update global table operation failed because one or more replicas were not part of the global table. "
        f"Please retry the request without these replicas: [{region}]."
    )


def _actions(request: Request) -> tuple[dict[str, Overrides], dict[str, Overrides], list[str]]:
    creates: dict[str, Overrides] = {}
    updates: dict[str, Overrides] = {}
    deletes: list[str] = []
    for update in request.get("ReplicaUpdates") or []:
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


def _witness(request: Request, kind: str) -> str:
    """The region of an added or removed witness. As in the service, an update without a region is ignored."""
    for update in request.get("GlobalTableWitnessUpdates") or []:
        if has_witness(update) and update.get(kind) is not None:
            return str(update[kind]["RegionName"])
    return ""


def _disassociate(database: Database, table: Table, request: Request) -> None:
    """Disassociate the replica in this region: it becomes a separate table with all writes so far."""
    updates = request["ReplicaUpdates"]
    replication = replication_of(table)
    region = next(update["Disassociate"]["RegionName"] for update in updates if update.get("Disassociate"))
    if len(updates) > 1 or sum(action is not None for action in updates[0].values()) > 1:
        raise one_or_more("Disassociate must be the only replica update in the request")
    if region != database.region:
        raise one_or_more("Disassociate can only be requested in the region of the replica")
    if replication is None or database.group is None:
        raise _not_a_replica(region)
    if replication.get("Strong"):
        raise one_or_more("Disassociate is not supported for tables with STRONG consistency")
    if table.definition.get("DisassociationProtectionEnabled", True):
        raise ValidationException(
            "Replica cannot be disassociated because disassociation protection is enabled. Disable "
            "DisassociationProtectionEnabled and try again"
        )
    database.group.finish()
    leave(database.group, table.name, region)
    _set_regions(database, table.name, [region])


def _add(group: Group, database: Database, name: str, region: str, more: Mapping[str, Any]) -> None:
    own, there = database.region, group.database(region)
    table = database.described_table(name)
    last = 0
    if replication_of(table) is not None:
        last = database.storage.read(lambda reader: reader.replicas.last(table.stored.layout.id))
    # Prepare the replica first: as soon as the source table lists it, writes are replicated to it.
    joining = begin_replica(there, name, _replica(table, own, region, more), own, last)

    def begin(writer: Writer) -> list[str]:
        table = database.fresh(writer).get(name)
        if table is None:
            raise table_not_found(name)
        replication = _with_region(table, own, region, more)
        if replication_of(table) is None:
            writer.replicas.begin(table.stored.layout.id)
        definition: Definition = {**table.definition, MEMBER: replication}
        if table.stream is None:
            wanted = {**definition, "StreamSpecification": _STREAM}
            definition = enable(writer.changes, name, table.stored.layout.id, wanted, database.clock())
        store_generation(writer, table, definition)
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


def _with_region(table: Table, own: str, region: str, more: Mapping[str, Any]) -> Replication:
    replication = replication_of(table)
    if replication is None:
        replication = Replication(Regions=[own], Own=own)
        if more:
            replication["Strong"] = True
        if more.get("Witness"):
            replication["Witness"] = more["Witness"]
    return {**replication, "Regions": [*replication["Regions"], region]}


def _replica(table: Table, own: str, region: str, more: Mapping[str, Any]) -> Definition:
    kept = {member: value for member, value in table.definition.items() if member not in _REGIONAL}
    definition: Definition = {**kept, "Tags": [], "DeletionProtectionEnabled": False}
    definition["StreamSpecification"] = definition.get("StreamSpecification") or _STREAM
    definition[MEMBER] = {**_with_region(table, own, region, more), "Own": region}
    return definition


def _set_regions(database: Database, name: str, regions: list[str]) -> None:
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
        store_generation(writer, table, definition)

    database.write(work)
    database.refresh()


def _store_overrides(group: Group, name: str, region: str, overrides: Overrides) -> None:
    for database in map(group.database, group.names):

        def work(writer: Writer, database: Database = database) -> None:
            table = database.fresh(writer).get(name)
            replication = None if table is None else replication_of(table)
            if table is None or replication is None:
                return
            before = replication.get("Overrides") or {}
            own = {**before.get(region, {}), **overrides}
            member: Replication = {**replication, "Overrides": {**before, region: own}}
            store_generation(writer, table, {**table.definition, MEMBER: member})

        database.write(work)
        database.refresh()


def leave(group: Group, name: str, region: str) -> None:
    for other in group.names:
        table = group.database(other).find(name)
        replication = None if table is None else replication_of(table)
        if other != region and replication is not None and region in replication["Regions"]:
            _set_regions(group.database(other), name, [each for each in replication["Regions"] if each != region])


def _drop(database: Database, name: str) -> None:
    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None:
            return
        if table.stream is not None:
            disable(writer.changes, table.definition, database.clock())
        forget_table(writer, table)

    database.write(work)
    database.refresh()


_STRONG = "MultiRegionConsistency set to STRONG"
_OTHERS = 2
"""The number of other regions: replicas, or a replica and a witness."""


class Changes(NamedTuple):
    """The regions of created, changed and removed replicas, and of the added and removed witness; empty if none."""

    creates: Collection[str]
    updates: Collection[str]
    deletes: Collection[str]
    new_witness: str
    old_witness: str


def has_witness(update: Mapping[str, Any]) -> bool:
    """Whether an update of witnesses names a region; the service ignores an update without one."""
    return any((action or {}).get("RegionName") for action in update.values())


def check_consistency(
    table: Table, wanted: str | None, changes: Changes, own_region: str, supported: Collection[str]
) -> None:
    """Reject incompatible changes of replicas and witnesses; ``wanted`` is the requested consistency."""
    replication = replication_of(table)
    if wanted is not None and (changes.updates or changes.deletes or not changes.creates):
        raise ValidationException(
            "Only Replica Create actions are supported when MultiRegionConsistency parameter is provided."
        )
    if changes.new_witness and wanted != "STRONG":
        raise ValidationException(
            "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present."
        )
    if wanted == "STRONG":
        _check_strong(table, changes, own_region, supported)
    if wanted is not None and replication is not None:
        raise ValidationException("MultiRegionConsistency parameter is unsupported on existing global table")
    if replication is not None and replication.get("Strong"):
        _check_group(replication, changes)
    elif wanted != "STRONG" and len(changes.creates) + len(changes.deletes) > 1:
        raise ValidationException(
            "Update table operation with more than one create or delete replica actions not allowed"
        )


def _check_strong(table: Table, changes: Changes, own_region: str, supported: Collection[str]) -> None:
    witness = changes.new_witness
    if witness in changes.creates:
        raise ValidationException("Cannot target multiple regions with the same action")
    if witness == own_region:
        raise ValidationException(
            "Cannot add a witness in the same region as an existing replica when creating a global table with "
            f"{_STRONG}."
        )
    added = [*changes.creates, witness] if witness else [*changes.creates]
    unknown = [region for region in added if region not in supported]
    if unknown:
        raise ValidationException(
            f"Unsupported Region(s) specified for global tables with {_STRONG}: [{', '.join(unknown)}]."
        )
    if len(added) != _OTHERS:
        raise ValidationException(f"Unsupported replica count for global tables with {_STRONG}.")
    if table.definition.get("TimeToLive") or table.has_local_indexes:
        raise one_or_more("Time to live and local secondary indexes are not supported with STRONG consistency")


def _check_group(replication: Replication, changes: Changes) -> None:
    if changes.creates:
        raise ValidationException("Cannot add replicas to a global table with strong MultiRegionConsistency")
    if not changes.deletes:
        return
    witness = replication.get("Witness", "")
    if changes.old_witness and changes.old_witness != witness:
        raise ValidationException(
            "Update global table operation failed because one or more witnesses were not part of the global table. "
            f"Please retry the request without these witnesses: [{changes.old_witness}]."
        )
    if witness and not changes.old_witness:
        raise ValidationException("Update table delete operation does not include all witnesses.")
    others = [region for region in replication["Regions"] if region != replication["Own"]]
    if any(region not in changes.deletes for region in others):
        raise one_of_a_group()


def one_of_a_group() -> ValidationException:
    return ValidationException(f"Deletion of only one table replica is not supported for global tables with {_STRONG}.")
