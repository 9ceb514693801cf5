"""Checks a store's file for damage, and items, their sizes and their index entries for consistency.

``keyplan dynamodb check`` and the crash tests use this module. The check reads one snapshot and changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from keyplan.dynamodb.values import check_item, item_size, key_text
from keyplan.store.items.stored_items import SIGNS_OF_DAMAGE, decode
from keyplan.store.state_delays import fillings_of
from keyplan.store.storage.key_layouts import KeyText
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Reader
from keyplan.store.tables.item_keys import NO_SORT, Key, entry_of
from keyplan.store.tables.table import Index, Table, VectorIndex, read_table
from keyplan.store.vectors import vector_entry_of

FINDINGS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """An inconsistency in a store. ``code`` is the same in all versions; ``place`` names the table, index and key."""

    code: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message} [{self.code}]"


def check_file(path: str | PathLike[str]) -> list[Finding]:
    """Check the store in a file. The store is consistent if there are no findings. Raises StoreError."""
    path = fspath(path)
    folder = os.path.dirname(path) or "."  # noqa: PTH120 - keep the path as given
    is_writable = os.access(path, os.W_OK) and os.access(folder, os.W_OK)
    is_read_only = os.access(path, os.R_OK) and not is_writable
    storage = Storage.read_only(path) if is_read_only else Storage.file(path, create=False)
    try:
        return check_storage(storage)
    finally:
        storage.close()


def check_storage(storage: Storage) -> list[Finding]:
    """Check an open store; returns the first thousand findings."""
    findings = [Finding("FileDamaged", storage.place, fault) for fault in storage.faults()]
    if findings:
        # If the file is damaged, checks of items aren't reliable.
        return findings

    def work(reader: Reader) -> list[Finding]:
        findings: list[Finding] = []
        for record in reader.tables():
            for finding in _check_table(reader, read_table(record, storage)):
                findings.append(finding)
                if len(findings) == FINDINGS_MAX:
                    return findings
        return (findings + list(_check_streams(reader)))[:FINDINGS_MAX]

    return storage.read(work)


def _check_table(reader: Reader, table: Table) -> Iterator[Finding]:
    matched = {index.number: 0 for index in table.indexes}
    filled = _filled(reader, table)
    damaged: set[int] = set()
    for row, partition, sort, size, body, is_as_written in reader.sealed_rows(table.stored):
        key = (partition, sort)
        place = f"{table.name} {_printed(key)}"
        try:
            item = decode(body)
            is_normal = check_item(item) is item
        except SIGNS_OF_DAMAGE as error:  # not a JSON object, or an item with invalid attributes
            yield Finding("ItemUnreadable", place, f"the item can't be read: {error}")
            damaged.add(row)
            continue
        if not is_as_written:
            yield Finding("ItemDamaged", place, "the item is damaged: its checksum doesn't match")
            damaged.add(row)
            continue
        yield from _check_item(table, key, item, size, place, is_normal=is_normal)
        for index in table.indexes:
            entry = entry_of(index, item)
            if entry is None:
                continue
            stored = reader.entry(table.stored, index.number, entry, key)
            where = f"{table.name}/{index.name} {_printed(key)}"
            if stored is None:
                if row <= filled.get(index.name, row):
                    yield Finding("EntryMissing", where, "the item has no entry in the index")
                continue
            matched[index.number] += 1
            if stored.row != row:
                yield Finding("EntryWrong", where, f"the index entry refers to row {stored.row}, not {row}")
            elif stored.entry.size != entry.size:
                yield Finding("EntryWrong", where, f"the index entry has size {stored.entry.size}, not {entry.size}")
    for index in table.indexes:
        yield from _check_surplus(reader, table, index, matched[index.number], damaged)
    for vectors in table.vector_indexes:
        yield from _check_vectors(reader, table, vectors, filled.get(vectors.name))


def _filled(reader: Reader, table: Table) -> dict[str, int]:
    table_id, numbers = table.stored.layout.id, table.definition["IndexNumbers"]
    return {name: reader.archives.filled_up_to(table_id, numbers[name]) for name in fillings_of(table.definition)}


def _check_streams(reader: Reader) -> Iterator[Finding]:
    for stream in reader.changes.streams():
        for number in reader.changes.damaged(stream.id):
            place = f"{stream.table}/stream/{stream.label} {number}"
            yield Finding("RecordDamaged", place, "the record is damaged: its checksum doesn't match")


def _check_vectors(reader: Reader, table: Table, index: VectorIndex, filled: int | None) -> Iterator[Finding]:
    """Check the entry of each item in a vector index. ``filled`` is the row reached by a running backfill."""
    where = (table.stored.layout.id, index.number)
    expected: set[int] = set()
    for row, partition, sort, _, body, _ in reader.sealed_rows(table.stored):
        place = f"{table.name}/{index.name} {_printed((partition, sort))}"
        try:
            entry = vector_entry_of(index, decode(body))
        except SIGNS_OF_DAMAGE:
            expected.add(row)
            continue
        if entry is None:
            continue
        expected.add(row)
        stored = reader.vectors.entry(*where, row)
        if stored is None:
            if filled is None or row <= filled:
                yield Finding("EntryMissing", place, "the item has no entry in the index")
        elif (tuple(stored[0]), stored[1]) != (entry.texts, entry.vector):
            yield Finding("EntryWrong", place, "the index entry differs from the item")
    for row, _, _ in reader.vectors.entries(*where):
        if row not in expected:
            yield Finding("EntryStray", f"{table.name}/{index.name} {row}", "the index entry has no matching item")


def _check_item(
    table: Table, key: Key, item: dict[str, Any], size: int, place: str, *, is_normal: bool
) -> Iterator[Finding]:
    if not is_normal:
        yield Finding("ItemWrong", place, "the item isn't stored in normalized form")
    elif item_size(item) != size:
        yield Finding("ItemWrong", place, f"the item has the stored size {size}, not {item_size(item)}")
    values = [item.get(attribute.name) for attribute in table.keys]
    texts = [key_text(value) for value in values if value is not None]
    if table.sort is None:
        texts.append(NO_SORT)
    if tuple(texts) != key:
        yield Finding("ItemWrong", place, "the item's key attributes differ from the key of its row")


def _check_surplus(
    reader: Reader, table: Table, index: Index, matched: int, damaged: Collection[int]
) -> Iterator[Finding]:
    """Find entries without an item. Expected entries are already checked, so equal counts mean that there are none."""
    if sum(1 for _ in reader.entries(table.stored, index.number)) == matched:
        return
    for stored in reader.entries(table.stored, index.number):
        if stored.row in damaged:
            continue
        result = reader.get(table.stored, *stored.key)
        entry = entry_of(index, decode(result[1])) if result is not None else None
        if entry is None or entry.key != stored.entry.key:
            where = f"{table.name}/{index.name} {_printed(stored.key)}"
            yield Finding("EntryStray", where, "the index entry has no matching item")


def _printed(key: tuple[KeyText, ...]) -> str:
    return " ".join(repr(part) for part in key if part)
