"""``keyplan create``: create a design's table, or add the table's missing indexes."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import db_option, name_argument, reports_errors

if TYPE_CHECKING:
    from keyplan.cli.designs import Found
    from keyplan.client.conversations import Transport


@click.command(
    "create",
    short_help="Create a design's table, or add its missing indexes.",
    epilog="""\b
Examples:
  keyplan create cms
  keyplan create designs.py:Shop --db shop.db
""",
)
@name_argument
@db_option
@reports_errors
def command(name: str, db: str | None) -> None:
    """Create the table of the design NAME. If the table exists, add its missing indexes, and remove nothing."""
    from keyplan.cli.designs import find

    result = find(name)
    where = result.db(db)
    for line in _create(result, where):
        click.echo(line)
    with result.open(db, create=False):
        pass  # open() compares the table with the design, and raises StoreError if they differ


@contextmanager
def open_store(result: Found, where: str, *, create: bool = True) -> Generator[tuple[Transport, str]]:
    """The store's transport, and the name of the table in the store. The table isn't compared with the design."""
    from keyplan.client.transports.dynamodb import DynamoDB
    from keyplan.client.transports.embedded import Embedded
    from keyplan.client.transports.urls import is_url, parse_url
    from keyplan.store import Engine

    name = result.design.table.name
    if is_url(where):
        location = parse_url(where, name)
        with closing(DynamoDB(location)) as backend:
            yield backend.transport, location.table
    else:
        with Engine.open(where, create=create) as engine:
            yield Embedded(engine.call), name


def _create(result: Found, where: str) -> Iterator[str]:
    from keyplan.client import table_setup
    from keyplan.client.conversations import converse

    attribute = result.design.compiled.ttl_attribute
    with open_store(result, where) as (store, name):
        wanted = result.design.table.create_request(name)
        there = converse(table_setup.describe_table(name), store)
        if there is None:
            converse(table_setup.create_table(wanted, None), store)
            indexes = ", ".join(index.name for index in result.design.table.indexes)
            yield f"Created the table {name} in {where}" + (f", with {indexes}." if indexes else ".")
        else:
            there = converse(table_setup.until_ready(name, there), store)
            wrong = table_setup.unmended(wanted, there)
            if wrong:  # the table may belong to another application: don't change it
                raise table_setup.mismatch(wrong, where, name)
            added = converse(table_setup.add_indexes(wanted, there), store)
            yield from (f"Added the index {text} to the table {name} in {where}." for text in added)
            if not added:
                yield f"The table {name} already exists in {where}, with all of its indexes."
        if attribute is not None and converse(table_setup.expire_items(name, attribute), store):
            yield f"Time to live (TTL) is enabled on the attribute {attribute}."
