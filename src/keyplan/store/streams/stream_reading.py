"""Reading streams: what the ARNs, shards and iterators of requests name.

An iterator is opaque to its users: the stream, the shard, the record after which it stands, and when it was given.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Any

import orjson

from keyplan.dynamodb.limits import NAME_PATTERN
from keyplan.dynamodb.service_errors import (
    ExpiredIteratorException,
    ResourceNotFoundException,
    TrimmedDataAccessException,
    ValidationException,
)
from keyplan.store.arns import stream_arn
from keyplan.store.storage.stream_rows import Changes, StoredShard, StoredStream
from keyplan.store.streams.stream_lifecycle import is_over
from keyplan.store.streams.stream_shards import RETENTION_S, shard_id

ITERATOR_S = 15 * 60.0
"""How long an iterator can be used."""

_ARN = re.compile(rf"arn:[a-z-]+:dynamodb:([a-z0-9-]+):\d{{12}}:table/({NAME_PATTERN})/stream/([0-9T:.-]+)")
_INVALID = "Invalid ShardIterator"
_NUMBERS_END = 2**63


@dataclass(frozen=True, slots=True)
class Iterator:
    """A place in a shard: the next record is the first one after the record ``after``."""

    region: str
    table: str
    label: str
    shard: int
    after: int
    given_s: float

    @property
    def arn(self) -> str:
        """The ARN of its stream."""
        return stream_arn(self.region, self.table, self.label)

    def encode(self) -> str:
        """Its text."""
        place = orjson.dumps([self.shard, self.after, self.given_s])
        return f"{self.arn}|1|{urlsafe_b64encode(place).decode()}"


def decode_iterator(text: str, now_s: float) -> Iterator:
    """The iterator of a text.

    Raises:
        ValidationException: it isn't one.
        ExpiredIteratorException: it is too old.
    """
    arn, _, rest = text.partition("|1|")
    named = _ARN.fullmatch(arn)
    try:
        shard, after, given_s = orjson.loads(urlsafe_b64decode(rest))
    except (ValueError, TypeError):
        raise ValidationException(_INVALID) from None
    if named is None or type(shard) is not int or type(after) is not int or type(given_s) not in {int, float}:
        raise ValidationException(_INVALID)
    place = Iterator(named[1], named[2], named[3], shard, after, given_s)
    if not (0 <= shard < _NUMBERS_END and 0 <= after < _NUMBERS_END) or place.encode() != text:
        raise ValidationException(_INVALID)
    if not -ITERATOR_S <= now_s - given_s <= ITERATOR_S:
        raise ExpiredIteratorException("The provided iterator exceeds the maximum age allowed.")
    return place


def find_stream(changes: Changes, arn: str, now_s: float) -> StoredStream:
    """The stream of an ARN; any region and any account will do.

    Raises:
        ValidationException: it isn't the ARN of a stream.
        ResourceNotFoundException: there is no such stream, or none any more.
    """
    named = check_arn(arn)
    for stream in changes.streams():
        if (stream.table, stream.label) == named and not is_over(stream, now_s):
            return stream
    raise ResourceNotFoundException(f"Requested resource not found: Stream: {arn} not found")


def check_arn(arn: str) -> tuple[str, str]:
    """The table and the label that the ARN of a stream names.

    Raises:
        ValidationException: it isn't one.
    """
    named = _ARN.fullmatch(arn)
    if named is None:
        raise ValidationException("Invalid StreamArn")
    return named[2], named[3]


def shown_shards(changes: Changes, stream: StoredStream, now_s: float) -> list[StoredShard]:
    """The shards of a stream, but for those that were closed more than a day ago."""
    since_s = now_s - RETENTION_S
    return [shard for shard in changes.shards(stream.id) if shard.closed_s is None or shard.closed_s >= since_s]


def find_shard(changes: Changes, stream: StoredStream, name: str, now_s: float) -> StoredShard:
    """The shard of a name.

    Raises:
        ResourceNotFoundException: there is none, or none any more.
    """
    for shard in shown_shards(changes, stream, now_s):
        if shard_id(shard) == name:
            return shard
    raise no_shard()


def no_shard() -> ResourceNotFoundException:
    """The error of a shard that isn't there, or not any more (reported of the service from 2015 to 2024)."""
    return ResourceNotFoundException("Requested resource not found: Shard does not exist")


def trim_horizon(changes: Changes, stream: StoredStream, shard: StoredShard, now_s: float) -> int:
    """The last record of a shard that is too old to be read, or the number at which the shard begins."""
    since_s = now_s - RETENTION_S
    first = changes.first_since(stream.id, since_s)
    last_old = changes.last(stream.id) if first is None else first - 1
    old = changes.last_of(stream.id, shard, last_old) if last_old > shard.opened_after else None
    return max(shard.opened_after, shard.trimmed, old or 0)


def trimmed() -> TrimmedDataAccessException:
    """The error of a place in a shard whose records are gone for their age."""
    return TrimmedDataAccessException("The data you are trying to access has been trimmed")


def sequence_place(sequence: Any) -> str:
    """A sequence number of a request.

    Raises:
        ValidationException: it isn't a number.
    """
    if not (isinstance(sequence, str) and sequence.isascii() and sequence.isdecimal()):
        raise ValidationException("Invalid SequenceNumber")
    return sequence
