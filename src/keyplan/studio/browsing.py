"""Any table at an endpoint, without a design: its description is what is known of it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from keyplan.client.conversations import Transport, converse
from keyplan.client.table_setup import describe_table
from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.urls import parse_url
from keyplan.errors import StoreError
from keyplan.studio.subject import Subject, described

__all__ = ["Endpoint", "browsed"]

UNNAMED = "..."
"""Stands for the table's name where the URL has none: nobody calls a table so."""
LISTED_MAX = 1000
"""Tables that are offered; any other is named in the URL."""


@dataclass(frozen=True)
class Endpoint:
    """Where tables are. ``table`` is the name of the one that is looked at first; ``others``: whether any other may be
    chosen in the page.
    """

    url: str
    transport: Transport = field(repr=False)
    local: bool
    writable: bool
    table: str
    others: bool

    def names(self) -> list[str]:
        """The tables that may be chosen, in their order. Raises DynamoDBError, StoreError."""
        return _names(self.transport) if self.others else [self.table]

    def subject(self, name: str) -> Subject:
        """One of the tables. Raises StoreError where there is none of this name."""
        result = converse(describe_table(name), self.transport)
        if result is None:
            raise StoreError(
                f"{self.url} has no table {name}", hint="another region or account has it, or it has yet to be made"
            )
        return Subject(
            name=name,
            table=described(result),
            table_name=name,
            transport=self.transport,
            url=self.url,
            local=self.local,
            writable=self.writable,
        )


@contextmanager
def browsed(url: str, *, writable: bool | None = None) -> Generator[Endpoint]:
    """The endpoint of a URL. Without a table in the URL all of its tables can be looked at. Raises StoreError where
    there is none.
    """
    location = parse_url(url, UNNAMED)
    backend = DynamoDB(location)
    try:
        others = location.table == UNNAMED
        name = location.table
        if others:
            names = _names(backend.transport)
            if not names:
                raise StoreError(f"{url} has no table", hint="make a table there first, or name another endpoint")
            name = names[0]
        may_write = location.local if writable is None else writable
        yield Endpoint(url, backend.transport, location.local, may_write, name, others)
    finally:
        backend.close()


def _names(transport: Transport) -> list[str]:
    """The names of an endpoint's tables. Raises DynamoDBError, StoreError."""
    result: list[str] = []
    start: dict[str, str] = {}
    while len(result) < LISTED_MAX:
        answer = transport.call("ListTables", start)
        result += answer["TableNames"]
        last = answer.get("LastEvaluatedTableName")
        if last is None:
            break
        start = {"ExclusiveStartTableName": last}
    return sorted(result[:LISTED_MAX])
