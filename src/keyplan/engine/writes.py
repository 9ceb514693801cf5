"""Writing one item: the one place where conditions are judged, items written and index entries kept in step.

Every write operation prepares ``Write`` objects outside the transaction and performs them inside. What is made for each
write isn't frozen, which would take several times as long to make; nobody changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from keyplan.engine.items import decode, encode
from keyplan.engine.keys import (
    Key,
    check_index_keys,
    check_size,
    check_updated_index_keys,
    entry_of,
    projection_of,
)
from keyplan.engine.storage.replicas import Version
from keyplan.engine.storage.transactions import Writer
from keyplan.engine.streams.recording import Event, Image
from keyplan.engine.tables import Index, Table
from keyplan.engine.vectors import check_vectors, keep_vectors, write_bytes
from keyplan.expressions import BoundCondition, BoundUpdate
from keyplan.values import item_size, key_value
from keyplan.wire.capacity import Consumed, entry_units, write_units
from keyplan.wire.errors import ConditionalCheckFailedException, DuplicateItemException
from keyplan.wire.limits import ITEM_BYTES_MAX

Item = dict[str, Any]


@dataclass(slots=True)
class Put:
    """An item as it is to be, with its stored form. Made outside the transaction."""

    item: Item
    size: int
    body: bytes


@dataclass(slots=True)
class Change:
    """An update: from the old item to the new one, and the attributes it may touch."""

    apply: Callable[[Item | None], Item]
    touched: frozenset[str]
    bound: BoundUpdate | None = None
    """The update; None changes nothing."""
    counts_statement: bool = False
    """Whether what its actions write is limited by itself, too."""

    @property
    def only_removes(self) -> bool:
        """Whether it leaves a missing item missing."""
        return self.bound is not None and self.bound.only_removes


@dataclass(slots=True)
class Write:
    """One write of one item.

    At most one of ``put`` and ``change`` is given; ``removes`` is a deletion; none of them is a mere
    condition.
    """

    table: Table
    key: Key
    condition: BoundCondition | None = None
    put: Put | None = None
    change: Change | None = None
    removes: bool = False
    wants_old: bool = False
    """Whether the outcome must hold the old item."""
    tells_item: bool = False
    """Whether a failed condition hands back the item (ReturnValuesOnConditionCheckFailure)."""
    inserts: bool = False
    """Whether there must be no item yet, which isn't told as a condition."""
    version: Version | None = None
    """When and where it was made, where that was in another region."""
    by_expiry: bool = False
    """Whether it is the removal of an item whose time to live is over."""


@dataclass(slots=True)
class Outcome:
    """What a write did. The old item is decoded only where somebody needs it."""

    old: Item | None
    new: Item | None
    old_size: int
    new_size: int


def prepare_put(table: Table, item: Item) -> Put:
    """Check the whole (normalised) item and bring it to its stored form.

    Raises:
        ValidationException: it is too large, or an attribute can't stand in an index's key.
    """
    size = item_size(item)
    check_size(size, updating=False)
    if table.indexes:
        check_index_keys(table, item)
    if table.vector_indexes:
        check_vectors(table, item)
    return Put(item, size, encode(item))


Charge = Callable[[Table, Key, Outcome], None]
"""Is told of a write before it is made, and may raise."""


def perform(writer: Writer, write: Write, charge: Charge | None = None) -> Outcome:
    """Do a write, or raise and leave everything as it is. ``charge`` may refuse it when all else is fine.

    Raises:
        ConditionalCheckFailedException: its condition doesn't hold.
        DuplicateItemException: it inserts an item that is there.
        ValidationException, ExpressionFault: an update can't be applied, or its result can't be stored.
        JSONDecodeError: what is stored of the item is damaged, and the write asks what it is.
    """
    table = write.table
    found = writer.find(table.stored, *write.key)
    old: Item | None = None
    if found is not None and (
        write.condition is not None or write.change is not None or write.wants_old or table.needs_old
    ):
        try:
            old = decode(found[2])
        except orjson.JSONDecodeError:
            if write.condition is not None or write.change is not None or write.wants_old:
                raise
            writer.remove_entries(table.stored, found[0])
    if write.condition is not None and not write.condition.matches(old if old is not None else {}):
        if charge is not None and found is not None:
            charge(table, write.key, Outcome(old, old, found[1], found[1]))
        raise ConditionalCheckFailedException(old if write.tells_item else None)
    if write.inserts and found is not None:
        if charge is not None:
            charge(table, write.key, Outcome(old, old, found[1], found[1]))
        raise DuplicateItemException
    put = write.put
    if write.change is not None and (old is not None or not write.change.only_removes):
        put = _changed(table, write.change, old)
    old_size = found[1] if found is not None else 0
    if put is not None:
        outcome = Outcome(old, put.item, old_size, put.size)
    else:
        outcome = Outcome(old, None if write.removes else old, old_size, 0 if write.removes else old_size)
    if charge is not None:
        charge(table, write.key, outcome)
    if table.notes_writes:
        _note(writer, write, found, put)
    if put is not None:
        row = _store(writer, write, found, put)
        if table.needs_old:
            _keep(writer, write, row, found, old, put)
    elif write.removes and found is not None:
        writer.remove(table.stored, found[0])
        if table.needs_old:
            _keep(writer, write, found[0], found, old, None)
    return outcome


