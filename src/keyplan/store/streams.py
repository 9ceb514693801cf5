"""Implements streams, with change records, shards, iterators, and a retention of 24 hours.

A shard contains the changes of a range of partition key hashes over a period of time. Child shards continue a shard:
one with the same range, or two with half of the range each. A consumer that reads parent shards first reads the changes
of an item in order ("Change data capture for DynamoDB Streams" in the developer guide). A record is written in the same
transaction as its change. A shard iterator is an opaque string that encodes stream, shard, position and creation time.
"""

from __future__ import annotations

import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import orjson

from keyplan.dynamodb import service_errors
from keyplan.store.arns import TABLE_ARN, stream_arn
from keyplan.store.storage.key_layouts import KeyText, Row, raw_of
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.storage.stream_rows import HASHES, Changes, StoredShard, StoredStream

RETENTION_S = 24 * 3600.0
SHARD_S = 4 * 3600.0
"""The approximate lifetime of an open shard in the service."""
OPEN_SHARDS_MAX = 16
"""At this number of open shards, full shards get one child each."""

_BASE = 10**20
_SPACING = 10
_CLOSED = 5


@dataclass(frozen=True, slots=True)
class ShardLife:
    """The limits at which shards close."""

    seconds: float = SHARD_S
    """The first record after this time goes to a child."""
    records: int | None = None
    """If the open shards of a stream have this many records on average, each gets two children; None means never."""


def sequence_of(number: int) -> str:
    """The sequence number of a record: at least 21 digits, as in the service."""
    return str(_BASE + number * _SPACING)


def position_before(sequence: str) -> int:
    """The number of the last record before a sequence number."""
    return -(-(int(sequence) - _BASE) // _SPACING) - 1


def position_at(sequence: str) -> int:
    """The number of the last record up to a sequence number, inclusive."""
    return (int(sequence) - _BASE) // _SPACING


def starting_sequence(shard: StoredShard) -> str:
    """A sequence number before the first record of a shard and after the last record of its parent."""
    return str(_BASE + shard.opened_after * _SPACING + _CLOSED + 1)


def ending_sequence(shard: StoredShard) -> str | None:
    """A sequence number after the last record of a closed shard."""
    return None if shard.closed_after is None else str(_BASE + shard.closed_after * _SPACING + _CLOSED)


def shard_id(shard: StoredShard) -> str:
    moment = int(shard.opened_s * 1000) * 100_000 + shard.number
    return f"shardId-{moment:020d}-{zlib.crc32(str(moment).encode()):08x}"


STREAM = "Stream"
"""The member of a table's definition with its latest stream: ``Id``, ``Label`` and its ``TableId``."""

TRIMMED_TOGETHER = 500
"""Records per transaction, so that other writers wait only some milliseconds."""

Definition = dict[str, Any]


def enable(changes: Changes, table: str, table_id: int, definition: Mapping[str, Any], now_s: float) -> Definition:
    """Create a stream for a table whose definition has a ``StreamSpecification``; returns the new definition."""
    known = {stream.label for stream in changes.streams() if stream.table == table}
    moment_ms = int(now_s * 1000)
    while _label(moment_ms) in known:
        moment_ms += 1
    described = {
        "KeySchema": definition["KeySchema"],
        "StreamViewType": definition["StreamSpecification"]["StreamViewType"],
    }
    label = _label(moment_ms)
    stream = changes.open_stream(table, label, orjson.dumps(described).decode(), moment_ms / 1000)
    changes.open_shard(stream, StoredShard(1, None, 0, HASHES - 1, now_s, 0))
    return {**definition, STREAM: {"Id": stream, "Label": label, "TableId": table_id}}


def disable(changes: Changes, definition: Mapping[str, Any], now_s: float) -> Definition:
    """Close the shards of a table's stream. The stream's records stay readable for 24 hours."""
    stream: int = definition[STREAM]["Id"]
    last = changes.last(stream)
    for shard in changes.shards(stream):
        if shard.closed_after is None:
            changes.change_shard(stream, replace(shard, closed_s=now_s, closed_after=last))
    changes.disable(stream, now_s)
    return {member: value for member, value in definition.items() if member != "StreamSpecification"}


def is_over(stream: StoredStream, now_s: float) -> bool:
    return stream.disabled_s is not None and stream.disabled_s <= now_s - RETENTION_S


def needs_trimming(reader: Reader, now_s: float) -> bool:
    changes = reader.changes
    return any(is_over(stream, now_s) or _is_old(changes, stream.id, now_s) for stream in changes.streams())


def _is_old(changes: Changes, stream: int, now_s: float) -> bool:
    since_s = now_s - RETENTION_S
    first = changes.first_since(stream, 0.0)
    horizon = changes.first_since(stream, since_s) or changes.last(stream)
    return (first is not None and first < horizon) or any(
        shard.closed_s is not None and shard.closed_s < since_s for shard in changes.shards(stream)
    )


def trim(writer: Writer, now_s: float) -> int:
    """Remove expired records, shards and streams; returns the number of removed records, counting a stream as one."""
    changes = writer.changes
    removed = 0
    for stream in changes.streams():
        if is_over(stream, now_s):
            changes.drop(stream.id)
            removed += 1
        else:
            removed += trim_stream(changes, stream.id, now_s)
    return removed


def trim_stream(changes: Changes, stream: int, now_s: float) -> int:
    """Remove old records and shards of one stream; returns the number of removed records."""
    since_s = now_s - RETENTION_S
    horizon = changes.first_since(stream, since_s) or changes.last(stream) + 1
    for shard in changes.shards(stream):
        if shard.closed_s is not None and shard.closed_s < since_s:
            changes.drop_shard(stream, shard.number)
            continue
        last = changes.last_of(stream, shard, horizon - 1)
        if last is not None and last > shard.trimmed:
            changes.change_shard(stream, replace(shard, trimmed=last))
    return changes.trim(stream, horizon, TRIMMED_TOGETHER)


def _label(moment_ms: int) -> str:
    moment = datetime.fromtimestamp(moment_ms / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment_ms % 1000:03d}"


Event = Literal["INSERT", "MODIFY", "REMOVE", "EXPIRE"]
"""The kind of a change. EXPIRE is a REMOVE by time to live."""
ViewType = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]


