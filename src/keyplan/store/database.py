"""The state that operations share: the storage, the cached catalog of tables, and a clock."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from keyplan.dynamodb.service_errors import table_not_found
from keyplan.errors import KeyplanError
from keyplan.store.background_work import Inline
from keyplan.store.items.stored_items import decode
from keyplan.store.state_delays import States, check_readable, is_gone, is_left_undone, is_over, is_usable, states_of
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.streams import Recorder, ShardLife
from keyplan.store.tables.item_keys import check_key_values
from keyplan.store.tables.resources import clear_waste, forget_note, forget_table
from keyplan.store.tables.table import Table, read_table
from keyplan.store.tables.table_description import Counts

if TYPE_CHECKING:
    from keyplan.store.simulation import IndexLag, Meter

_log = logging.getLogger("keyplan.engine")

T = TypeVar("T")


_ARN_TABLE = ":table/"


def plain_name(name: str) -> str:
    if name.startswith("arn:") and _ARN_TABLE in name:
        return name.split(_ARN_TABLE, 1)[1].split("/", 1)[0]
    return name


class Group(Protocol):
    """The stores of several regions."""

    @property
    def names(self) -> list[str]: ...

    def database(self, region: str) -> Database: ...

    def finish_strong(self) -> None: ...

    def finish(self) -> None: ...


class Database:
    """The store with its cached catalog.

    Because the catalog is cached, operations don't need a SQL statement to read it. The cache can be stale: if a
    statement finds that the table's physical name has changed, it raises ``StaleTableError``, and the engine refreshes
    the cache and retries. A table that isn't cached is looked up before it is reported as missing.
    """

    def __init__(
        self,
        storage: Storage,
        clock: Callable[[], float] = time.time,
        show: Callable[[bytes], Any] = decode,
        shard_life: ShardLife | None = None,
        *,
        throttles: bool = False,
        index_lag_ms: float = 0.0,
        state_delay_s: float = 0.0,
        s3: str | None = None,
    ) -> None:
        self.storage = storage
        self.clock = storage.clock = clock
        self.show = show
        """Converts an item's stored bytes for a response that needs no decoded attributes."""
        self.s3 = s3
        """The folder that simulates Amazon S3."""
        self.group: Group | None = None
        self.jobs = Inline()
        self.go_on: Callable[[], None] = lambda: None
        """Continues abandoned work of another process or thread."""
        self.counts = Counts(storage)
        self.endpoint = "localhost"
        self.state_delay_s = state_delay_s
        self._tables: dict[str, Table] = {}
        self._settled: dict[str, Table] = {}
        """Cached tables without transitional states, which are most."""
        self.recorder = Recorder(clock, shard_life or ShardLife())
        self.meter: Meter | None = None
        self.lag: IndexLag | None = None
        if throttles or index_lag_ms:
            from keyplan.store.simulation import IndexLag, Meter  # noqa: PLC0415 - few stores simulate throttling or delays

            self.meter = Meter(clock) if throttles else None
            self.lag = IndexLag(storage, clock, index_lag_ms / 1000) if index_lag_ms else None
        self.charge = None if self.meter is None else self.meter.write

    @property
    def region(self) -> str:
        return self.storage.region

    def table(self, name: str, key: dict[str, Any] | None = None) -> Table:
        """The table of an operation on items. An invalid ``key`` (ValueFault) is reported before a missing table."""
        table = self._settled.get(name) or self._find_usable(name)
        if table is None:
            if key is not None:
                check_key_values(key)
            raise table_not_found()
        return table

    def described_table(self, name: str) -> Table:
        """The table of an operation on tables, in its current state. Raises ResourceNotFoundException."""
        table = self.shown_table(name)
        if not table.is_settled and self.states(table).restoring:
            raise table_not_found(plain_name(name))
        return table

    def shown_table(self, name: str) -> Table:
        """The table for DescribeTable, including one that is being restored. Raises ResourceNotFoundException."""
        table = self.find(name)
        if table is not None and self.goes_on_with(table):
            table = self.find(name)
        if table is None:
            raise table_not_found(plain_name(name))
        return table

    def goes_on_with(self, table: Table) -> bool:
        """Finish a table's abandoned work, immediately or in the background; returns whether it had abandoned work."""
        if not table.has_work or self.storage.is_joined or not is_left_undone(table.definition):
            return False
        self.jobs.run(self.go_on)
        return True

    def goes_on_with_all(self) -> bool:
        """Finish all tables' abandoned work, because abandoned work can use a resource of another table."""
        return any(self.goes_on_with(table) for table in self.all_tables())

    def find(self, name: str) -> Table | None:
        self.refresh()
        table = self._tables.get(plain_name(name))
        if table is not None and not table.is_settled and self._finish():
            table = self._tables.get(plain_name(name))
        return table

    def _find_usable(self, name: str) -> Table | None:
        table = self.find(name)
        if table is None or table.is_settled or is_usable(states_of(table.definition, self.clock())):
            return table
        return None

    def check_index(self, table: Table, name: str, check: Callable[[States, str], None] = check_readable) -> None:
        """Reject reading or searching an index during its backfill. Raises ValidationException."""
        if not table.is_settled:
            self.goes_on_with(table)
            check(self.states(self._tables.get(table.name) or table), name)

    def states(self, table: Table) -> States:
        return states_of(table.definition, self.clock())

    def _finish(self) -> bool:
        """End due states: remove their notes and deleted tables; returns whether there were any."""
        now_s = self.clock()

        def work(writer: Writer) -> None:
            for table in self.fresh(writer).values():
                if is_over(table.definition, now_s):
                    forget_table(writer, table) if is_gone(table.definition, now_s) else forget_note(writer, table)

        if not any(is_over(table.definition, now_s) for table in self._tables.values()):
            return False
        self.write(work)
        return self.refresh()

    def all_tables(self) -> list[Table]:
        """All tables from the current catalog, by name."""
        self.refresh()
        if len(self._settled) < len(self._tables):
            self._finish()
        return list(self._tables.values())

    def known_tables(self) -> list[Table]:
        return list(self._tables.values())

    def refresh(self) -> bool:
        """Reload the catalog; returns whether it changed. Unchanged tables are reused."""
        before = self._tables
        self._tables = self.storage.read(self.fresh)
        if self._tables == before:
            return False
        self._settled = {name: table for name, table in self._tables.items() if table.is_settled}
        if self.lag is not None:
            self.lag.forget()
        return True

    def fresh(self, reader: Reader | Writer) -> dict[str, Table]:
        known = self._tables
        tables: dict[str, Table] = {}
        for record in reader.tables({name: table.record for name, table in known.items()}):
            table = known.get(record.name)
            if table is None or table.record is not record:
                table = read_table(record, self.storage, self.recorder)
            tables[record.name] = table
        return tables

    def present_table(self, writer: Writer, name: str) -> Table | None:
        """The existing table with the name of a table to create; None after removing a table whose deletion is due."""
        table = self.fresh(writer).get(name)
        if table is None or not is_gone(table.definition, self.clock()):
            return table
        forget_table(writer, table)
        return None

    def write(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in one transaction. Discarded data is removed immediately or in the background."""
        if self.lag is not None:
            self.lag.remember()
        storage = self.storage
        before = storage.thrown_away
        result = storage.write(work)
        if storage.thrown_away != before and not storage.is_joined:
            self.jobs.run(self.clear_waste)
        return result

    def clear_waste(self) -> None:
        """Remove discarded data. Never raises: a failed removal is retried at the next removal or the next start."""
        try:
            clear_waste(self.storage)
        except KeyplanError as error:
            _log.error("Can't free the disk space of deleted data; Keyplan will retry: %s", error)
