"""Resources of ARNs, the removal of tables, and the replication settings in a table's definition.

Operations on global tables of version 2017.11.29 are rejected, as on AWS. A global table of version 2019.11.21 has
``Replication`` in its definition; ``keyplan.store.multi_region`` replicates its writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NotRequired, TypedDict

from keyplan.dynamodb import service_errors
from keyplan.store.arns import TABLE_ARN
from keyplan.store.state_delays import without_note
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.streams import STREAM
from keyplan.store.tables.table import Table, next_layout

_RESOURCE = re.compile(rf"{TABLE_ARN}(?:/stream/(?P<stream>[^/]+))?")
_INDEX = re.compile(rf"{TABLE_ARN}/index/")
_JOB = re.compile(rf"{TABLE_ARN}/(?P<kind>[a-z-]+)/[0-9a-f-]+")


class Resource(NamedTuple):
    """A table, or one of its streams by its label."""

    table: str
    stream: str | None


def resource_of(arn: str) -> Resource:
    """The table or stream of an ARN, in any region and account. Raises ValidationException for another ARN."""
    if not arn.startswith("arn:"):
        raise service_errors.one_or_more(f"ARNs must start with 'arn:': {arn}")
    match = _RESOURCE.fullmatch(arn)
    if match is None and _INDEX.match(arn):
        raise service_errors.one_or_more(
            f"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )
    if match is None:
        raise service_errors.one_or_more(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    return Resource(match["table"], match["stream"])


def check_job_arn(arn: str, kind: str, title: str) -> None:
    """Reject an ARN of anything but a backup, an export or an import. Raises ValidationException."""
    match = _JOB.fullmatch(arn)
    if match is None or match["kind"] != kind:
        raise service_errors.ValidationException(f"Invalid {title} ARN")


def check_stream(table: Table, resource: Resource) -> None:
    """Reject a stream that the table doesn't have. Raises ResourceNotFoundException."""
    latest = table.definition.get(STREAM) or {}
    if resource.stream is not None and resource.stream != latest.get("Label"):
        raise service_errors.ResourceNotFoundException(
            f"Requested resource not found: Stream: {resource.stream} not found for Table: {resource.table}"
        )


def policy_member(resource: Resource) -> str:
    return "ResourcePolicy" if resource.stream is None else f"ResourcePolicy/stream/{resource.stream}"


def forget_table(writer: Writer, table: Table) -> None:
    """Remove a table and all of its data. The table's stream stays readable for 24 hours."""
    table_id = table.stored.layout.id
    if table.keeps_history:
        writer.archives.end_history(table_id)
    drop_replication(writer, table)
    for index in table.vector_indexes:
        writer.vectors.drop(table_id, index.number)
    writer.drop_table(table.stored)


def clear_waste(storage: Storage) -> None:
    """Remove discarded data in chunks of one transaction each. Other processes can remove data concurrently."""
    is_left = storage.read(lambda reader: reader.has_waste())
    while is_left:
        storage.let_others_in()
        is_left = not storage.write(lambda writer: writer.clear_waste())


def drop_replication(writer: Writer, table: Table) -> None:
    replication = replication_of(table)
    if replication is not None:
        writer.replicas.end(table.stored.layout.id)
        for region in replication["Regions"]:
            writer.archives.drop_record("replica", f"{table.name}/{region}")


def forget_note(writer: Writer, table: Table) -> None:
    writer.define(table.stored.layout.id, json.dumps(without_note(table.definition)))


def store_generation(writer: Writer, table: Table, definition: Mapping[str, Any]) -> None:
    """Store a definition as a new generation, so that processes with the previous generation reload it."""
    writer.change_indexes(table.stored, next_layout(definition, table.stored.layout), json.dumps(definition))


MEMBER = "Replication"
"""The member of a table's definition with ``Replication``."""
VERSION = "2019.11.21"
VERSION_GONE = (
    "DynamoDB global tables version 2017.11.29 is not supported. We recommend using DynamoDB global tables version "
    "2019.11.21, instead of version 2017.11.29 (Legacy)."
)


class Replication(TypedDict):
    """The settings of a global table, which are stored in each of its regions."""

    Regions: list[str]
    Own: str
    Overrides: NotRequired[dict[str, dict[str, Any]]]
    Strong: NotRequired[bool]
    """Whether writes are in all regions before they are acknowledged."""
    Witness: NotRequired[str]
    Scaling: NotRequired[dict[str, dict[str, dict[str, Any]]]]
    """Auto scaling settings of Read and Write, by region and index name (``""`` is the table)."""


def replication_of(table: Table) -> Replication | None:
    replication: Replication | None = table.definition.get(MEMBER)
    return replication


def global_table_not_found(name: str) -> service_errors.GlobalTableNotFoundException:
    return service_errors.GlobalTableNotFoundException(
        f"Global table not found: Global table with name: '{name}' does not exist."
    )


def settings_not_found(name: str) -> service_errors.GlobalTableNotFoundException:
    return service_errors.GlobalTableNotFoundException(f"Global table with name: '{name}' does not exist.")


def no_replicas(name: str) -> service_errors.ResourceNotFoundException:
    return service_errors.ResourceNotFoundException(f"Global table with name: '{name}' does not exist.")
