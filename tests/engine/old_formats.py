"""Functions that convert store files to older formats."""

from __future__ import annotations

import json
import sqlite3


def as_format_2(path: str) -> None:
    """Convert a file to format 2, in which each index has its own table. The first item has no checksum."""
    file = sqlite3.connect(path)
    for table, generation, definition in file.execute(
        "SELECT id, generation, definition FROM keyplan_catalog"
    ).fetchall():
        items = f"items_{table}_{generation}"
        file.execute(f"ALTER TABLE {items} ADD COLUMN sums INTEGER")
        file.execute(f"UPDATE {items} SET sums = checksum WHERE id > 1")
        file.execute(f"ALTER TABLE {items} DROP COLUMN checksum")
        file.execute(f"ALTER TABLE {items} RENAME COLUMN sums TO checksum")
        for index in json.loads(definition).get("GlobalSecondaryIndexes", ()):
            number = json.loads(definition)["IndexNumbers"][index["IndexName"]]
            kinds = [key["KeyType"] for key in index["KeySchema"]]
            partition, sort = kinds.count("HASH"), kinds.count("RANGE")
            keys = [f"p{n + 1}" for n in range(partition)] + [f"s{n + 1}" for n in range(sort)] + ["pk", "sk"]
            size = [] if index["Projection"]["ProjectionType"] == "ALL" else ["size"]
            columns = ", ".join([*keys, "item", *size])
            primary = ", ".join(keys)
            file.execute(f"CREATE TABLE index_{table}_{number} ({columns}, PRIMARY KEY ({primary})) WITHOUT ROWID")
            entries = f"FROM entries_{partition}_{sort} WHERE index_id = {table << 32 | number}"
            file.execute(f"INSERT INTO index_{table}_{number} SELECT {columns} {entries}")
    for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'entries_*'").fetchall():
        file.execute(f"DROP TABLE {name}")
    file.execute("DROP TABLE keyplan_dropped_indexes")
    file.execute("DROP INDEX keyplan_catalog_by_name")
    file.execute("ALTER TABLE keyplan_catalog DROP COLUMN version")
    file.execute("ALTER TABLE keyplan_catalog RENAME TO keyplan_tables")
    file.execute("PRAGMA user_version = 2")
    file.commit()
    file.close()
