"""Definitions of restored and imported tables: the source's definition with the request's overrides.

As on AWS, keys, indexes, throughput and encryption are copied; streams, time to live, tags, policies, deletion
protection and point-in-time recovery aren't. ``keyplan.store.backups.restoring`` fills the tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.dynamodb import service_errors
from keyplan.store.control_plane.schema import Definition, new_definition
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Request
from keyplan.store.state_delays import restore_of
from keyplan.store.storage.key_layouts import TableRecord
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.table import Table, layout_of, read_table
from keyplan.store.vectors import make_vectors

INDEX_OVERRIDES = {
    "GlobalSecondaryIndexes": "GlobalSecondaryIndexOverride",
    "LocalSecondaryIndexes": "LocalSecondaryIndexOverride",
    "VectorIndexes": "VectorIndexOverride",
}
_SAME = ("KeySchema", "Projection", "VectorAttribute", "SearchSchema", "Dimensions", "DistanceFunction")
"""The members in which an index of the copy must equal one of the source's; its name can differ."""
KEPT_BY_INDEX = ("IndexName", "ProvisionedThroughput", "OnDemandThroughput", *_SAME)
"""The members of an index that backups and copies keep."""


def copied_definition(source: Mapping[str, Any], request: Request, now_s: float) -> Definition:
    """The definition of a copy for a validated restore request. Raises ValidationException for an invalid override."""
    mode: str = request.get("BillingModeOverride") or source["BillingMode"]
    throughput = request.get("ProvisionedThroughputOverride")
    maximum = request.get("OnDemandThroughputOverride")
    _check_throughput(mode, source["BillingMode"], request)
    wanted: dict[str, Any] = {"BillingMode": mode, "KeySchema": source["KeySchema"]}
    if mode == "PROVISIONED":
        wanted["ProvisionedThroughput"] = throughput or source["ProvisionedThroughput"]
    else:
        wanted["OnDemandThroughput"] = maximum or source.get("OnDemandThroughput")
    for member, override in INDEX_OVERRIDES.items():
        indexes = _indexes(source.get(member) or [], request.get(override), request, mode)
        if indexes:
            wanted[member] = [_priced(index, member, mode, wanted) for index in indexes]
    used = {key["AttributeName"] for key in wanted["KeySchema"]}
    for member in INDEX_OVERRIDES:
        for index in wanted.get(member, ()):
            used |= {key["AttributeName"] for key in (*index.get("KeySchema", ()), *index.get("SearchSchema", ()))}
    wanted["AttributeDefinitions"] = [each for each in source["AttributeDefinitions"] if each["AttributeName"] in used]
    encryption = request.get("SSESpecificationOverride")
    wanted["SSESpecification"] = source.get("SSESpecification") if encryption is None else encryption
    return new_definition(wanted, now_s)


def _check_throughput(mode: str, source_mode: str, request: Request) -> None:
    if request.get("ProvisionedThroughputOverride") is None:
        if mode == "PROVISIONED" != source_mode:
            raise _refused("Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED")
    elif mode != "PROVISIONED":
        raise _refused(f"Cannot override ProvisionedThroughput {_unfit(request)}")
    for name, units in (request.get("OnDemandThroughputOverride") or {}).items():
        if mode != "PAY_PER_REQUEST":
            raise _refused(
                f"Cannot override {name} for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST"
            )
        if units < 1:
            raise _refused(f"Requested {name} for OnDemandThroughput is outside of valid range")


def _unfit(request: Request) -> str:
    if request.get("BillingModeOverride"):
        return "if BillingMode is overridden to PAY_PER_REQUEST"
    return "unless BillingMode is PROVISIONED"


def _refused(message: str) -> service_errors.ValidationException:
    return service_errors.ValidationException(f"Invalid Request: {message}")


def _indexes(
    source: Sequence[Mapping[str, Any]], override: Sequence[Mapping[str, Any]] | None, request: Request, mode: str
) -> list[dict[str, Any]]:
    if override is None:
        return [{name: value for name, value in index.items() if name in KEPT_BY_INDEX} for index in source]
    for index in override:
        if not any(_is_same(index, each) for each in source):
            raise _refused(
                f"Index {index['IndexName']} does not match a secondary index that existed in the source table and "
                "cannot be created during the restore operation"
            )
    for index in request.get("GlobalSecondaryIndexOverride") or ():
        if mode == "PROVISIONED" and index.get("ProvisionedThroughput") is None:
            raise _refused(f"Must specify provisioned throughput for index {index['IndexName']}")
        if mode != "PROVISIONED" and index.get("ProvisionedThroughput") is not None:
            raise _refused(f"Cannot override ProvisionedThroughput {_unfit(request)} for index {index['IndexName']}")
    return [dict(index) for index in override]


def _is_same(index: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(index.get(member) == other.get(member) for member in _SAME)


def _priced(index: dict[str, Any], member: str, mode: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    if member != "GlobalSecondaryIndexes":
        return index
    if mode == "PAY_PER_REQUEST":
        return {name: value for name, value in index.items() if name != "ProvisionedThroughput"}
    if index.get("ProvisionedThroughput"):
        return index
    return {**index, "ProvisionedThroughput": wanted["ProvisionedThroughput"]}


def make_table(database: Database, writer: Writer, name: str, definition: Definition) -> Table:
    text = json.dumps(definition)
    layout = writer.create_table(name, text, layout_of(definition, 0, 1))
    made = read_table(TableRecord(layout.id, layout.generation, name, text), database.storage)
    for index in made.vector_indexes:
        make_vectors(writer, layout.id, index)
    return made


def check_free(database: Database, writer: Writer, name: str) -> None:
    """Reject the name of an existing table, with a different error if that table is being restored."""
    table = database.present_table(writer, name)
    if table is None:
        return
    summary = restore_of(table.definition, database.clock())
    if summary is None:
        raise service_errors.TableAlreadyExistsException(f"Table already exists: {name}")
    backup = summary.get("SourceBackupArn")
    source = f" from backup: {backup}" if backup else ""
    raise service_errors.TableInUseException(f"Table: {name} is already being restored{source}")


def check_unused(database: Database, writer: Writer, backup_arn: str, use: str) -> None:
    """Reject a backup from which a table is being restored; ``use`` describes that table in the error message."""
    now_s = database.clock()
    for table in database.fresh(writer).values():
        summary = restore_of(table.definition, now_s)
        if summary is not None and summary.get("SourceBackupArn") == backup_arn:
            raise service_errors.BackupInUseException(f"Backup is being used to restore {use}: {backup_arn}")
