"""The table that the studio shows, with or without a design."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from keyplan.client.conversations import Request, Transport, converse
from keyplan.client.table_setup import describe_table
from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.urls import parse_url
from keyplan.errors import StoreError
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.table import Table
from keyplan.session.design import Design
from keyplan.studio.items import Item, Kind, identity, key_of, kind_of, place_attributes

NO_TABLE = "no-table"
"""The name of the table if the studio has no table."""


@dataclass(frozen=True)
class Subject:
    """A table, its store, and its design (None: opened without a design). ``writable``: whether writes are allowed."""

    name: str
    table: Table
    table_name: str
    transport: Transport
    url: str
    local: bool
    writable: bool
    design: Design | None = None

    @property
    def compiled(self) -> CompiledDesign | None:
        return None if self.design is None else self.design.compiled

    def kind_of(self, item: Item) -> Kind:
        return kind_of(item, self.compiled, self.table)

    def key_of(self, item: Item) -> dict[str, Any]:
        return key_of(item, self.table)

    def identity_of(self, item: Item) -> str:
        return identity(self.key_of(item))

    def index(self, name: str | None) -> Index | None:
        return next((index for index in self.table.indexes if index.name == name), None)

    def key_attributes(self, index: Index | None) -> tuple[Sequence[KeyAttribute], Sequence[KeyAttribute]]:
        return place_attributes(self.table, index)


def of_design(design: Design, *, writable: bool | None = None) -> Subject:
    """The subject of an opened design. By default, only a local store is writable."""
    store, compiled = design.store, design.compiled
    may_write = store.local if writable is None else writable
    return Subject(
        compiled.name, compiled.table, store.table_name, store.transport, store.url, store.local, may_write, design
    )


def of_uncompiled(design: type[Design]) -> Subject:
    """The subject of a design that can't be compiled yet. The studio can only plan the design's keys."""
    table: Table = design.table
    return Subject(design.__name__, table, table.name, _Nowhere(), "no store: the design has errors", True, False)


def of_file(name: str) -> Subject:
    """The subject of a file whose design can't be opened. The subject has no table."""
    return Subject(name, Table(NO_TABLE), NO_TABLE, _Nowhere(), "no store: the design can't be opened", True, False)


class _Nowhere:
    """The store of a design that can't be opened."""

    def call(self, operation: str, _parameters: dict[str, Any], /) -> dict[str, Any]:
        raise StoreError(f"the design can't be opened, so {operation} can't run", hint="fix the design's module first")

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        return [self.call(operation, parameters) for operation, parameters in requests]


def described(description: Mapping[str, Any]) -> Table:
    types = {
        definition["AttributeName"]: definition["AttributeType"] for definition in description["AttributeDefinitions"]
    }
    (partition,), sort = _keys(description["KeySchema"], types)
    indexes = [
        _index(value, types, local=local)
        for member, local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True))
        for value in sorted(description.get(member) or (), key=itemgetter("IndexName"))
    ]
    return Table(description["TableName"], indexes=indexes, partition=partition, sort=sort[0] if sort else None)


def _index(given: Mapping[str, Any], types: Mapping[str, Any], *, local: bool) -> Index:
    partition, sort = _keys(given["KeySchema"], types)
    kind = given["Projection"]["ProjectionType"]
    included = tuple(given["Projection"].get("NonKeyAttributes") or ()) if kind == "INCLUDE" else kind
    return Index(given["IndexName"], partition, sort or None, projection=included, local=local)


def _keys(schema: Any, types: Mapping[str, Any]) -> tuple[list[KeyAttribute], list[KeyAttribute]]:
    result: dict[str, list[KeyAttribute]] = {"HASH": [], "RANGE": []}
    for value in schema:
        result[value["KeyType"]].append(KeyAttribute(value["AttributeName"], types[value["AttributeName"]]))
    return result["HASH"], result["RANGE"]


UNNAMED = "..."
"""The placeholder for the table name of a URL without a table."""
LISTED_MAX = 1000
"""Maximum number of listed tables. Other tables can only be opened by URL."""


@dataclass(frozen=True)
class Endpoint:
    """The tables of an endpoint. ``table`` is shown first; ``others``: whether users can choose other tables."""

    url: str
    transport: Transport = field(repr=False)
    local: bool
    writable: bool
    table: str
    others: bool

    def names(self) -> list[str]:
        return _names(self.transport) if self.others else [self.table]

    def subject(self, name: str) -> Subject:
        result = converse(describe_table(name), self.transport)
        if result is None:
            raise StoreError(f"{self.url} has no table {name}", hint="check the region and account, or create a table")
        return Subject(name, described(result), name, self.transport, self.url, self.local, self.writable)


@contextmanager
def browsed(url: str, *, writable: bool | None = None) -> Generator[Endpoint]:
    """The endpoint of a URL, with all tables if the URL contains no table. Raises StoreError if there are no tables."""
    location = parse_url(url, UNNAMED)
    backend = DynamoDB(location)
    try:
        others = location.table == UNNAMED
        name = location.table
        if others:
            names = _names(backend.transport)
            if not names:
                raise StoreError(f"{url} has no table", hint="create a table there, or use another endpoint")
            name = names[0]
        may_write = location.local if writable is None else writable
        yield Endpoint(url, backend.transport, location.local, may_write, name, others)
    finally:
        backend.close()


def _names(transport: Transport) -> list[str]:
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
