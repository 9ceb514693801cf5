"""Recording changes: one record for each change of an item, in the transaction that makes it; and the shards' turns.

A record's size is that of the keys and images that it holds ("Reading and processing a stream" in the developer guide
shows sizes). A write that leaves an item as it was is no change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from keyplan.store.storage.key_layouts import KeyText
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.storage.stream_rows import Changes, StoredShard
from keyplan.store.streams.stream_lifecycle import trim_stream
from keyplan.store.streams.stream_shards import OPEN_SHARDS_MAX, ShardLife, children, hash_of

Event = Literal["INSERT", "MODIFY", "REMOVE", "EXPIRE"]
"""What happened to an item. EXPIRE is a REMOVE by the time to live."""
ViewType = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]


@dataclass(frozen=True, slots=True)
class Image:
    """An item before or after a change: its size in bytes and its stored form."""

    size: int
    body: bytes


@dataclass(frozen=True, slots=True)
class _Due:
    """When a stream's open shards have to close, as this process knows it: another may have closed them already."""

    at_s: float
    at_number: int | None


class Recorder:
    """Writes the records of all streams of a store. It remembers when shards have to close, so that this costs no
    statement per write.
    """

    def __init__(self, clock: Callable[[], float], life: ShardLife) -> None:
        self._clock = clock
        self._life = life
        self._due: dict[int, _Due] = {}

    def record(
        self,
        writer: Writer,
        stream: TableStream,
        event: Event,
        partition: KeyText,
        keys: Mapping[str, Any],
        keys_size: int,
        old: Image | None,
        new: Image | None,
    ) -> None:
        """Write the record of a change."""
        size = keys_size
        parts = [b'{"Keys":', orjson.dumps(keys)]
        if new is not None and stream.view in {"NEW_IMAGE", "NEW_AND_OLD_IMAGES"}:
            parts += (b',"NewImage":', new.body)
            size += new.size
        if old is not None and stream.view in {"OLD_IMAGE", "NEW_AND_OLD_IMAGES"}:
            parts += (b',"OldImage":', old.body)
            size += old.size
        parts.append(b"}")
        now_s = self._clock()
        changes = writer.changes
        number = changes.add(stream.id, hash_of(partition), now_s, event, size, b"".join(parts))
        due = self._due.get(stream.id)
        if due is None or now_s >= due.at_s or (due.at_number is not None and number >= due.at_number):
            self._turn(changes, stream.id, now_s, number)

    def _turn(self, changes: Changes, stream: int, now_s: float, number: int) -> None:
        """Close the open shards after this record, if it is time, and open their children."""
        shards = changes.shards(stream)
        opened = [shard for shard in shards if shard.closed_after is None]
        due = self._due_of(opened)
        is_full = due.at_number is not None and number >= due.at_number
        if now_s < due.at_s and not is_full:
            self._due[stream] = due
            return
        turn(changes, stream, shards, now_s, number, splits=is_full)
        trim_stream(changes, stream, now_s)
        # Looked up again with the next record: this transaction may yet be undone.
        self._due.pop(stream, None)

    def _due_of(self, opened: list[StoredShard]) -> _Due:
        first = min(opened, key=lambda shard: shard.opened_after)
        records = self._life.records
        return _Due(
            first.opened_s + self._life.seconds, None if records is None else first.opened_after + records * len(opened)
        )


def turn(changes: Changes, stream: int, shards: list[StoredShard], now_s: float, number: int, *, splits: bool) -> None:
    """Close the open shards of a stream after the record ``number``, and open their children."""
    opened = [shard for shard in shards if shard.closed_after is None]
    next_number = max(shard.number for shard in shards) + 1
    splits = splits and len(opened) * 2 <= OPEN_SHARDS_MAX
    for shard in opened:
        changes.change_shard(stream, replace(shard, closed_s=now_s, closed_after=number))
        for child in children(shard, next_number, now_s, number, splits=splits):
            changes.open_shard(stream, child)
            next_number += 1


@dataclass(frozen=True, slots=True)
class TableStream:
    """The stream that records the changes of a table."""

    id: int
    view: ViewType
    recorder: Recorder