def _note(writer: Writer, write: Write, found: tuple[int, int, bytes] | None, put: Put | None) -> None:
    """Note for a table that keeps a history what stood there before, and for a global one who wrote when."""
    table = write.table
    is_change = _is_change(write, found, put)
    if table.keeps_history and is_change:
        old_row = None if found is None else found[1:]
        writer.archives.remember(table.stored.layout.id, writer.now_us(), write.key, old_row)
    if table.own_region is not None:
        if write.version is not None:
            writer.replicas.note(table.stored.layout.id, write.key, write.version)
        elif is_change:
            writer.replicas.note_own(table.stored.layout.id, write.key, (writer.now_us(), table.own_region))


def _is_change(write: Write, found: tuple[int, int, bytes] | None, put: Put | None) -> bool:
    """Whether a write leaves something else than what stood there."""
    if put is None:
        return write.removes and found is not None
    return found is None or found[2] != put.body


def _changed(table: Table, change: Change, old: Item | None) -> Put:
    item = change.apply(old)
    size = item_size(item)
    check_size(size, updating=True)
    bound = change.bound
    if change.counts_statement and bound is not None and size + bound.cost_bytes_max > ITEM_BYTES_MAX:
        _check_statement_size(bound, item, size)
    if table.indexes:
        check_updated_index_keys(table, item, change.touched)
    if table.vector_indexes:
        check_vectors(table, item, change.touched)
    return Put(item, size, encode(item))


def _check_statement_size(bound: BoundUpdate, item: Item, size: int) -> None:
    """What a statement writes is judged by itself, too."""
    cost_bytes = bound.cost_bytes
    if size + cost_bytes > ITEM_BYTES_MAX:
        written = item_size({name: item[name] for name in bound.attributes if name in item})
        check_size(written + cost_bytes, updating=True)


def _store(writer: Writer, write: Write, found: tuple[int, int, bytes] | None, put: Put) -> int:
    """Write the item; its row id."""
    stored = write.table.stored
    if found is None:
        return writer.insert(stored, *write.key, put.size, put.body)
    if found[2] != put.body:
        writer.replace(stored, found[0], put.size, put.body)
    return found[0]


def _keep(
    writer: Writer,
    write: Write,
    row: int,
    found: tuple[int, int, bytes] | None,
    old: Item | None,
    put: Put | None,
) -> None:
    """Bring what follows from items to where the item is now: indexes and the stream."""
    table = write.table
    new = None if put is None else put.item
    if table.indexes:
        keep_indexes(writer, write, row, old, new)
    if table.vector_indexes:
        keep_vectors(writer, table, row, old, new)
    if table.stream is not None:
        _record(writer, write, found, old, put)


def _record(
    writer: Writer, write: Write, found: tuple[int, int, bytes] | None, old: Item | None, put: Put | None
) -> None:
    """Record a change in the table's stream. What stays as it was, its attributes maybe in another order, is none."""
    table = write.table
    stream = table.stream
    if stream is None or (old is not None and put is not None and old == put.item):
        return
    event: Event = "INSERT" if found is None else "MODIFY"
    if put is None:
        event = "EXPIRE" if write.by_expiry else "REMOVE"
    keys = {key.name: key_value(text, key.type) for key, text in zip(table.keys, write.key, strict=False)}
    # A damaged item is no image.
    before = None if found is None or old is None else Image(found[1], found[2])
    after = None if put is None else Image(put.size, put.body)
    stream.recorder.record(writer, stream, event, write.key[0], keys, item_size(keys), before, after)


def keep_indexes(writer: Writer, write: Write, row: int, old: Item | None, new: Item | None) -> None:
    """Bring the index entries of one item from its old state to its new one, touching only what differs."""
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
    """Count the units of a write: on the table by the larger of before and after, on each index by what
    changed.
    """
    size = max(outcome.old_size, outcome.new_size)
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
