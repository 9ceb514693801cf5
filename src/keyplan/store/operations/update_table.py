"""UpdateTable: change settings, or create or delete a global secondary index, which is filled before the response."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.operations.members import TABLE_SETTINGS
from keyplan.dynamodb.service_errors import ResourceNotFoundException, ValidationException, one_or_more, table_not_found
from keyplan.store.control_plane import schema
from keyplan.store.control_plane.index_backfill import Filling, change_indexes, finish_filling
from keyplan.store.database import Database, plain_name
from keyplan.store.replication.replicas import GROUP_WIDE, change_replicas, has_witness, others_of
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import begin_update, check_update, is_gone, states_of, without_lost
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.streams import disable, enable
from keyplan.store.tables.resources import replication_of
from keyplan.store.tables.table import Table, next_layout
from keyplan.store.tables.table_description import describe, encrypts_by_same_key
from keyplan.store.throughput import changed_throughput, check_maximum, check_quotas, merged_maximum, raised_warm
from keyplan.store.vectors import one_vector_change, with_vector_change

_SETTINGS = (
    *TABLE_SETTINGS,
    "GlobalSecondaryIndexUpdates",
    "VectorIndexUpdates",
    "GlobalTableSettingsReplicationMode",
    "DisassociationProtectionEnabled",
)


_ALONE = {
    "SSESpecification": "Server-Side Encryption modification",
    "TableClass": "TableClass modification",
    "DeletionProtectionEnabled": "DeletionProtection modification",
    "WarmThroughput": "WarmThroughput",
}
"""Changes that can't be combined, with the service's name for them."""
_MAXIMUM_ALONE = "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
_UNCHANGED = (
    "The provisioned throughput for the {of} will not change. The requested value equals the current value. "
    "Current ReadCapacityUnits provisioned for {whose}: {ReadCapacityUnits}. "
    "Requested ReadCapacityUnits: {ReadCapacityUnits}. "
    "Current WriteCapacityUnits provisioned for {whose}: {WriteCapacityUnits}. "
    "Requested WriteCapacityUnits: {WriteCapacityUnits}. "
    "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
)


def update_table(database: Database, request: Request) -> Answer:
    name = plain_name(request["TableName"])
    _check_only_replicas(request)
    if request.get("ReplicaUpdates"):
        change_replicas(database, name, request)
    else:
        _update(database, name, request)
        for region in others_of(database, database.described_table(name)):
            shared = {member: request[member] for member in GROUP_WIDE if request.get(member) is not None}
            if database.group is not None and shared.keys() - {"AttributeDefinitions"}:
                _update(database.group.database(region), name, shared)
    table = database.described_table(name)
    description = describe(table, database.counts, database.states(table))
    if request.get("OnDemandThroughput"):
        # Only the response of UpdateTable shows a removed maximum, as -1.
        description["OnDemandThroughput"] = {
            **description.get("OnDemandThroughput", {}),
            **request["OnDemandThroughput"],
        }
    return {"TableDescription": description}


def _check_only_replicas(request: Request) -> None:
    if all(request.get(member) in (None, []) for member in _SETTINGS):
        return
    if any(map(has_witness, request.get("GlobalTableWitnessUpdates") or ())):
        raise one_or_more("Requests that modify replicas or witnesses must not also modify other fields")
    if request.get("ReplicaUpdates"):
        raise one_or_more("Replica modification must be the only operation in the request")


def _check_alone(request: Request) -> None:
    """Reject changes that can't be combined. Raises ValidationException if a change must be the only one."""
    given = {member for member in _SETTINGS if request.get(member) not in (None, [])}
    if len(given) < 2:
        return
    updates = request.get("GlobalSecondaryIndexUpdates") or []
    if "WarmThroughput" in given and not given & _ALONE.keys() - {"WarmThroughput"}:
        if any(update.get("Create") for update in updates):
            raise one_or_more("Create global secondary index cannot be specified when updating WarmThroughput")
        if "OnDemandThroughput" in given:
            raise one_or_more(_MAXIMUM_ALONE)
    for member, name in _ALONE.items():
        if member in given:
            raise one_or_more(f"{name} must be the only operation in the request")
    if "OnDemandThroughput" in given and given != {"OnDemandThroughput", "BillingMode"}:
        raise one_or_more(_MAXIMUM_ALONE)
    if "ProvisionedThroughput" in given or request.get("BillingMode") == "PROVISIONED":
        if "StreamSpecification" in given:
            raise one_or_more("You cannot modify stream status while updating table IOPS")
        if any(update.get("Create") or update.get("Delete") for update in updates):
            raise one_or_more("You cannot create or delete index while updating table IOPS")


