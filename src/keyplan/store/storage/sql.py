"""Builds the SQL statements that create one table, write its items, and read its items within bounds.

Items are in ``items_<id>_<generation>``: the key in its storage form and the item's JSON as ``body``. Every statement
names the generation, so that a statement with an outdated layout fails.

Entries of all indexes with the same numbers of key attributes are in one table, ``entries_<partition>_<sort>``, because
SQLite reads its schema again after each change, in every connection. The primary key of an entry consists of the
index's id, the index key and the table's key, which orders equal index keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from keyplan.store.storage.key_layouts import Bounds, IndexLayout, ScalarType, TableLayout

APPLICATION_ID = 0x4B504C4E
"""``KPLN``, in the header of the file."""
FORMAT_VERSION = 3
"""3 has one table for the entries of many indexes. See ``file_format`` for a file of format 2."""

DROPPED_INDEXES = "CREATE TABLE keyplan_dropped_indexes (id INTEGER PRIMARY KEY, entries TEXT NOT NULL);"
"""Indexes of which entries remain to be removed."""

CATALOG_INDEX = "CREATE INDEX keyplan_catalog_by_name ON keyplan_catalog (name, version);"
"""Finds the tables that changed without reading definitions."""

CATALOGUE = f"""
{DROPPED_INDEXES}
CREATE TABLE keyplan_catalog (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  generation INTEGER NOT NULL,
  definition TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1
);
{CATALOG_INDEX}
CREATE TABLE keyplan_tokens (
  token TEXT PRIMARY KEY,
  digest BLOB NOT NULL,
  answer BLOB NOT NULL,
  kept_s REAL NOT NULL
);
CREATE INDEX keyplan_tokens_by_age ON keyplan_tokens (kept_s);
CREATE TABLE keyplan_streams (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  table_name TEXT NOT NULL,
  label TEXT NOT NULL,
  definition TEXT NOT NULL,
  enabled_s REAL NOT NULL,
  disabled_s REAL
);
CREATE TABLE keyplan_shards (
  stream INTEGER NOT NULL,
  number INTEGER NOT NULL,
  parent INTEGER,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL,
  opened_s REAL NOT NULL,
  opened_after INTEGER NOT NULL,
  closed_s REAL,
  closed_after INTEGER,
  trimmed INTEGER NOT NULL,
  PRIMARY KEY (stream, number)
) WITHOUT ROWID;
"""
"""The schema of an empty file. The records of each stream are in a separate table."""

TABLES = "SELECT id, generation, name, definition, version FROM keyplan_catalog ORDER BY name"
TABLE = "SELECT id, generation, name, definition, version FROM keyplan_catalog WHERE id = ?"
VERSIONS = "SELECT id, name, version FROM keyplan_catalog INDEXED BY keyplan_catalog_by_name ORDER BY name"
ADD_TABLE = "INSERT INTO keyplan_catalog (name, generation, definition) VALUES (?, ?, ?)"
DROP_TABLE = "DELETE FROM keyplan_catalog WHERE id = ?"
DEFINE = "UPDATE keyplan_catalog SET version = version + 1, definition = ? WHERE id = ?"
REDEFINE = "UPDATE keyplan_catalog SET version = version + 1, definition = ?, generation = ? WHERE id = ?"
TOKEN = "SELECT digest, answer FROM keyplan_tokens WHERE token = ? AND kept_s >= ?"  # noqa: S105 - this is not a password
KEEP_TOKEN = "INSERT OR REPLACE INTO keyplan_tokens VALUES (?, ?, ?, ?)"  # noqa: S105
FORGET_TOKENS = "DELETE FROM keyplan_tokens WHERE kept_s < ?"

SEGMENT_FUNCTION = "keyplan_segment"

_COLUMN_TYPES: dict[ScalarType | None, str] = {"S": "TEXT", "N": "TEXT", "B": "BLOB", None: "TEXT"}


def items_name(layout: TableLayout) -> str:
    return f"items_{layout.id}_{layout.generation}"


def create_items(layout: TableLayout) -> str:
    return (
        f"CREATE TABLE {items_name(layout)} (id INTEGER PRIMARY KEY, "
        f"pk {_COLUMN_TYPES[layout.partition_type]} NOT NULL, sk {_COLUMN_TYPES[layout.sort_type]} NOT NULL, "
        "size INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL, UNIQUE (pk, sk))"
    )


def index_id(table_id: int, number: int) -> int:
    return table_id << 32 | number


def entries_name(partition: int, sort: int) -> str:
    return f"entries_{partition}_{sort}"


def key_columns(partition: int, sort: int) -> list[str]:
    """The columns of an entry's key (``p1``..., ``s1``...) and those of its item's key."""
    return [f"p{n}" for n in range(1, partition + 1)] + [f"s{n}" for n in range(1, sort + 1)] + ["pk", "sk"]


def create_entries(partition: int, sort: int) -> str:
    names = key_columns(partition, sort)
    return (
        f"CREATE TABLE IF NOT EXISTS {entries_name(partition, sort)} (index_id INTEGER NOT NULL, "
        f"{', '.join(f'{name} NOT NULL' for name in names)}, item INTEGER NOT NULL, size INTEGER, "
        f"PRIMARY KEY (index_id, {', '.join(names)})) WITHOUT ROWID"
    )


def _seconds(attribute: str, body: str = "body") -> str:
    label = orjson.dumps(attribute).decode().replace("'", "''")
    return f"CAST(CAST({body} AS TEXT) ->> '$.{label}.N' AS REAL)"


def expires_name(layout: TableLayout) -> str:
    return f"expires_{layout.id}"


def expired(layout: TableLayout) -> str:
    return (
        f"SELECT i.pk, i.sk FROM {expires_name(layout)} e JOIN {items_name(layout)} i ON i.id = e.item "  # noqa: S608
        "WHERE e.at > ? AND e.at <= ? ORDER BY e.at LIMIT ?"
    )


def create_expiry(layout: TableLayout, attribute: str, index: str) -> Sequence[str]:
    """The statements that create triggers, which store expiry times even if another program writes the file."""
    name, items = expires_name(layout), items_name(layout)
    seconds = _seconds(attribute, "NEW.body")
    entry = f"INSERT OR REPLACE INTO {name} SELECT NEW.id, {seconds} WHERE {seconds} IS NOT NULL"
    gone = f"DELETE FROM {name} WHERE item = OLD.id"  # noqa: S608
    return (
        f"CREATE TABLE {name} (item INTEGER PRIMARY KEY, at REAL NOT NULL)",
        f"CREATE INDEX {index} ON {name} (at)",
        f"CREATE TRIGGER {name}_insert AFTER INSERT ON {items} BEGIN {entry}; END",
        f"CREATE TRIGGER {name}_update AFTER UPDATE OF body ON {items} BEGIN {gone}; {entry}; END",
        f"CREATE TRIGGER {name}_delete AFTER DELETE ON {items} BEGIN {gone}; END",
    )


def fill_expiry(layout: TableLayout, attribute: str) -> str:
    """The statement that stores the expiry times of items between two rows, except damaged items."""
    seconds = _seconds(attribute)
    return (
        f"INSERT OR REPLACE INTO {expires_name(layout)} SELECT id, at FROM "  # noqa: S608 - inserts only generated names
        f"(SELECT id, CASE WHEN json_valid(CAST(body AS TEXT)) THEN {seconds} END AS at "
        f"FROM {items_name(layout)} WHERE id > ? AND id <= ?) WHERE at IS NOT NULL"
    )


def end_expiry(layout: TableLayout) -> Sequence[str]:
    return [f"DROP TRIGGER IF EXISTS {expires_name(layout)}_{event}" for event in ("insert", "update", "delete")]


class IndexTexts:
    """The statements of one index."""

    def __init__(self, layout: TableLayout, index: IndexLayout) -> None:
        name = entries_name(*index.shape)
        number = index_id(layout.id, index.number)
        columns = key_columns(*index.shape)
        own = f"index_id = {number}"
        where = " AND ".join([own, *(f"{column} = ?" for column in columns)])
        # An entry of a damaged item, or in an index that is being backfilled, may already exist.
        self.add = f"INSERT OR REPLACE INTO {name} VALUES ({number}, {'?, ' * len(columns)}?, ?)"  # noqa: S608 - inserts only generated names
        self.resize = f"UPDATE {name} SET size = ? WHERE {where}"  # noqa: S608
        self.remove = f"DELETE FROM {name} WHERE {where}"  # noqa: S608
        self.entries = f"SELECT {', '.join(columns)}, item, size FROM {name} WHERE {own}"  # noqa: S608
        self.entry = f"SELECT {', '.join(columns)}, item, size FROM {name} WHERE {where}"  # noqa: S608
        self.remove_all = f"DELETE FROM {name} WHERE {own} AND item = ?"  # noqa: S608
        self.columns = columns
        self.partition_count = len(index.partition_types)
        self.size = "e.size" if index.sized else "i.size"
        self.own = f"e.{own}"
        self.source = f"{name} e CROSS JOIN {items_name(layout)} i ON i.id = e.item"


class TableTexts:
    """The statements of one table and its indexes; the statements of pages are created once per shape."""

    def __init__(self, layout: TableLayout, *, with_checksums: bool = False) -> None:
        name = items_name(layout)
        self._body = ("body", "checksum") if with_checksums else ("body",)
        self.get = f"SELECT size, {', '.join(self._body)} FROM {name} WHERE pk = ? AND sk = ?"  # noqa: S608
        self.find = f"SELECT id, size, body, checksum FROM {name} WHERE pk = ? AND sk = ?"  # noqa: S608
        self.insert = f"INSERT INTO {name} (pk, sk, size, body, checksum) VALUES (?, ?, ?, ?, ?)"  # noqa: S608
        self.replace = f"UPDATE {name} SET size = ?, body = ?, checksum = ? WHERE id = ?"  # noqa: S608
        self.remove = f"DELETE FROM {name} WHERE id = ?"  # noqa: S608
        self.rows_after = f"SELECT id, pk, sk, size, body FROM {name} WHERE id > ? ORDER BY id LIMIT ?"  # noqa: S608
        self.sealed_rows = f"SELECT id, pk, sk, size, body, checksum FROM {name}"  # noqa: S608
        self.indexes = {index.number: IndexTexts(layout, index) for index in layout.indexes}
        self._name = name
        self._pages: dict[tuple[object, ...], str] = {}

    def count(self, index: int | None) -> str:
        """A query that counts rows and adds their sizes, for at most as many rows as its LIMIT parameter."""
        if index is None:
            return f"SELECT count(*), total(size) FROM (SELECT size FROM {self._name} LIMIT ?)"  # noqa: S608
        texts = self.indexes[index]
        rows = f"SELECT {texts.size} AS size FROM {texts.source} WHERE {texts.own} LIMIT ?"  # noqa: S608
        return f"SELECT count(*), total(size) FROM ({rows})"  # noqa: S608

    def page(self, index: int | None, bounds: Bounds) -> str:
        """The query of a page with bounds of this shape. ``page_values`` returns the values for this query."""
        shape = (
            index,
            len(bounds.partition),
            len(bounds.equal),
            bounds.low and bounds.low[0],
            bounds.high and bounds.high[0],
            bounds.after is None,
            bounds.forward,
            bounds.segment is None,
        )
        text = self._pages.get(shape)
        if text is None:
            text = self._pages[shape] = self._page_text(index, bounds)
        return text

    def _page_text(self, index: int | None, bounds: Bounds) -> str:
        where: list[str] = []
        if index is None:
            prefix, columns, source, size = "", ["pk", "sk"], self._name, "size"
            body, partition_count = ", ".join(self._body), 1
        else:
            texts = self.indexes[index]
            prefix, columns, source, size = "e.", texts.columns, texts.source, texts.size
            body, partition_count = ", ".join(f"i.{column}" for column in self._body), texts.partition_count
            where.append(texts.own)
        named = [prefix + column for column in columns]
        fixed = len(bounds.partition) + len(bounds.equal)
        where += [f"{column} = ?" for column in named[:fixed]]
        if bounds.partition:
            next_sort = named[partition_count + len(bounds.equal)] if bounds.low or bounds.high else ""
            where += [f"{next_sort} {bound[0]} ?" for bound in _kept_bounds(bounds)]
        rest = named[fixed:]
        if bounds.after is not None and rest:
            sign = ">" if bounds.forward else "<"
            marks = ", ".join("?" * len(rest))
            where.append(f"({', '.join(rest)}) {sign} ({marks})")
        elif bounds.after is not None:
            where.append("0")
        if bounds.segment is not None:
            where.append(f"{SEGMENT_FUNCTION}({named[0]}, ?) = ?")
        order = ", ".join(column if bounds.forward else f"{column} DESC" for column in rest)
        return (
            f"SELECT {size}, {body} FROM {source}"  # noqa: S608 - inserts only generated names; values are bound
            + (f" WHERE {' AND '.join(where)}" if where else "")
            + (f" ORDER BY {order}" if order else "")
            + " LIMIT ?"
        )


def page_values(bounds: Bounds, limit: int | None) -> list[object]:
    values: list[object] = [*bounds.partition, *bounds.equal]
    if bounds.partition and (bounds.low is not None or bounds.high is not None):
        values += [bound[1] for bound in _kept_bounds(bounds)]
    if bounds.after is not None:
        values += bounds.after[len(bounds.partition) + len(bounds.equal) :]
    if bounds.segment is not None:
        segment, total = bounds.segment
        values += (total, segment)
    values.append(-1 if limit is None else limit)
    return values


def _kept_bounds(bounds: Bounds) -> list[tuple[str, str | bytes]]:
    # The start position is within the bounds, so it replaces the bound on its side. Given both, SQLite could seek by
    # the wider bound and read all rows before the position.
    low = None if bounds.after is not None and bounds.forward else bounds.low
    high = None if bounds.after is not None and not bounds.forward else bounds.high
    return [bound for bound in (low, high) if bound is not None]
