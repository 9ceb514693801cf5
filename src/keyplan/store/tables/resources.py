"""The resources that ARNs name, what removing a table removes with it, and what a table's definition says of replicas.

The operations of global tables of version 2017 are refused, as at AWS. A table of version 2019 has ``Replication`` in
its definition; ``keyplan.store.multi_region`` copies what is written in one region to the others.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NotRequired, TypedDict

from keyplan.dynamodb.limits import NAME_PATTERN
from keyplan.dynamodb.service_errors import (
    GlobalTableNotFoundException,
    ResourceNotFoundException,
    ValidationException,
    one_or_more,
)
from keyplan.store.state_delays import without_note
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.streams import STREAM
from keyplan.store.tables.table import Table

_RESOURCE = re.compile(
    rf"arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{{12}}:table/(?P<table>{NAME_PATTERN})(?:/stream/(?P<stream>[^/]+))?"
)
_INDEX = re.compile(rf"arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{{12}}:table/{NAME_PATTERN}/index/")
_JOB = re.compile(rf"arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{{12}}:table/{NAME_PATTERN}/(?P<kind>[a-z-]+)/[0-9a-f-]+")


class Resource(NamedTuple):
    """A table, or one of its streams by its label."""

    table: str
    stream: str | None


def resource_of(arn: str) -> Resource:
    """The table or stream that an ARN names. Any region and any account will do.

    Raises:
        ValidationException: it is the ARN of neither.
    """
    if not arn.startswith("arn:"):
        raise one_or_more(f"ARNs must start with 'arn:': {arn}")
    match = _RESOURCE.fullmatch(arn)
    if match is None and _INDEX.match(arn):
        raise one_or_more(
            f"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )
    if match is None:
        raise one_or_more(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    return Resource(match["table"], match["stream"])


def check_job_arn(arn: str, kind: str, title: str) -> None:
    """Refuse what isn't the ARN of a backup, an export or an import. Raises ValidationException."""
    match = _JOB.fullmatch(arn)
    if match is None or match["kind"] != kind:
        raise ValidationException(f"Invalid {title} ARN")


def stream_not_found(resource: Resource) -> ResourceNotFoundException:
    """The error of a stream that isn't there."""
    return ResourceNotFoundException(
        f"Requested resource not found: Stream: {resource.stream} not found for Table: {resource.table}"
    )


def check_stream(table: Table, resource: Resource) -> None:
    """Refuse a stream that the table hasn't. Raises ResourceNotFoundException."""
    latest = table.definition.get(STREAM) or {}
    if resource.stream is not None and resource.stream != latest.get("Label"):
        raise stream_not_found(resource)


def policy_member(resource: Resource) -> str:
    """The member of a table's definition that holds the policy of the table, or of its stream."""
    return "ResourcePolicy" if resource.stream is None else f"ResourcePolicy/stream/{resource.stream}"


def forget_table(writer: Writer, table: Table) -> None:
    """Remove a table: its items and entries, its history, and what was noted for other regions. Its stream stays, which
    is read for another day.
    """
    table_id = table.stored.layout.id
    if table.keeps_history:
        writer.archives.end_history(table_id)
    drop_replication(writer, table)
    for index in table.vector_indexes:
        writer.vectors.drop(table_id, index.number)
    writer.drop_table(table.stored)


def clear_waste(storage: Storage) -> None:
    """Empty what was thrown away, in pieces, each a transaction of its own. Others may do the same meanwhile.

    Raises:
        StoreError: the store failed. What is left is left for the next who comes.
    """
    is_left = storage.read(lambda reader: reader.has_waste())
    while is_left:
        storage.let_others_in()
        is_left = not storage.write(lambda writer: writer.clear_waste())


def drop_replication(writer: Writer, table: Table) -> None:
    """Forget what was noted of a replica that goes."""
    replication = replication_of(table)
    if replication is not None:
        writer.replicas.end(table.stored.layout.id)
        for region in replication["Regions"]:
            writer.archives.drop_record("replica", f"{table.name}/{region}")


def forget_note(writer: Writer, table: Table) -> None:
    """Take away the note of what went on, and is over."""
    writer.define(table.stored.layout.id, json.dumps(without_note(table.definition)))


MEMBER = "Replication"
"""The member of a table's definition: see ``Replication``."""
VERSION = "2019.11.21"
VERSION_GONE = (
    "DynamoDB global tables version 2017.11.29 is not supported. We recommend using DynamoDB global tables version "
    "2019.11.21, instead of version 2017.11.29 (Legacy)."
)


class Replication(TypedDict):
    """What is stored of a global table, in each of its regions."""

    Regions: list[str]
    """All regions, the table's own included, in the order in which they came."""
    Own: str
    """The region of this one."""
    Overrides: NotRequired[dict[str, dict[str, Any]]]
    """By region: what was set apart for its replica."""
    Strong: NotRequired[bool]
    """Whether a write is in all regions when it is acknowledged."""
    Witness: NotRequired[str]
    Scaling: NotRequired[dict[str, dict[str, dict[str, Any]]]]
    """By region, and by the index's name (the table's is ``""``): the auto scaling settings of Read and Write."""


def replication_of(table: Table) -> Replication | None:
    """What the table's definition says of replicas; None when it has none."""
    replication: Replication | None = table.definition.get(MEMBER)
    return replication


def global_table_not_found(name: str) -> GlobalTableNotFoundException:
    """The error of a global table of the version of 2017."""
    return GlobalTableNotFoundException(f"Global table not found: Global table with name: '{name}' does not exist.")


def settings_not_found(name: str) -> GlobalTableNotFoundException:
    """The error of the settings of such a table."""
    return GlobalTableNotFoundException(f"Global table with name: '{name}' does not exist.")


def no_replicas(name: str) -> ResourceNotFoundException:
    """The error of a table that has no replicas, or isn't there."""
    return ResourceNotFoundException(f"Global table with name: '{name}' does not exist.")
