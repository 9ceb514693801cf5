"""Write units of one item's change, on the table and on each index: by what the item was before, and is after.

An index entry costs 0, 1 or 2 writes. Source: "Global secondary indexes", write throughput, in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.cost.unit_counts import TABLE, Line
from keyplan.analysis.rehearsal.mutations import Mutation
from keyplan.dynamodb.capacity import entry_units, write_units
from keyplan.dynamodb.limits import WRITE_UNIT_BYTES
from keyplan.model.compiled.item_sizes import entry_of
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.table import Table

__all__ = ["lines_of"]


def lines_of(mutation: Mutation, table: Table, *, transactional: bool) -> Iterator[Line]:
    """The units on the table, doubled in a transaction, and on each index that the change reaches: not doubled."""
    size = mutation.size_bytes
    units = write_units(size, transactional=transactional)
    double = " × 2, in a transaction" if transactional else ""
    yield Line("write", TABLE, units, f"{mutation.what}, {_blocks(size)}{double} = {units:g}")
    for index in table.indexes:
        line = _index_line(mutation, table, index)
        if line is not None:
            yield line


def _index_line(mutation: Mutation, table: Table, index: Index) -> Line | None:
    before = entry_of(table, index, mutation.before) if mutation.before is not None else None
    after = entry_of(table, index, mutation.after) if mutation.after is not None else None
    if before is None and after is None:
        return None
    if before is None or after is None:
        entry = after or before
        assert entry is not None  # noqa: S101 - one of them is
        size = entry.size_bytes
        what = "new entry" if before is None else "entry removed"
        return Line("write", index.name, entry_units(size), f"{what}, {_blocks(size)} = {entry_units(size):g}")
    if before.key != after.key:
        units = entry_units(before.size_bytes) + entry_units(after.size_bytes)
        moved = f"old entry removed, {_blocks(before.size_bytes)}, new one written, {_blocks(after.size_bytes)}"
        return Line("write", index.name, units, f"key changed: {moved} = {units:g}")
    if before.projected == after.projected:
        return None
    size = max(before.size_bytes, after.size_bytes)
    return Line("write", index.name, entry_units(size), f"entry changed, {_blocks(size)} = {entry_units(size):g}")


def _blocks(size_bytes: int) -> str:
    return f"{size_bytes:,} B → {max(1, -(-size_bytes // WRITE_UNIT_BYTES)):,} × 1 KB"
