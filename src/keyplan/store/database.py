"""The state that operations work on: the storage, the tables as last read from its catalog, and a clock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from keyplan.dynamodb.service_errors import table_not_found
from keyplan.errors import KeyplanError
from keyplan.store.background_work import Inline, Runner
from keyplan.store.items.stored_items import decode
from keyplan.store.simulation import IndexLag, Meter
from keyplan.store.state_delays import (
    States,
    check_readable,
    check_searchable,
    is_gone,
    is_left_undone,
    is_over,
    is_usable,
    states_of,
)
from keyplan.store.storage.key_layouts import TableRecord
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.streams import Recorder, ShardLife
from keyplan.store.tables.item_keys import check_key_values
from keyplan.store.tables.resources import clear_waste, forget_note, forget_table
from keyplan.store.tables.table import Table, read_table
from keyplan.store.tables.table_description import Counts

_log = logging.getLogger("keyplan.engine")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Realism:
    """What of the service's behaviour under load is wanted; nothing, if not said otherwise."""

    throttles: bool = False
    """Refuse what exceeds the throughput of tables, indexes and partitions (``store.simulation.throttling``)."""
    index_lag_ms: float = 0.0
    """How many milliseconds after a write an index shows it (``keyplan.store.simulation``)."""
    state_delay_s: float = 0.0
    """How many seconds tables and indexes are being created, changed and deleted (``keyplan.store.state_delays``)."""


_ARN_TABLE = ":table/"


def plain_name(name: str) -> str:
    """The name of a table given by its name or by its ARN."""
    if name.startswith("arn:") and _ARN_TABLE in name:
        return name.split(_ARN_TABLE, 1)[1].split("/", 1)[0]
    return name


class Group(Protocol):
    """The stores of several regions."""

    @property
    def names(self) -> list[str]:
        """The regions."""
        ...

    def database(self, region: str) -> Database:
        """What the actions of a region work on."""
        ...

    def finish_strong(self) -> None:
        """Bring over all that was written in tables that are strongly consistent."""
        ...

    def finish(self) -> None:
        """Bring over all that was written, however lately."""
        ...


