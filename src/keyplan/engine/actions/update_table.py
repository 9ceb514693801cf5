"""UpdateTable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keyplan.engine.database import Database, plain_name
from keyplan.engine.describe import describe
from keyplan.engine.filling import fill_index, fill_vectors
from keyplan.engine.replicas import GROUP_WIDE, change_replicas, others_of
from keyplan.engine.requests import Answer, Request
from keyplan.engine.schema import (
    Definition,
    check_billing,
    check_stream_change,
    keep_settings,
    one_index_change,
    with_billing,
    with_index,
    with_used_attributes,
    without_index,
)
from keyplan.engine.storage.layouts import TableRecord
from keyplan.engine.storage.transactions import Writer
from keyplan.engine.streams.lifecycle import disable, enable
from keyplan.engine.tables import Table, layout_of, read_table
from keyplan.engine.vectorrules import one_vector_change, with_vector_change
from keyplan.engine.vectors import make_vectors
from keyplan.wire.errors import ResourceNotFoundException, ValidationException, one_or_more, table_not_found

_REPLICA_MEMBERS = ("ReplicaUpdates", "GlobalTableWitnessUpdates", "MultiRegionConsistency")
_SETTINGS = (
    "BillingMode",
    "ProvisionedThroughput",
    "DeletionProtectionEnabled",
    "GlobalSecondaryIndexUpdates",
    "VectorIndexUpdates",
    "StreamSpecification",
    "SSESpecification",
    "TableClass",
    "OnDemandThroughput",
    "WarmThroughput",
    "GlobalTableSettingsReplicationMode",
    "DisassociationProtectionEnabled",
)


_UNCHANGED = (
    "The provisioned throughput for the table will not change. The requested value equals the current value. "
    "Current ReadCapacityUnits provisioned for the table: {ReadCapacityUnits}. "
    "Requested ReadCapacityUnits: {ReadCapacityUnits}. "
    "Current WriteCapacityUnits provisioned for the table: {WriteCapacityUnits}. "
    "Requested WriteCapacityUnits: {WriteCapacityUnits}. "
    "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
)


def update_table(database: Database, request: Request) -> Answer:
    """Change a table's settings, or add or remove a global index. An index is filled before this returns."""
    name = plain_name(request["TableName"])
    if any(request.get(member) for member in _REPLICA_MEMBERS):
        if any(request.get(member) not in (None, []) for member in _SETTINGS):
            raise one_or_more("ReplicaUpdates cannot be combined with other changes")
        change_replicas(database, name, request)
    else:
        _update(database, name, request)
        for region in others_of(database, database.described_table(name)):
            shared = {member: request[member] for member in GROUP_WIDE if request.get(member) is not None}
            if database.group is not None and shared.keys() - {"AttributeDefinitions"}:
                _update(database.group.database(region), name, shared)
    return {"TableDescription": describe(database.described_table(name), database.counts)}


def _update(database: Database, name: str, request: Request) -> None:
    if all(request.get(member) in (None, []) for member in _SETTINGS):
        raise ValidationException(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"
        )
    updates = request.get("GlobalSecondaryIndexUpdates") or []
    change = one_index_change(updates)
    vectors = one_vector_change(request.get("VectorIndexUpdates") or [], has_other=change is not None)

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None:
            raise table_not_found(name)
        definition = _with_settings(table, request, database.clock())
        definition = _with_index_settings(definition, updates)
        if request.get("StreamSpecification") is not None:
            _change_stream(database, writer, table, definition, request)
        elif vectors is not None:
            attributes = request.get("AttributeDefinitions") or []
            _change_vectors(
                database, writer, table, with_used_attributes(with_vector_change(definition, vectors, attributes))
            )
        elif change is None:
            writer.define(table.stored.layout.id, json.dumps(definition))
        else:
            create = change.get("Create")
            if create:
                attributes = request.get("AttributeDefinitions") or []
                definition = with_index(definition, create, attributes)
            else:
                definition = _without(table, definition, change["Delete"]["IndexName"])
            _change_index(database, writer, table, definition)

    database.write(work)


