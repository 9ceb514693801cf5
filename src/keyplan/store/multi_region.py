"""Several regions on one machine, with a store for each region and replication of global tables.

A write to a global table records its time and region. ``Regions.replicate`` copies each region's writes to the others
after the configured lag. The last writer wins; for equal times, the region whose name sorts last wins.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from keyplan.errors import RequestError
from keyplan.store.database import Database
from keyplan.store.engine import Engine
from keyplan.store.items.item_writes import perform
from keyplan.store.items.stored_items import SIGNS_OF_DAMAGE, damaged, decode
from keyplan.store.items.write_outcome import Put, Write
from keyplan.store.storage.history_rows import Noted
from keyplan.store.storage.key_layouts import Row
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.tables.resources import replication_of
from keyplan.store.tables.table import Table

_TOGETHER = 200
CURSOR = "replica"
"""The kind of the records with a region's progress in another region's writes."""


class Regions:
    """The open stores of several regions. Thread-safe."""

    def __init__(self, engines: Mapping[str, Engine], lag_ms: float = 0.0) -> None:
        self.engines = dict(engines)
        self._lag_us = int(lag_ms * 1000)
        self._lock = threading.Lock()
        for name, engine in self.engines.items():
            if name:
                engine.join(name, self if len(self.engines) > 1 else None)

    @classmethod
    def open(cls, path: str | PathLike[str], regions: Sequence[str], *, lag_ms: float = 0.0, **options: Any) -> Regions:
        """Open the stores of these regions. The first region uses the file at ``path``, the others use files next to it
        with the region in their names; or all stores are in memory. ``options`` are those of ``Engine.open``.

        Raises:
            StoreError: a file can't be opened.
            RequestError: a region occurs twice, or isn't a region's name.
        """
        are_names = list(regions) == [""] or all(re.fullmatch("[a-z0-9-]+", region) for region in regions)
        if len(set(regions)) < len(regions) or not regions or not are_names:
            raise RequestError("List at least one valid region name, and each name only once", place="regions")
        place = fspath(path)
        with ExitStack() as opened:
            engines = {
                region: opened.enter_context(Engine.open(place if not number else _path_of(place, region), **options))
                for number, region in enumerate(regions)
            }
            opened.pop_all()
        return cls(engines, lag_ms)

    @property
    def names(self) -> list[str]:
        return list(self.engines)

    def database(self, region: str) -> Database:
        return self.engines[region].database

    def replicate(self) -> int:
        """Replicate each region's writes to the others after the lag; returns the number of writes."""
        return self._replicate(self._lag_us, strong_only=False)

    def finish_strong(self) -> None:
        if any(_is_strong(table) for engine in self.engines.values() for table in engine.database.known_tables()):
            self._replicate(0, strong_only=True)

    def finish(self) -> None:
        self._replicate(0, strong_only=False)

    def close(self) -> None:
        for engine in self.engines.values():
            engine.close()

    def __enter__(self) -> Regions:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _replicate(self, lag_us: int, *, strong_only: bool) -> int:
        count = 0
        with self._lock:
            for region, engine in self.engines.items():
                for table in engine.database.all_tables():
                    replication = replication_of(table)
                    if replication is None or (strong_only and not _is_strong(table)):
                        continue
                    for source in replication["Regions"]:
                        if source != region and source in self.engines:
                            count += self._replicate_table(source, region, table, lag_us)
        return count

    def _replicate_table(self, source: str, region: str, table: Table, lag_us: int) -> int:
        here, there = self.database(region), self.database(source)
        until_us = int(there.clock() * 1_000_000) - lag_us
        count = 0
        while True:
            cursor = here.storage.read(lambda reader: reader.archives.record(CURSOR, f"{table.name}/{source}"))
            seq = 0 if cursor is None else int(cursor)
            written = partial(_written, there, name=table.name, source=source, since=seq, until_us=until_us)
            batch, last = there.storage.read(written)
            if last == seq:
                return count
            try:
                here.write(partial(_apply, here, name=table.name, source=source, batch=batch, end=last))
            except SIGNS_OF_DAMAGE as fault:
                raise damaged(fault, there.storage.place) from fault
            count += len(batch)


def _is_strong(table: Table) -> bool:
    replication = replication_of(table)
    return replication is not None and bool(replication.get("Strong"))


def _path_of(place: str, region: str) -> str:
    if place == ":memory:":
        return place
    path = Path(place)
    return str(path.with_name(f"{path.stem}.{region}{path.suffix}"))


_Batch = list[tuple[Noted, Row | None]]


def _written(there: Database, reader: Reader, name: str, source: str, since: int, until_us: int) -> tuple[_Batch, int]:
    """Some of a region's own writes after a number and up to a time, and the number reached."""
    table = there.fresh(reader).get(name)
    if table is None or replication_of(table) is None:
        return [], since
    batch: _Batch = []
    last = since
    for noted in reader.replicas.since(table.stored.layout.id, since):
        if noted.version[0] > until_us:
            break
        last = noted.seq
        if noted.version[1] == source:
            batch.append((noted, reader.get(table.stored, *noted.key)))
        if len(batch) == _TOGETHER:
            break
    return batch, last


def _apply(here: Database, writer: Writer, name: str, source: str, batch: _Batch, end: int) -> None:
    """Apply another region's writes, unless later ones exist here."""
    table = here.fresh(writer).get(name)
    if table is None or replication_of(table) is None:
        return
    for noted, row in batch:
        known = writer.replicas.version(table.stored.layout.id, noted.key)
        if known is not None and known >= noted.version:
            continue
        if row is None:
            write = Write(table, noted.key, removes=True, version=noted.version)
        else:
            size, body = row[0], row[1]
            write = Write(table, noted.key, put=Put(decode(body), size, body), version=noted.version)
        perform(writer, write)
    writer.archives.keep_record(CURSOR, f"{name}/{source}", str(end).encode())