def _check_index_updates(request: Request) -> None:
    """Validate index updates independently of the table. Raises ValidationException."""
    updates = request.get("GlobalSecondaryIndexUpdates")
    if updates == []:
        raise one_or_more("List of GlobalSecondaryIndexUpdates is empty")
    for update in updates or ():
        settings = update.get("Update") or {}
        if settings.get("WarmThroughput") == {}:
            raise one_or_more(
                "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for "
                f"index: {settings['IndexName']}"
            )


def _changes(request: Request) -> Request:
    """The request without members that the service ignores in combination with others."""
    left_out = {member for member in ("WarmThroughput", "OnDemandThroughput") if request.get(member) == {}}
    if left_out and any(request.get(member) not in (None, []) for member in _SETTINGS if member not in left_out):
        return {member: value for member, value in request.items() if member not in left_out}
    return request


def _update(database: Database, name: str, request: Request) -> None:
    request = _changes(request)
    if all(request.get(member) in (None, []) for member in _SETTINGS):
        consistency = "" if request.get("MultiRegionConsistency") else "MultiRegionConsistency, "
        raise ValidationException(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
            "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, "
            f"{consistency}DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
        )
    schema.check_bounds(request.get("ProvisionedThroughput"))
    updates = request.get("GlobalSecondaryIndexUpdates") or []
    change = schema.one_index_change(updates)
    _check_index_updates(request)
    _check_alone(request)
    vectors = one_vector_change(request.get("VectorIndexUpdates") or [], has_other=change is not None)

    def work(writer: Writer) -> Filling | None:
        table = database.fresh(writer).get(name)
        now_s = database.clock()
        if table is None or is_gone(table.definition, now_s):
            raise table_not_found(name)
        states = states_of(table.definition, now_s)
        check_update(name, states, request)
        definition = _with_settings(table, without_lost(states, request), now_s)
        definition = _with_index_settings(table, definition, updates, now_s)
        _check_quotas(request, database.region)
        definition = begin_update(table.definition, definition, request, now_s, database.state_delay_s)
        if request.get("StreamSpecification") is not None:
            _change_stream(database, writer, table, definition, request)
        elif vectors is not None:
            attributes = request.get("AttributeDefinitions") or []
            removed = vectors["Delete"]["IndexName"] if vectors.get("Delete") else None
            if removed is not None and all(index.name != removed for index in table.vector_indexes):
                raise ResourceNotFoundException(f"Requested resource not found: Index {removed} for table {name}")
            definition = schema.with_used_attributes(with_vector_change(definition, vectors, attributes))
            return change_indexes(database, writer, table, definition)
        elif change is None:
            writer.define(table.stored.layout.id, json.dumps(definition))
        else:
            create = change.get("Create")
            if create:
                attributes = request.get("AttributeDefinitions") or []
                definition = schema.with_index(definition, create, attributes)
            else:
                definition = _without(table, definition, change["Delete"]["IndexName"])
            return change_indexes(database, writer, table, definition)
        return None

    database.goes_on_with(database.shown_table(name))
    filling = database.write(work)
    if filling is not None:
        finish_filling(database, filling)


def _check_quotas(request: Request, region: str) -> None:
    check_quotas(request, region)
    for update in request.get("GlobalSecondaryIndexUpdates") or ():
        settings = update.get("Create") or update.get("Update")
        if settings:
            check_quotas(settings, region, settings["IndexName"])


