"""``keyplan create``: make a design's table, or add to it what it lacks."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from keyplan.cli.options import db_option, name_argument, tells_errors

if TYPE_CHECKING:
    from keyplan.cli.designs import Found
    from keyplan.client.conversations import Transport

__all__ = ["command"]

_WAIT_SECONDS = 0.5
_WAITS_MAX = 1200


@click.command(
    "create",
    short_help="Make a design's table, or add the indexes it lacks.",
    epilog="""\b
Examples:
  keyplan create cms
  keyplan create designs.py:Shop --db shop.db
""",
)
@name_argument
@db_option
@tells_errors
def command(name: str, db: str | None) -> None:
    """Make the table of the design NAME. Where it is there already, missing indexes are added; nothing is removed."""
    from keyplan.cli.designs import find

    found = find(name)
    where = found.db(db)
    for line in _create(found, where):
        click.echo(line)
    with found.open(db, create=False):
        pass  # opening compares the table with the design, and tells what is wrong


@contextmanager
def _store(found: Found, where: str) -> Generator[tuple[Transport, str]]:
    """The store's transport, and the table's name there. The store isn't compared with the design yet."""
    from keyplan.client.transports.dynamodb import DynamoDB
    from keyplan.client.transports.embedded import Embedded
    from keyplan.client.transports.urls import is_dynamodb_url, parse_url
    from keyplan.engine import Engine

    name = found.design.table.name
    if is_dynamodb_url(where):
        location = parse_url(where, name)
        with closing(DynamoDB(location)) as backend:
            yield backend.transport, location.table
    else:
        with Engine.open(where) as engine:
            yield Embedded(engine.call), name


def _create(found: Found, where: str) -> Iterator[str]:
    """Do what is missing, and say it."""
    from keyplan.errors import DynamoDBError

    with _store(found, where) as (store, name):
        wanted = found.design.table.create_request(name)
        try:
            there = store.call("DescribeTable", {"TableName": name})["Table"]
        except DynamoDBError as error:
            if error.type != "ResourceNotFoundException":
                raise
            store.call("CreateTable", wanted)
            _until_active(store, name)
            indexes = ", ".join(index.name for index in found.design.table.indexes)
            yield f"Created the table {name} in {where}" + (f", with {indexes}." if indexes else ".")
        else:
            added = list(_add_indexes(store, wanted, there))
            yield from (f"Added the index {one} to the table {name} in {where}." for one in added)
            if not added:
                yield f"The table {name} is there in {where}, with its indexes."
        yield from _expire(store, name, found.design.compiled.ttl_attribute)


def _add_indexes(store: Transport, wanted: dict[str, Any], there: dict[str, Any]) -> Iterator[str]:
    """Add the global indexes that the table lacks, one an UpdateTable as DynamoDB wants it."""
    known = {one["IndexName"] for one in there.get("GlobalSecondaryIndexes", ())}
    for index in wanted.get("GlobalSecondaryIndexes", ()):
        if index["IndexName"] in known:
            continue
        names = {one["AttributeName"] for one in index["KeySchema"]}
        types = [one for one in wanted["AttributeDefinitions"] if one["AttributeName"] in names]
        request = {"AttributeDefinitions": types, "GlobalSecondaryIndexUpdates": [{"Create": index}]}
        store.call("UpdateTable", {"TableName": wanted["TableName"], **request})
        _until_active(store, wanted["TableName"])
        yield index["IndexName"]


def _until_active(store: Transport, name: str) -> None:
    """Wait until the table and its indexes are there, and filled."""
    from keyplan.errors import StoreError

    for _ in range(_WAITS_MAX):
        found = store.call("DescribeTable", {"TableName": name})["Table"]
        states = [found["TableStatus"], *(one["IndexStatus"] for one in found.get("GlobalSecondaryIndexes", ()))]
        if set(states) == {"ACTIVE"}:
            return
        time.sleep(_WAIT_SECONDS)
    raise StoreError(f"the table {name} isn't ready yet", hint="it goes on by itself; ask again later: keyplan create")


def _expire(store: Transport, name: str, attribute: str | None) -> Iterator[str]:
    """Let items expire by the design's Ttl field, where it has one."""
    if attribute is None:
        return
    state = store.call("DescribeTimeToLive", {"TableName": name})["TimeToLiveDescription"]
    if state.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"} and state.get("AttributeName") == attribute:
        return
    setting = {"AttributeName": attribute, "Enabled": True}
    store.call("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": setting})
    yield f"Items expire by {attribute}."
