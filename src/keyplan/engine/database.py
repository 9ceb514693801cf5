"""What the actions work on: the store, the tables as last read from its catalogue, and a clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from keyplan.engine.describe import Counts
from keyplan.engine.items import decode
from keyplan.engine.storage.port import Reader, Storage, TableRecord, Writer
from keyplan.engine.tables import Table, read_table
from keyplan.wire.errors import table_not_found

T = TypeVar("T")

_ARN_TABLE = ":table/"


def plain_name(name: str) -> str:
    """The name of a table given by its name or by its ARN."""
    if name.startswith("arn:") and _ARN_TABLE in name:
        return name.split(_ARN_TABLE, 1)[1].split("/", 1)[0]
    return name


class Database:
    """The store with its catalogue.

    The cached catalogue costs no statement per operation. It can be behind: then a statement on the table
    meets another physical name, raises ``StaleTableError``, and the engine refreshes and runs the action
    again. A table that isn't in the cache is looked for in the store before it is said to be missing.
    """

    def __init__(self, storage: Storage, clock: Callable[[], float], show: Callable[[bytes], Any] = decode) -> None:
        self.storage = storage
        self.clock = clock
        self.show = show
        """Makes of an item's stored bytes what an answer holds where nobody needs its attributes."""
        self.counts = Counts()
        self._tables: dict[str, Table] = {}

    def table(self, name: str) -> Table:
        """The table that an operation on items names.

        Raises:
            ResourceNotFoundException: there is none.
        """
        table = self._tables.get(name) or self.find(name)
        if table is None:
            raise table_not_found()
        return table

    def described_table(self, name: str) -> Table:
        """The table that an operation on tables names, fresh from the catalogue.

        Raises:
            ResourceNotFoundException: there is none; the message names it.
        """
        table = self.find(name)
        if table is None:
            raise table_not_found(plain_name(name))
        return table

    def find(self, name: str) -> Table | None:
        """A table fresh from the catalogue."""
        self.refresh()
        return self._tables.get(plain_name(name))

    def refresh(self) -> bool:
        """Read the catalogue again; whether it differs. Tables that didn't change keep their compiled form."""
        before = self._tables
        self._tables = self._read(self.storage.tables())
        return self._tables != before

    def fresh(self, reader: Reader | Writer) -> dict[str, Table]:
        """The tables as a transaction sees them."""
        return self._read(reader.tables())

    def write(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in one transaction of the store."""
        return self.storage.write(work)

    def _read(self, records: list[TableRecord]) -> dict[str, Table]:
        known = self._tables
        tables: dict[str, Table] = {}
        for record in records:
            table = known.get(record.name)
            if table is None or table.record != record:
                table = read_table(record, self.storage)
            tables[record.name] = table
        return tables
