"""GetShardIterator: an iterator for a position in a shard, valid for 15 minutes."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ValidationException, one_or_more
from keyplan.store import streams
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.storage.key_layouts import ROW_MAX
from keyplan.store.storage.storage_transactions import Reader
from keyplan.store.storage.stream_rows import Changes, StoredShard, StoredStream

_BY_SEQUENCE = frozenset(("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"))
_BY_TIME = "AT_TIMESTAMP"


def get_shard_iterator(database: Database, request: Request) -> Answer:
    _check(request)
    now_s = database.clock()

    def work(reader: Reader) -> streams.Iterator:
        changes = reader.changes
        stream = streams.find_stream(changes, request["StreamArn"], now_s)
        shard = streams.find_shard(changes, stream, request["ShardId"], now_s)
        after = _after(changes, stream, shard, request, now_s)
        return streams.Iterator(database.region, stream.table, stream.label, shard.number, after, now_s)

    return {"ShardIterator": database.storage.read(work).encode()}


def _check(request: Request) -> None:
    streams.check_arn(request["StreamArn"])
    kind: str = request["ShardIteratorType"]
    sequence = request.get("SequenceNumber")
    if kind in _BY_SEQUENCE and sequence is None:
        raise one_or_more("Invalid SequenceNumber")
    if kind not in _BY_SEQUENCE and sequence is not None:
        raise one_or_more("SequenceNumber should not be passed for this iterator type")
    if kind == _BY_TIME and request.get("Timestamp") is None:
        raise one_or_more("Invalid Timestamp")
    if kind != _BY_TIME and request.get("Timestamp") is not None:
        raise one_or_more("Timestamp should not be passed for this iterator type")
    if sequence is not None:
        streams.sequence_place(sequence)


def _after(changes: Changes, stream: StoredStream, shard: StoredShard, request: Request, now_s: float) -> int:
    kind: str = request["ShardIteratorType"]
    horizon = streams.trim_horizon(changes, stream, shard, now_s)
    if kind == "TRIM_HORIZON":
        return horizon
    end = changes.last(stream.id) if shard.closed_after is None else shard.closed_after
    if kind == "LATEST":
        return end
    if kind == _BY_TIME:
        first = changes.first_since(stream.id, request["Timestamp"], horizon)
        return end if first is None else min(end, first - 1)
    sequence = streams.sequence_place(request["SequenceNumber"])
    ending = streams.ending_sequence(shard)
    if int(sequence) < int(streams.starting_sequence(shard)) or (ending is not None and int(sequence) > int(ending)):
        raise ValidationException("Invalid SequenceNumber for the shard")
    after = streams.position_before(sequence) if kind == "AT_SEQUENCE_NUMBER" else streams.position_at(sequence)
    if after > ROW_MAX:
        raise ValidationException("Invalid SequenceNumber for the shard")
    if after < horizon:
        raise streams.trimmed()
    return after