def _with_settings(table: Table, request: Request, now_s: float) -> schema.Definition:
    definition: schema.Definition = dict(table.definition)
    mode = request.get("BillingMode")
    throughput = request.get("ProvisionedThroughput")
    changes_mode = mode is not None and mode != definition["BillingMode"]
    if mode == "PROVISIONED" and throughput is None:
        raise one_or_more("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
    if changes_mode or throughput is not None:
        schema.check_throughput(mode or definition["BillingMode"], throughput)
    if changes_mode:
        definition = schema.with_billing(definition, str(mode), now_s, _updated(request))
    elif throughput is not None and throughput == definition["ProvisionedThroughput"]:
        raise ValidationException(_UNCHANGED.format(of="table", whose="the table", **throughput))
    if throughput is not None:
        definition = changed_throughput(definition, throughput, now_s)
    if request.get("WarmThroughput") is not None:
        definition["WarmThroughput"] = raised_warm(
            definition, request["WarmThroughput"], definition["BillingMode"], "table"
        )
    if request.get("OnDemandThroughput") is not None:
        check_maximum(request["OnDemandThroughput"], definition["BillingMode"], updates=True)
        definition["OnDemandThroughput"] = merged_maximum(definition, request["OnDemandThroughput"])
    if request.get("DeletionProtectionEnabled") is not None:
        definition["DeletionProtectionEnabled"] = request["DeletionProtectionEnabled"]
    if request.get("TableClass") not in (None, definition.get("TableClass", "STANDARD")):
        definition["TableClassSince"] = now_s
    if request.get("GlobalTableSettingsReplicationMode") == "ENABLED_WITH_OVERRIDES" and replication_of(table) is None:
        raise ValidationException(
            "Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to satisfy constraint: "
            "Only ENABLED and DISABLED settings replication are supported for a Regional Table."
        )
    if request.get("TableClass") != "STANDARD" or "TableClass" in definition:
        schema.keep_settings(definition, request)
    if encrypts_by_same_key(table, request):
        raise one_or_more(
            "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to change "
            "Master Key"
        )
    schema.keep_encryption(definition, request, updates=True)
    return definition


def _updated(request: Request) -> set[str]:
    updates = [each.get("Update") or {} for each in request.get("GlobalSecondaryIndexUpdates") or []]
    return {update["IndexName"] for update in updates if update.get("ProvisionedThroughput")}


def _with_index_settings(
    table: Table, definition: schema.Definition, updates: list[Mapping[str, Any]], now_s: float
) -> schema.Definition:
    switched = definition["BillingMode"] != table.definition["BillingMode"]
    for update in updates:
        settings = update.get("Update")
        if not settings:
            continue
        name = settings["IndexName"]
        indexes = definition.get("GlobalSecondaryIndexes", [])
        if all(index["IndexName"] != name for index in indexes):
            raise _no_index(table, name, "update")
        definition["GlobalSecondaryIndexes"] = [
            _with_throughput(index, settings, definition["BillingMode"], now_s, switched=switched)
            if index["IndexName"] == name
            else index
            for index in indexes
        ]
    return definition


def _with_throughput(
    index: Mapping[str, Any], wanted: Mapping[str, Any], mode: str, now_s: float, *, switched: bool
) -> dict[str, Any]:
    name: str = index["IndexName"]
    changed = dict(index)
    throughput = wanted.get("ProvisionedThroughput")
    if mode == "PAY_PER_REQUEST" and switched and throughput is not None:
        raise one_or_more(schema.no_units(name))
    if mode == "PAY_PER_REQUEST" and not (wanted.get("OnDemandThroughput") or wanted.get("WarmThroughput")):
        raise one_or_more(
            f"The only Updates for index: {name} when TableThroughputMode is PAY_PER_REQUEST can be to "
            "OnDemandThroughput, WarmThroughput"
        )
    if throughput is not None:
        if mode == "PAY_PER_REQUEST":
            raise one_or_more(schema.no_units(name))
        if throughput == index.get("ProvisionedThroughput"):
            raise ValidationException(_UNCHANGED.format(of=f"index {name}", whose=f"index {name}", **throughput))
        changed = changed_throughput(changed, throughput, now_s)
    if wanted.get("WarmThroughput") is not None:
        changed["WarmThroughput"] = raised_warm(changed, wanted["WarmThroughput"], mode, f"index {name}")
    if wanted.get("OnDemandThroughput") is not None:
        check_maximum(wanted["OnDemandThroughput"], mode, name, updates=True)
        changed["OnDemandThroughput"] = merged_maximum(changed, wanted["OnDemandThroughput"])
    return changed


def _no_index(table: Table, name: str, verb: str) -> ValidationException | ResourceNotFoundException:
    if name in table.index_by_name:
        return ValidationException(f"Cannot {verb} an index that is not a GlobalSecondaryIndex: {name}")
    return ResourceNotFoundException(f"Requested resource not found: Index {name} for table {table.name}")


def _change_stream(
    database: Database, writer: Writer, table: Table, definition: schema.Definition, request: Request
) -> None:
    """Enable or disable the stream in a new generation of the table, so that all processes notice it."""
    schema.check_stream_change(request, table.name, is_enabled=table.stream is not None)
    is_wanted: bool = request["StreamSpecification"]["StreamEnabled"]
    replication = replication_of(table)
    if not is_wanted and replication is not None and not replication.get("Strong"):
        raise one_or_more("Disabling Stream is not allowed for a Global Table replica.")
    now_s = database.clock()
    before = table.stored.layout
    if is_wanted:
        wanted = {**definition, "StreamSpecification": request["StreamSpecification"]}
        definition = enable(writer.changes, table.name, before.id, wanted, now_s)
    else:
        definition = disable(writer.changes, definition, now_s)
    layout = next_layout(definition, before)
    writer.change_indexes(table.stored, layout, json.dumps(definition))


def _without(table: Table, definition: schema.Definition, name: str) -> schema.Definition:
    index = table.index_by_name.get(name)
    if index is None or index.is_local:
        raise _no_index(table, name, "delete")
    return schema.without_index(definition, name)
