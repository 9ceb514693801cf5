"""``keyplan create``: make a design's table, or add to it what it lacks."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from keyplan.cli.options import db_option, name_argument, tells_errors

if TYPE_CHECKING:
    from keyplan.cli.designs import Found
    from keyplan.engine import Engine

__all__ = ["command"]

_WAIT_SECONDS = 0.2
_WAITS_MAX = 1500


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


def _create(found: Found, where: str) -> Iterator[str]:
    """Do what is missing, and say it."""
    from keyplan.engine import Engine
    from keyplan.errors import DynamoDBError

    if where.startswith("dynamodb"):
        found.open(where, create=True).close()
        return
    table = found.design.table
    wanted = table.create_request()
    with Engine.open(where) as engine:
        try:
            there = engine.call("DescribeTable", {"TableName": table.name})["Table"]
        except DynamoDBError as error:
            if error.type != "ResourceNotFoundException":
                raise
            engine.call("CreateTable", wanted)
            indexes = ", ".join(index.name for index in table.indexes)
            yield f"Created the table {table.name} in {where}" + (f", with {indexes}." if indexes else ".")
        else:
            added = list(_add_indexes(engine, wanted, there))
            yield from (f"Added the index {one} to the table {table.name} in {where}." for one in added)
            if not added:
                yield f"The table {table.name} is there in {where}; nothing to do."
        yield from _expire(engine, found)


def _add_indexes(engine: Engine, wanted: dict[str, Any], there: dict[str, Any]) -> Iterator[str]:
    """Add the global indexes that the table lacks, one an UpdateTable as DynamoDB wants it."""
    known = {one["IndexName"] for one in there.get("GlobalSecondaryIndexes", ())}
    for index in wanted.get("GlobalSecondaryIndexes", ()):
        if index["IndexName"] in known:
            continue
        names = {one["AttributeName"] for one in (*wanted["KeySchema"], *index["KeySchema"])}
        engine.call(
            "UpdateTable",
            {
                "TableName": wanted["TableName"],
                "AttributeDefinitions": [
                    one for one in wanted["AttributeDefinitions"] if one["AttributeName"] in names
                ],
                "GlobalSecondaryIndexUpdates": [{"Create": index}],
            },
        )
        _until_active(engine, wanted["TableName"])
        yield index["IndexName"]


def _until_active(engine: Engine, table: str) -> None:
    """Wait until the index is filled."""
    for _ in range(_WAITS_MAX):
        found = engine.call("DescribeTable", {"TableName": table})["Table"]
        states = [found["TableStatus"], *(one["IndexStatus"] for one in found.get("GlobalSecondaryIndexes", ()))]
        if set(states) == {"ACTIVE"}:
            return
        time.sleep(_WAIT_SECONDS)


def _expire(engine: Engine, found: Found) -> Iterator[str]:
    """Switch on expiry by the design's TTL field, where it has one."""
    attributes = {one.ttl.attribute for one in found.design.compiled.entities.values() if one.ttl is not None}
    if not attributes:
        return
    table = found.design.table.name
    state = engine.call("DescribeTimeToLive", {"TableName": table})["TimeToLiveDescription"]
    for attribute in sorted(attributes)[:1]:
        if state.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"} and state.get("AttributeName") == attribute:
            continue
        engine.call(
            "UpdateTimeToLive",
            {"TableName": table, "TimeToLiveSpecification": {"AttributeName": attribute, "Enabled": True}},
        )
        yield f"Items expire by {attribute}."