def _with_settings(table: Table, request: Request, now_s: float) -> Definition:
    definition: Definition = dict(table.definition)
    mode = request.get("BillingMode")
    throughput = request.get("ProvisionedThroughput")
    changes_mode = mode is not None and mode != definition["BillingMode"]
    if changes_mode or throughput is not None:
        check_billing(mode or definition["BillingMode"], throughput)
    if changes_mode:
        definition = with_billing(definition, str(mode), now_s, _updated(request))
    elif throughput is not None and throughput == definition["ProvisionedThroughput"]:
        raise ValidationException(_UNCHANGED.format(**throughput))
    if throughput is not None:
        definition["ProvisionedThroughput"] = throughput
    if request.get("DeletionProtectionEnabled") is not None:
        definition["DeletionProtectionEnabled"] = request["DeletionProtectionEnabled"]
    keep_settings(definition, request)
    return definition


def _updated(request: Request) -> set[str]:
    """The names of the indexes that are given a throughput."""
    updates = [each.get("Update") or {} for each in request.get("GlobalSecondaryIndexUpdates") or []]
    return {update["IndexName"] for update in updates if update.get("ProvisionedThroughput")}


def _with_index_settings(definition: Definition, updates: list[Mapping[str, Any]]) -> Definition:
    for update in updates:
        settings = update.get("Update")
        if not settings:
            continue
        name = settings["IndexName"]
        indexes = definition.get("GlobalSecondaryIndexes", [])
        if all(index["IndexName"] != name for index in indexes):
            raise ResourceNotFoundException("Requested resource not found")
        definition["GlobalSecondaryIndexes"] = [
            {**index, **settings} if index["IndexName"] == name else index for index in indexes
        ]
    return definition


def _change_stream(database: Database, writer: Writer, table: Table, definition: Definition, request: Request) -> None:
    """Enable or disable the stream, and make a new generation of the table: who writes by the one before must learn
    whether to record what it changes.
    """
    check_stream_change(request, table.name, is_enabled=table.stream is not None)
    now_s = database.clock()
    before = table.stored.layout
    if request["StreamSpecification"]["StreamEnabled"]:
        wanted = {**definition, "StreamSpecification": request["StreamSpecification"]}
        definition = enable(writer.changes, table.name, before.id, wanted, now_s)
    else:
        definition = disable(writer.changes, definition, now_s)
    layout = layout_of(definition, before.id, before.generation + 1)
    writer.change_indexes(table.stored, layout, json.dumps(definition))


def _without(table: Table, definition: Definition, name: str) -> Definition:
    index = table.index_by_name.get(name)
    if index is None or index.is_local:
        raise ResourceNotFoundException("Requested resource not found")
    return without_index(definition, name)


def _change_index(database: Database, writer: Writer, table: Table, definition: Definition) -> None:
    """Give the stored table the indexes of the definition, and fill those that are new."""
    before = table.stored.layout
    layout = layout_of(definition, before.id, before.generation + 1)
    text = json.dumps(definition)
    stored = writer.change_indexes(table.stored, layout, text)
    changed = read_table(TableRecord(layout.id, layout.generation, table.name, text), database.storage)
    known = {index.number for index in before.indexes}
    for index in changed.indexes:
        if index.number not in known:
            fill_index(writer, stored, index)


def _change_vectors(database: Database, writer: Writer, table: Table, definition: Definition) -> None:
    """Give the stored table the vector indexes of the definition, and fill one that is new."""
    before = table.stored.layout
    layout = layout_of(definition, before.id, before.generation + 1)
    text = json.dumps(definition)
    stored = writer.change_indexes(table.stored, layout, text)
    changed = read_table(TableRecord(layout.id, layout.generation, table.name, text), database.storage)
    known = {index.number for index in table.vector_indexes}
    for index in changed.vector_indexes:
        if index.number not in known:
            make_vectors(writer, layout.id, index)
            fill_vectors(writer, stored, index)
    for number in known - {index.number for index in changed.vector_indexes}:
        writer.vectors.drop(layout.id, number)
