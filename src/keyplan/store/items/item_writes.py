"""Write one item, with its condition, index entries, history and stream record, in one transaction.

Operations prepare ``Write`` objects before the transaction and perform the writes in it. The objects of a write aren't
frozen, because creating frozen objects takes several times as long; no code changes these objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keyplan.dynamodb.capacity import Consumed, entry_units, write_units
from keyplan.dynamodb.service_errors import ConditionalCheckFailedException, DuplicateItemException
from keyplan.dynamodb.values import item_size, key_value
from keyplan.errors import DynamoDBError
from keyplan.store.items.write_outcome import Item, Put, Write, judged
from keyplan.store.storage.key_layouts import Found
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.streams import Event
from keyplan.store.tables.item_keys import Key, entry_of, projection_of
from keyplan.store.tables.table import Index, Table
from keyplan.store.vectors import billed_size, keep_vectors, write_bytes


@dataclass(slots=True)
class Outcome:
    """The result of a write. The old item is decoded lazily."""

    old: Item | None
    new: Item | None
    old_size: int
    new_size: int


Charge = Callable[[Table, Key, Outcome], None]
"""Called before a write; can raise to reject it."""


def perform(writer: Writer, write: Write, charge: Charge | None = None) -> Outcome:
    """Perform a write; if it raises an error, nothing changes. ``charge`` can throttle a valid write. Raises LongError,
    ConditionalCheckFailedException, DuplicateItemException for an insertion, ValidationException or ExpressionFault for
    an update, or JSONDecodeError if the write reads a damaged item.
    """
    table = write.table
    result = writer.find(table.stored, *write.key)
    old: Item | None = None
    put = write.put
    if write.reads_item or (table.needs_old and result is not None):
        known = judged(write, result)
        old, put = known.old, known.put
        if known.is_damaged and result is not None:
            writer.remove_entries(table.stored, result[0])
        if not known.holds or (write.inserts and result is not None):
            raise _refused(write, result, old, charge)
        if known.fault is not None:
            raise known.fault
    elif write.inserts and result is not None:
        raise _refused(write, result, None, charge)
    old_size = result[1] if result is not None else 0
    if put is not None:
        outcome = Outcome(old, put.item, old_size, put.size)
    else:
        outcome = Outcome(old, None if write.removes else old, old_size, 0 if write.removes else old_size)
    if charge is not None:
        charge(table, write.key, outcome)
    if table.notes_writes:
        _note(writer, write, result, put)
    if put is not None:
        row = _store(writer, write, result, put)
        if table.needs_old:
            _keep(writer, write, row, result, old, put)
    elif write.removes and result is not None:
        writer.remove(table.stored, result[0])
        if table.needs_old:
            _keep(writer, write, result[0], result, old, None)
    return outcome


def _refused(write: Write, result: Found | None, old: Item | None, charge: Charge | None) -> DynamoDBError:
    """The reason why a write is rejected: a false condition or an existing item. It is charged nevertheless."""
    if charge is not None and result is not None:
        charge(write.table, write.key, Outcome(old, old, result[1], result[1]))
    if write.condition is None:
        return DuplicateItemException()
    return ConditionalCheckFailedException(old if write.returns_item else None)


def _note(writer: Writer, write: Write, result: Found | None, put: Put | None) -> None:
    """Record the replaced item for a history or a running backup, and the write's time and region for replication."""
    table = write.table
    is_change = _is_change(write, result, put)
    if table.keeps_history and is_change:
        old_row = None if result is None else result[1:3]
        writer.archives.remember(table.stored.layout.id, writer.now_us(), write.key, old_row)
    if is_change:
        for backup, last in table.copying:
            writer.archives.keep_old(backup, last, table.stored, result, write.key)
    if table.own_region is not None:
        if write.version is not None:
            writer.replicas.note(table.stored.layout.id, write.key, write.version)
        elif is_change:
            writer.replicas.note_own(table.stored.layout.id, write.key, (writer.now_us(), table.own_region))


