"""Shards and sequence numbers: their spellings, where a key belongs, and how a shard goes on in its children.

A shard holds the changes of a range of partition keys, by their hash, over some time. Then its children take over: one
with the same range, or two with half of it each. So the changes of an item stand in one shard, or in a shard and after
that in its child, and who reads parents first reads them in order ("Change data capture for DynamoDB Streams" in the
developer guide).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from keyplan.store.storage.key_layouts import KeyText
from keyplan.store.storage.stream_rows import HASHES, StoredShard

RETENTION_S = 24 * 3600.0
"""How long a record can be read, and a disabled stream described."""
SHARD_S = 4 * 3600.0
"""About how long a shard of the service takes records."""
OPEN_SHARDS_MAX = 16
"""When so many are open, full shards are followed by one child each."""

_BASE = 10**20
_SPACING = 10
_CLOSED = 5


@dataclass(frozen=True, slots=True)
class ShardLife:
    """When shards close."""

    seconds: float = SHARD_S
    """Its first record after so long goes into the child of a shard."""
    records: int | None = None
    """When the open shards of a stream hold so many on average, each goes on in two children; None is never."""


def hash_of(partition: KeyText) -> int:
    """The hash by which a partition key belongs to a shard."""
    return zlib.crc32(partition if isinstance(partition, bytes) else partition.encode())


def sequence_of(number: int) -> str:
    """The sequence number of a record: 21 digits at least, as the service's."""
    return str(_BASE + number * _SPACING)


def position_before(sequence: str) -> int:
    """The number of the record after which a sequence number stands: a record's own number stands at it, not after."""
    return -(-(int(sequence) - _BASE) // _SPACING) - 1


def position_at(sequence: str) -> int:
    """The number of the last record up to a sequence number, itself included."""
    return (int(sequence) - _BASE) // _SPACING


def starting_sequence(shard: StoredShard) -> str:
    """A number before the first record of a shard, and after the last of its parent."""
    return str(_BASE + shard.opened_after * _SPACING + _CLOSED + 1)


def ending_sequence(shard: StoredShard) -> str | None:
    """A number after the last record of a closed shard."""
    return None if shard.closed_after is None else str(_BASE + shard.closed_after * _SPACING + _CLOSED)


def shard_id(shard: StoredShard) -> str:
    """The name of a shard. Names sort as shards were opened: some readers rely on it."""
    moment = int(shard.opened_s * 1000) * 100_000 + shard.number
    return f"shardId-{moment:020d}-{zlib.crc32(str(moment).encode()):08x}"


def first_shard(now_s: float) -> StoredShard:
    """The one shard of a new stream."""
    return StoredShard(1, None, 0, HASHES - 1, now_s, 0)


def children(shard: StoredShard, number: int, now_s: float, after: int, *, splits: bool) -> list[StoredShard]:
    """What follows a shard, numbered from ``number``, for the records after ``after``."""
    opened_s = max(now_s, shard.opened_s)
    ranges = [(shard.low, shard.high)]
    if splits and shard.low < shard.high:
        middle = (shard.low + shard.high) // 2
        ranges = [(shard.low, middle), (middle + 1, shard.high)]
    return [
        StoredShard(number + place, shard.number, low, high, opened_s, after)
        for place, (low, high) in enumerate(ranges)
    ]
