"""The outcome of a write: what it makes of the item that it finds, which depends on nothing else."""

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
from keyplan.store.items.stored_items import check_stored, encode
from keyplan.store.storage.key_layouts import Found
from keyplan.store.storage.replica_rows import Version
from keyplan.store.tables.item_keys import Key, check_index_keys, check_size, check_updated_index_keys
from keyplan.store.tables.table import Table
from keyplan.store.vectors import check_vectors
from keyplan.store.work_budget import effort_of, spend

Item = dict[str, Any]

_SMALL_BYTES_MAX = 4096
_SMALL_OPERATORS_MAX = 8
"""Items of so many bytes, and conditions of so many operators, aren't counted: a hundred of them take no long time."""
_ACTIONS_PER_READING = 16
"""So many actions of an update take as long as to read the item."""


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

    @property
    def asks(self) -> bool:
        """Whether it asks what the item is."""
        return self.condition is not None or self.change is not None or self.wants_old


@dataclass(slots=True)
class Judged:
    """What a write comes to."""

    old: Item | None
    """The item, where it is wanted."""
    holds: bool
    """Whether the condition does."""
    put: Put | None
    """What is to be stored."""
    fault: DynamoDBError | ExpressionFault | None = None
    """Why the update can't be made."""
    is_damaged: bool = False
    """Whether what is stored can't be read, and nobody asks for it."""


def checked_size(item: Item) -> int:
    """The bytes of a whole (normalized) item. Raises ValidationException for one over 400 KB."""
    size_bytes = item_size(item)
    check_size(size_bytes, updating=False)
    return size_bytes


def prepare_put(table: Table, item: Item, size_bytes: int | None = None) -> Put:
    """Check the whole (normalized) item and bring it to its stored form. Its size, if you have checked it, isn't
    computed again.

    Raises:
        ValidationException: it is too large, or the table's indexes refuse one of its attributes.
    """
    size = checked_size(item) if size_bytes is None else size_bytes
    if table.indexes:
        check_index_keys(table, item)
    if table.vector_indexes:
        check_vectors(table, item)
    return Put(item, size, encode(item))


def judged(write: Write, result: Found | None) -> Judged:
    """What a write comes to.

    Raises:
        LongError: it takes longer than this thread may spend on it.
        JSONDecodeError: what is stored of the item is damaged, and the write reads it.
    """
    if result is not None:
        condition = write.condition
        if len(result[2]) > _SMALL_BYTES_MAX or (condition is not None and condition.operators > _SMALL_OPERATORS_MAX):
            spend(_cost_bytes(write, result[2]))
    return _judge(write, result)


def _cost_bytes(write: Write, body: bytes) -> float:
    condition, change = write.condition, write.change
    actions = 0 if change is None or change.bound is None else len(change.bound.actions)
    readings = 0 if change is None else 1 + actions / _ACTIONS_PER_READING
    return effort_of(len(body), 0 if condition is None else condition.operators) + len(body) * readings


def _judge(write: Write, result: Found | None) -> Judged:
    """What a write comes to, by what is there.

    Raises:
        JSONDecodeError: it is damaged, and the write asks what it is.
    """
    old: Item | None = None
    size = 0
    put, condition, change = write.put, write.condition, write.change
    if result is not None:
        _, size, body, checksum = result
        try:
            if checksum is not None and crc32(body) != checksum:
                raise orjson.JSONDecodeError("its checksum is another", "", 0)  # noqa: TRY301 - a call for each write
            old = orjson.loads(body if body[:1] == b"{" else b"")  # as ``decode``, without a call for each write
            if checksum is None and old is not None:
                check_stored(old)
        except orjson.JSONDecodeError:
            if condition is not None or change is not None or write.wants_old:
                raise
            return Judged(None, True, put, is_damaged=True)
    if condition is not None and not condition.matches(old if old is not None else {}):
        return Judged(old if write.tells_item or write.table.needs_old else None, False, put)
    if change is not None:
        if old is not None or not change.only_removes:
            try:
                put = _changed(write.table, change, old, size)
            except (DynamoDBError, ExpressionFault) as fault:
                return Judged(old, True, put, fault)
    elif put is None and not write.removes and not write.table.needs_old:
        old = None  # a mere condition
    return Judged(old, True, put)


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
    """How much larger an item has become by a change of these attributes. What is far too large isn't measured to its
    end.
    """
    if old is None:
        return item_size_up_to(new, ITEM_BYTES_MAX)
    before = item_size({name: old[name] for name in touched if name in old})
    after = {name: new[name] for name in touched if name in new}
    return item_size_up_to(after, before + ITEM_BYTES_MAX) - before