@dataclass(frozen=True, slots=True)
class _Due:
    """When a stream's open shards must close, unless another process has closed them already."""

    at_s: float
    at_number: int | None


class Recorder:
    """Writes stream records. Caches the limits of open shards, to avoid a SQL statement per write."""

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
        old: Row | None,
        new: Row | None,
    ) -> None:
        size = keys_size
        parts = [b'{"Keys":', orjson.dumps(keys)]
        if new is not None and stream.view in {"NEW_IMAGE", "NEW_AND_OLD_IMAGES"}:
            parts += (b',"NewImage":', new[1])
            size += new[0]
        if old is not None and stream.view in {"OLD_IMAGE", "NEW_AND_OLD_IMAGES"}:
            parts += (b',"OldImage":', old[1])
            size += old[0]
        parts.append(b"}")
        now_s = self._clock()
        changes = writer.changes
        number = changes.add(stream.id, zlib.crc32(raw_of(partition)), now_s, event, size, b"".join(parts))
        due = self._due.get(stream.id)
        if due is None or now_s >= due.at_s or (due.at_number is not None and number >= due.at_number):
            self._turn(changes, stream.id, now_s, number)

    def _turn(self, changes: Changes, stream: int, now_s: float, number: int) -> None:
        """If due, close the open shards after this record and open their children."""
        shards = changes.shards(stream)
        opened = [shard for shard in shards if shard.closed_after is None]
        due = self._due_of(opened)
        is_full = due.at_number is not None and number >= due.at_number
        if now_s < due.at_s and not is_full:
            self._due[stream] = due
            return
        turn(changes, stream, shards, now_s, number, splits=is_full)
        trim_stream(changes, stream, now_s)
        # Look the shard up again for the next record, because this transaction may be rolled back.
        self._due.pop(stream, None)

    def _due_of(self, opened: list[StoredShard]) -> _Due:
        first = min(opened, key=lambda shard: shard.opened_after)
        records = self._life.records
        return _Due(
            first.opened_s + self._life.seconds, None if records is None else first.opened_after + records * len(opened)
        )


def turn(changes: Changes, stream: int, shards: list[StoredShard], now_s: float, number: int, *, splits: bool) -> None:
    """Close the open shards of a stream after the record ``number`` and open their children."""
    opened = [shard for shard in shards if shard.closed_after is None]
    next_number = max(shard.number for shard in shards) + 1
    splits = splits and len(opened) * 2 <= OPEN_SHARDS_MAX
    for shard in opened:
        changes.change_shard(stream, replace(shard, closed_s=now_s, closed_after=number))
        ranges = [(shard.low, shard.high)]
        if splits and shard.low < shard.high:
            middle = (shard.low + shard.high) // 2
            ranges = [(shard.low, middle), (middle + 1, shard.high)]
        for low, high in ranges:
            opened_s = max(now_s, shard.opened_s)
            changes.open_shard(stream, StoredShard(next_number, shard.number, low, high, opened_s, number))
            next_number += 1


