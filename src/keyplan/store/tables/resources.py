"""The resources that ARNs name: tables and their streams, and the errors of those that can't be resolved."""

from __future__ import annotations

import re
from typing import NamedTuple

from keyplan.dynamodb.limits import NAME_PATTERN
from keyplan.dynamodb.service_errors import ResourceNotFoundException, ValidationException, one_or_more
from keyplan.store.streams.stream_lifecycle import STREAM
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
    """Refuse what isn't the ARN of a backup, an export or an import.

    Raises:
        ValidationException: it isn't.
    """
    match = _JOB.fullmatch(arn)
    if match is None or match["kind"] != kind:
        raise ValidationException(f"Invalid {title} ARN")


def stream_not_found(resource: Resource) -> ResourceNotFoundException:
    """The error of a stream that isn't there."""
    return ResourceNotFoundException(
        f"Requested resource not found: Stream: {resource.stream} not found for Table: {resource.table}"
    )


def check_stream(table: Table, resource: Resource) -> None:
    """Refuse a stream that the table hasn't.

    Raises:
        ResourceNotFoundException: it hasn't.
    """
    latest = table.definition.get(STREAM) or {}
    if resource.stream is not None and resource.stream != latest.get("Label"):
        raise stream_not_found(resource)


def policy_member(resource: Resource) -> str:
    """The member of a table's definition that holds the policy of the table, or of its stream."""
    return "ResourcePolicy" if resource.stream is None else f"ResourcePolicy/stream/{resource.stream}"
