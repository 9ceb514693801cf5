"""Any table at an endpoint, without a design: its description is what is known of it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from keyplan.client.conversations import converse
from keyplan.client.tables import describe_table
from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.urls import parse_url
from keyplan.errors import StoreError
from keyplan.studio.subject import Subject, described

__all__ = ["browsed"]

UNNAMED = "..."
"""Stands for the table's name where the URL has none: nobody calls a table so."""


@contextmanager
def browsed(url: str, *, writable: bool | None = None) -> Generator[Subject]:
    """The table that a URL names; where it names none, the only one there is. Raises StoreError."""
    location = parse_url(url, UNNAMED)
    backend = DynamoDB(location)
    try:
        name = location.table
        if name == UNNAMED:
            names = backend.transport.call("ListTables", {})["TableNames"]
            if len(names) != 1:
                listed = ", ".join(names[:20]) or "none"
                raise StoreError(f"{url} has {len(names)} tables: {listed}", hint=f"name one of them: {url}/NAME")
            name = names[0]
        found = converse(describe_table(name), backend.transport)
        if found is None:
            raise StoreError(
                f"{url} has no table {name}", hint="another region or account has it, or it has yet to be made"
            )
        yield Subject(
            name=name,
            table=described(found),
            table_name=name,
            transport=backend.transport,
            url=url,
            local=location.local,
            writable=location.local if writable is None else writable,
        )
    finally:
        backend.close()
