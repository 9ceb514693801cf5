"""Creates the file format in an empty file, migrates an older file, and rejects any other file.

``PRAGMA user_version`` is the format. A migration is one transaction: if the process is killed during the migration,
the file is unchanged. A migration renames the catalog and the tables of items. Afterwards, each request of an older
process that has the file open fails, instead of writing rows that this version doesn't read.
"""

from __future__ import annotations

import zlib
from typing import cast

import apsw

from keyplan.store.storage import sql
from keyplan.store.storage import sqlite_errors as faults


def identity(connection: apsw.Connection) -> tuple[int, bool]:
    """The application ID, and whether the file contains anything, read in one transaction."""
    application = cast("int", connection.pragma("application_id"))
    return application, connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is not None


def create(connection: apsw.Connection) -> None:
    """Create the catalog in an empty file, unless another process has just created it."""
    if identity(connection) == (0, False):
        connection.execute(sql.CATALOGUE)
        connection.execute(f"PRAGMA application_id = {sql.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {sql.FORMAT_VERSION}")


def is_current(connection: apsw.Connection, place: str) -> bool:
    """Whether the file has this version's format; False if it must be migrated. Raises StoreError for other formats."""
    version = cast("int", connection.pragma("user_version"))
    if version > sql.FORMAT_VERSION or version < sql.FORMAT_VERSION - 1:
        raise faults.other_format(place, version, sql.FORMAT_VERSION)
    return version == sql.FORMAT_VERSION


def migrate(connection: apsw.Connection) -> None:
    """Migrate a file of format 2, which has a table for each index, unless another process has just migrated it."""
    if connection.pragma("user_version") != sql.FORMAT_VERSION - 1:
        return
    run = connection.execute
    run(sql.DROPPED_INDEXES)
    # Drop tables before renaming others: SQLite reads the whole schema when it renames a table.
    for (name,) in run("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'index_[0-9]*'").fetchall():
        _move_entries(connection, str(name))
    connection.create_scalar_function("keyplan_crc32", cast("apsw.ScalarProtocol", zlib.crc32), 1)
    for table, generation in run("SELECT id, generation FROM keyplan_tables").fetchall():
        items = f"items_{table}_{generation}"
        run(f"UPDATE {items} SET checksum = keyplan_crc32(body) WHERE checksum IS NULL")  # noqa: S608 - inserts only generated names
        run(f"DROP INDEX IF EXISTS expiry_{table}")
        run(f"ALTER TABLE {items} RENAME TO items_{table}_{cast('int', generation) + 1}")
    run("UPDATE keyplan_tables SET generation = generation + 1")
    run("ALTER TABLE keyplan_tables RENAME TO keyplan_catalog")
    run("ALTER TABLE keyplan_catalog ADD COLUMN version INTEGER NOT NULL DEFAULT 1")
    run(sql.CATALOG_INDEX)
    run(f"PRAGMA user_version = {sql.FORMAT_VERSION}")


def _move_entries(connection: apsw.Connection, name: str) -> None:
    _, table, number = name.split("_")
    columns = [str(column) for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))]
    keys = columns[: columns.index("pk")]
    partition = sum(column.startswith("p") for column in keys)
    entries = sql.entries_name(partition, len(keys) - partition)
    size = "size" if "size" in columns else "NULL"
    connection.execute(sql.create_entries(partition, len(keys) - partition))
    connection.execute(
        f"INSERT INTO {entries} SELECT {sql.index_id(int(table), int(number))}, "  # noqa: S608 - inserts only generated names
        f"{', '.join([*keys, 'pk', 'sk', 'item', size])} FROM {name}"
    )
    connection.execute(f"DROP TABLE {name}")
