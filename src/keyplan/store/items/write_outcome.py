"""The outcome of a write: a pure function of the write and the existing item."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import orjson

from keyplan.dynamodb.expressions import BoundCondition, BoundUpdate, ExpressionFault
from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.dynamodb.values import item_size, item_size_up_to
from keyplan.errors import DynamoDBError
from keyplan.store.items.stored_items import encode
from keyplan.store.storage.history_rows import Version
from keyplan.store.storage.key_layouts import Found
from keyplan.store.tables.item_keys import Key, check_index_keys, check_size, check_updated_index_keys
from keyplan.store.tables.table import Table
from keyplan.store.vectors import check_vectors
from keyplan.store.work_budget import effort_of, spend

Item = dict[str, Any]

_SMALL_BYTES_MAX = 4096
_SMALL_OPERATORS_MAX = 8
"""Items of at most this many bytes and conditions of at most this many operators aren't counted as work."""
_ACTIONS_PER_READING = 16
"""This many update actions take as long as reading the item."""


@dataclass(slots=True)
class Put:
    """The item to store, in its stored form. This object is created before the transaction."""

    item: Item
    size: int
    body: bytes


@dataclass(slots=True)
class Change:
    """An update: a function from the old item to the new one, and the attributes that the update can change."""

    apply: Callable[[Item | None], Item]
    touched: frozenset[str]
    bound: BoundUpdate | None = None
    """The update; None changes nothing."""

    @property
    def only_removes(self) -> bool:
        return self.bound is not None and self.bound.only_removes


@dataclass(slots=True)
class Write:
    """One write of one item.

    At most one of ``put`` and ``change`` is set; ``removes`` is a deletion; a write without these is only a condition.
    """

    table: Table
    key: Key
    condition: BoundCondition | None = None
    put: Put | None = None
    change: Change | None = None
    removes: bool = False
    wants_old: bool = False
    returns_item: bool = False
    """Whether a failed condition returns the item (ReturnValuesOnConditionCheckFailure)."""
    inserts: bool = False
    """Whether the item must be new, with an error other than a failed condition."""
    version: Version | None = None
    """Time and region of the original write, for a replicated one."""
    by_expiry: bool = False

    @property
    def reads_item(self) -> bool:
        return self.condition is not None or self.change is not None or self.wants_old


@dataclass(slots=True)
class Judged:
    """The result of evaluating a write."""

    old: Item | None
    holds: bool
    put: Put | None
    fault: DynamoDBError | ExpressionFault | None = None
    is_damaged: bool = False
    """Whether the stored item is unreadable, and the write doesn't need it."""


def checked_size(item: Item) -> int:
    """The size in bytes of a whole, normalized item. Raises ValidationException if the size exceeds 400 KB."""
    size_bytes = item_size(item)
    check_size(size_bytes, updating=False)
    return size_bytes


def prepare_put(table: Table, item: Item, size_bytes: int | None = None) -> Put:
    """Validate a whole, normalized item and convert it to its stored form. Raises ValidationException."""
    size = checked_size(item) if size_bytes is None else size_bytes
    if table.indexes:
        check_index_keys(table, item)
    if table.vector_indexes:
        check_vectors(table, item)
    return Put(item, size, encode(item))


def judged(write: Write, result: Found | None) -> Judged:
    """Evaluate a write. Raises LongError, or JSONDecodeError if the write reads a damaged item."""
    old: Item | None = None
    size = 0
    put, condition, change = write.put, write.condition, write.change
    if result is not None:
        _, size, body, checksum = result
        if len(body) > _SMALL_BYTES_MAX or (condition is not None and condition.operators > _SMALL_OPERATORS_MAX):
            spend(_cost_bytes(write, body))
        try:
            if crc32(body) != checksum:
                raise orjson.JSONDecodeError("the checksum doesn't match", "", 0)  # noqa: TRY301 - an inner function would be slower.
            old = orjson.loads(body if body[:1] == b"{" else b"")  # Like ``decode``, but without a call per write
        except orjson.JSONDecodeError:
            if condition is not None or change is not None or write.wants_old:
                raise
            return Judged(None, True, put, is_damaged=True)
    if condition is not None and not condition.matches(old if old is not None else {}):
        return Judged(old if write.returns_item or write.table.needs_old else None, False, put)
    if change is not None:
        if old is not None or not change.only_removes:
            try:
                put = _changed(write.table, change, old, size)
            except (DynamoDBError, ExpressionFault) as fault:
                return Judged(old, True, put, fault)
    elif put is None and not write.removes and not write.table.needs_old:
        old = None  # the old item is needed only for the condition
    return Judged(old, True, put)


def _cost_bytes(write: Write, body: bytes) -> float:
    condition, change = write.condition, write.change
    actions = 0 if change is None or change.bound is None else len(change.bound.actions)
    readings = 0 if change is None else 1 + actions / _ACTIONS_PER_READING
    return effort_of(len(body), 0 if condition is None else condition.operators) + len(body) * readings


def _changed(table: Table, change: Change, old: Item | None, old_size: int) -> Put:
    item = change.apply(old)
    size = old_size + _growth(old, item, change.touched)
    check_size(size, updating=True)
    if table.indexes:
        check_updated_index_keys(table, item, change.touched)
    if table.vector_indexes:
        check_vectors(table, item, change.touched)
    return Put(item, size, encode(item))


def _growth(old: Item | None, new: Item, touched: Collection[str]) -> int:
    if old is None:
        return item_size_up_to(new, ITEM_BYTES_MAX)
    before = item_size({name: old[name] for name in touched if name in old})
    after = {name: new[name] for name in touched if name in new}
    return item_size_up_to(after, before + ITEM_BYTES_MAX) - before