@dataclass(frozen=True, slots=True)
class TableStream:
    """The stream that contains the changes of a table."""

    id: int
    view: ViewType
    recorder: Recorder


ITERATOR_S = 15 * 60.0

_ARN = re.compile(rf"{TABLE_ARN}/stream/(?P<label>[0-9T:.-]+)")
_INVALID = "Invalid ShardIterator"
_NUMBERS_END = 2**63


@dataclass(frozen=True, slots=True)
class Iterator:
    """A position in a shard: the next record is the first one after the record ``after``."""

    region: str
    table: str
    label: str
    shard: int
    after: int
    given_s: float

    @property
    def arn(self) -> str:
        return stream_arn(self.region, self.table, self.label)

    def encode(self) -> str:
        place = orjson.dumps([self.shard, self.after, self.given_s])
        return f"{self.arn}|1|{urlsafe_b64encode(place).decode()}"


def decode_iterator(text: str, now_s: float) -> Iterator:
    """Decode an iterator. Raises ValidationException if it is invalid, or ExpiredIteratorException if it is too old."""
    arn, _, rest = text.partition("|1|")
    named = _ARN.fullmatch(arn)
    try:
        shard, after, given_s = orjson.loads(urlsafe_b64decode(rest))
    except (ValueError, TypeError):
        raise service_errors.ValidationException(_INVALID) from None
    if named is None or type(shard) is not int or type(after) is not int or type(given_s) not in {int, float}:
        raise service_errors.ValidationException(_INVALID)
    place = Iterator(named["region"], named["table"], named["label"], shard, after, given_s)
    if not (0 <= shard < _NUMBERS_END and 0 <= after < _NUMBERS_END) or place.encode() != text:
        raise service_errors.ValidationException(_INVALID)
    if not -ITERATOR_S <= now_s - given_s <= ITERATOR_S:
        raise service_errors.ExpiredIteratorException("The provided iterator exceeds the maximum age allowed.")
    return place


def find_stream(changes: Changes, arn: str, now_s: float) -> StoredStream:
    """The stream of an ARN, in any region and account. Raises ValidationException or ResourceNotFoundException."""
    named = check_arn(arn)
    for stream in changes.streams():
        if (stream.table, stream.label) == named and not is_over(stream, now_s):
            return stream
    raise service_errors.ResourceNotFoundException(f"Requested resource not found: Stream: {arn} not found")


def check_arn(arn: str) -> tuple[str, str]:
    """The table and the label in the ARN of a stream. Raises ValidationException."""
    named = _ARN.fullmatch(arn)
    if named is None:
        raise service_errors.ValidationException("Invalid StreamArn")
    return named["table"], named["label"]


def shown_shards(changes: Changes, stream: StoredStream, now_s: float) -> list[StoredShard]:
    """The shards of a stream, except those closed more than 24 hours ago."""
    since_s = now_s - RETENTION_S
    return [shard for shard in changes.shards(stream.id) if shard.closed_s is None or shard.closed_s >= since_s]


def find_shard(changes: Changes, stream: StoredStream, name: str, now_s: float) -> StoredShard:
    """The shard with this ID. Raises ResourceNotFoundException if the shard doesn't exist or has expired."""
    for shard in shown_shards(changes, stream, now_s):
        if shard_id(shard) == name:
            return shard
    raise no_shard()


def no_shard() -> service_errors.ResourceNotFoundException:
    return service_errors.ResourceNotFoundException("Requested resource not found: Shard does not exist")


def trim_horizon(changes: Changes, stream: StoredStream, shard: StoredShard, now_s: float) -> int:
    """The last expired record of a shard, or the number at which the shard starts."""
    since_s = now_s - RETENTION_S
    first = changes.first_since(stream.id, since_s)
    last_old = changes.last(stream.id) if first is None else first - 1
    old = changes.last_of(stream.id, shard, last_old) if last_old > shard.opened_after else None
    return max(shard.opened_after, shard.trimmed, old or 0)


def trimmed() -> service_errors.TrimmedDataAccessException:
    return service_errors.TrimmedDataAccessException("The data you are trying to access has been trimmed")


def sequence_place(sequence: Any) -> str:
    """The validated sequence number of a request. Raises ValidationException."""
    if not (isinstance(sequence, str) and sequence.isascii() and sequence.isdecimal()):
        raise service_errors.ValidationException("Invalid SequenceNumber")
    return sequence