class Database:
    """The store with its catalogue.

    The cached catalogue costs no statement per operation. It can be behind: then a statement on the table
    meets another physical name, raises ``StaleTableError``, and the engine refreshes and runs the action
    again. A table that isn't in the cache is looked for in the store before it is said to be missing.
    """

    def __init__(
        self,
        storage: Storage,
        clock: Callable[[], float],
        show: Callable[[bytes], Any] = decode,
        realism: Realism = Realism(),
        shard_life: ShardLife | None = None,
        s3: str | None = None,
    ) -> None:
        self.storage = storage
        self.clock = storage.clock = clock
        self.show = show
        """Makes of an item's stored bytes what an answer holds where nobody needs its attributes."""
        self.s3 = s3
        """The folder that stands in for Amazon S3."""
        self.group: Group | None = None
        """The stores of all regions, where there are several."""
        self.jobs: Runner = Inline()
        """Who does what an operation only begins."""
        self.go_on: Callable[[], None] = lambda: None
        """Goes on with what another process, or a thread, began and left half done."""
        self.counts = Counts(storage)
        self.endpoint = "localhost"
        """Where clients reach the store, as DescribeEndpoints tells it."""
        self.state_delay_s = realism.state_delay_s
        """How long states last."""
        self._tables: dict[str, Table] = {}
        self._settled: dict[str, Table] = {}
        """Those of them that are as they were asked for, as most are."""
        self.recorder = Recorder(clock, shard_life or ShardLife())
        """Records what is changed in tables with a stream."""
        self.meter = Meter(clock) if realism.throttles else None
        """Refuses what exceeds throughput, where that was asked for."""
        self.charge = None if self.meter is None else self.meter.write
        self.lag = IndexLag(storage, clock, realism.index_lag_ms / 1000) if realism.index_lag_ms else None
        """Reads indexes as they were, where that was asked for."""

    @property
    def region(self) -> str:
        """The region that this store is of."""
        return self.storage.region

    @region.setter
    def region(self, name: str) -> None:
        self.storage.region = name

    def table(self, name: str, key: dict[str, Any] | None = None) -> Table:
        """The table that an operation on items names.

        Raises:
            ResourceNotFoundException: there is none.
            ValueFault: nor is ``key`` made of attribute values, which is told first.
        """
        table = self._settled.get(name) or self._find_usable(name)
        if table is None:
            if key is not None:
                check_key_values(key)
            raise table_not_found()
        return table

    def described_table(self, name: str) -> Table:
        """The table that an operation on tables names, fresh from the catalogue.

        Raises:
            ResourceNotFoundException: there is none, or it is being restored; the message names it.
        """
        table = self.shown_table(name)
        if not table.is_settled and self.states(table).restoring:
            raise table_not_found(plain_name(name))
        return table

    def shown_table(self, name: str) -> Table:
        """The table that DescribeTable shows: also one that is being restored.

        Raises:
            ResourceNotFoundException: there is none; the message names it.
        """
        table = self.find(name)
        if table is not None and self.goes_on_with(table):
            table = self.find(name)
        if table is None:
            raise table_not_found(plain_name(name))
        return table

    def goes_on_with(self, table: Table) -> bool:
        """Let a table be finished that was left half done: at once, or behind; whether it was left so."""
        if not table.has_work or self.storage.is_joined or not is_left_undone(table.definition):
            return False
        self.jobs.run(self.go_on)
        return True

    def goes_on_with_all(self) -> None:
        """Let all tables be finished that were left half done: what belongs to one is in use for another."""
        any(self.goes_on_with(table) for table in self.all_tables())

    def find(self, name: str) -> Table | None:
        """A table fresh from the catalogue."""
        self.refresh()
        table = self._tables.get(plain_name(name))
        if table is not None and not table.is_settled and self._finish():
            table = self._tables.get(plain_name(name))
        return table

    def _find_usable(self, name: str) -> Table | None:
        """A table whose items can be read and written."""
        table = self.find(name)
        if table is None or table.is_settled or is_usable(states_of(table.definition, self.clock())):
            return table
        return None

    def check_index(self, table: Table, name: str) -> None:
        """Refuse to read an index that isn't filled yet. Raises ValidationException."""
        self._check_filled(table, name, check_readable)

    def check_vector_index(self, table: Table, name: str) -> None:
        """Refuse to search a vector index that isn't filled yet. Raises ValidationException."""
        self._check_filled(table, name, check_searchable)

    def _check_filled(self, table: Table, index: str, check: Callable[[States, str], None]) -> None:
        if not table.is_settled:
            self.goes_on_with(table)
            check(self.states(self._tables.get(table.name) or table), index)

    def states(self, table: Table) -> States:
        """The states of a table and its indexes."""
        return states_of(table.definition, self.clock())

    def _finish(self) -> bool:
        """Finish what is over: notes go, and so do deleted tables; whether there was something."""
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
        """Every table, fresh from the catalogue and by name."""
        self.refresh()
        if len(self._settled) < len(self._tables):
            self._finish()
        return list(self._tables.values())

    def known_tables(self) -> list[Table]:
        """Every table, as last read from the catalogue."""
        return list(self._tables.values())

    def refresh(self) -> bool:
        """Read the catalogue again; whether it differs. Tables that didn't change keep their compiled form."""
        before = self._tables
        self._tables = self._read(self.storage.tables())
        if self._tables == before:
            return False
        self._settled = {name: table for name, table in self._tables.items() if table.is_settled}
        if self.lag is not None:
            self.lag.forget()
        return True

    def fresh(self, reader: Reader | Writer) -> dict[str, Table]:
        """The tables as a transaction sees them."""
        return self._read(reader.tables())

    def present_table(self, writer: Writer, name: str) -> Table | None:
        """The table that has a name which is wanted for a new one. One whose deletion is over goes, and frees it."""
        table = self.fresh(writer).get(name)
        if table is None or not is_gone(table.definition, self.clock()):
            return table
        forget_table(writer, table)
        return None

    def write(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in one transaction of the store. What it throws away is cleared away at once, or behind."""
        if self.lag is not None:
            self.lag.remember()
        storage = self.storage
        before = storage.thrown_away
        result = storage.write(work)
        if storage.thrown_away != before and not storage.is_joined:
            self.jobs.run(self.clear_waste)
        return result

    def clear_waste(self) -> None:
        """Empty what was thrown away. It never raises: what can't be done now is so with what is thrown away next, or
        at the next start.
        """
        try:
            clear_waste(self.storage)
        except KeyplanError as error:
            _log.error("What was removed takes up room yet: %s", error)

    def _read(self, records: list[TableRecord]) -> dict[str, Table]:
        known = self._tables
        tables: dict[str, Table] = {}
        for record in records:
            table = known.get(record.name)
            if table is None or table.record != record:
                table = read_table(record, self.storage, self.recorder)
            tables[record.name] = table
        return tables