def _is_change(write: Write, result: Found | None, put: Put | None) -> bool:
    if put is None:
        return write.removes and result is not None
    return result is None or result[2] != put.body


def _store(writer: Writer, write: Write, result: Found | None, put: Put) -> int:
    """Write the item; returns its row id."""
    stored = write.table.stored
    if result is None:
        return writer.insert(stored, *write.key, put.size, put.body)
    if result[2] != put.body:
        writer.replace(stored, result[0], put.size, put.body)
    return result[0]


def _keep(writer: Writer, write: Write, row: int, result: Found | None, old: Item | None, put: Put | None) -> None:
    table = write.table
    new = None if put is None else put.item
    if table.indexes:
        keep_indexes(writer, write, row, old, new)
    if table.vector_indexes:
        keep_vectors(writer, table, row, old, new)
    if table.stream is not None:
        _record(writer, write, result, old, put)


def _record(writer: Writer, write: Write, result: Found | None, old: Item | None, put: Put | None) -> None:
    """Record a change in the table's stream. An item with the same attributes in another order is unchanged."""
    table = write.table
    stream = table.stream
    if stream is None or (old is not None and put is not None and old == put.item):
        return
    event: Event = "INSERT" if result is None else "MODIFY"
    if put is None:
        event = "EXPIRE" if write.by_expiry else "REMOVE"
    keys = {key.name: key_value(text, key.type) for key, text in zip(table.keys, write.key, strict=False)}
    # If the old item is damaged, the stream record has no old image.
    before = None if result is None or old is None else result[1:3]
    after = None if put is None else (put.size, put.body)
    stream.recorder.record(writer, stream, event, write.key[0], keys, item_size(keys), before, after)


def keep_indexes(writer: Writer, write: Write, row: int, old: Item | None, new: Item | None) -> None:
    stored, key = write.table.stored, write.key
    for index in write.table.indexes:
        before = entry_of(index, old) if old is not None else None
        after = entry_of(index, new) if new is not None else None
        if before == after:
            continue
        if before is not None and after is not None and before.key == after.key:
            writer.resize_entry(stored, index.number, after, key)
            continue
        if before is not None:
            writer.remove_entry(stored, index.number, before, key)
        if after is not None:
            writer.add_entry(stored, index.number, after, key, row)


def add_units(consumed: Consumed, table: Table, outcome: Outcome, *, transactional: bool = False) -> None:
    """Count the units of a write: for the table by the larger item size, for each index by the change of its entry."""
    size = max(outcome.old_size, outcome.new_size)
    if table.vector_indexes:
        sides = ((outcome.old, outcome.old_size), (outcome.new, outcome.new_size))
        size = max(each if item is None else billed_size(table, item, each) for item, each in sides)
    consumed.table_units += write_units(size, transactional=transactional)
    for index in table.indexes:
        units = _index_units(index, outcome)
        if units:
            consumed.add_index(index.name, units, is_local=index.is_local)
    for vectors in table.vector_indexes:
        written = write_bytes(vectors, outcome.old, outcome.new)
        if written:
            consumed.vector_bytes[vectors.name] = consumed.vector_bytes.get(vectors.name, 0) + written


def _index_units(index: Index, outcome: Outcome) -> float:
    before = entry_of(index, outcome.old) if outcome.old is not None else None
    after = entry_of(index, outcome.new) if outcome.new is not None else None
    before_size = outcome.old_size if before is None or before.size is None else before.size
    after_size = outcome.new_size if after is None or after.size is None else after.size
    if before is None:
        return 0.0 if after is None else entry_units(after_size)
    if after is None:
        return entry_units(before_size)
    if before.key != after.key:
        return entry_units(before_size) + entry_units(after_size)
    if projection_of(index, outcome.old or {}) == projection_of(index, outcome.new or {}):
        return 0.0
    return entry_units(max(before_size, after_size))
