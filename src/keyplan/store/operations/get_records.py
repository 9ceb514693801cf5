"""GetRecords: return the records of a shard after an iterator, and the next iterator unless the shard has ended."""

from __future__ import annotations

import hashlib
from typing import Any

from keyplan.dynamodb.limits import STREAM_PAGE_BYTES_MAX, STREAM_RECORDS_MAX
from keyplan.store import streams
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.storage.storage_transactions import Reader
from keyplan.store.storage.stream_rows import Change, Changes, StoredShard, StoredStream
from keyplan.store.work_budget import spend

NUMBERS_READ_MAX = 20_000
"""Maximum number of stream records to read for one shard. As in the service, a response can be empty before the end."""
_BY_EXPIRY = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}


def get_records(database: Database, request: Request) -> Answer:
    now_s = database.clock()
    place = streams.decode_iterator(request["ShardIterator"], now_s)
    limit = request.get("Limit") or STREAM_RECORDS_MAX

    def work(reader: Reader) -> Answer:
        changes = reader.changes
        stream = streams.find_stream(changes, place.arn, now_s)
        shard = _shard(changes, stream, place.shard, now_s)
        if place.after < streams.trim_horizon(changes, stream, shard, now_s):
            raise streams.trimmed()
        return _page(changes, stream, shard, place.after, limit, now_s, database.region)

    return database.storage.read(work)


def _shard(changes: Changes, stream: StoredStream, number: int, now_s: float) -> StoredShard:
    for shard in streams.shown_shards(changes, stream, now_s):
        if shard.number == number:
            return shard
    raise streams.no_shard()


def _page(
    changes: Changes, stream: StoredStream, shard: StoredShard, after: int, limit: int, now_s: float, region: str
) -> Answer:
    end = changes.last(stream.id) if shard.closed_after is None else shard.closed_after
    until = min(end, after + NUMBERS_READ_MAX)
    view: str = decode(stream.definition.encode())["StreamViewType"]
    records: list[Answer] = []
    size_bytes = 0
    position = max(after, until)
    for change in changes.read(stream.id, shard, after, until, limit):
        size_bytes += change.size
        if records and size_bytes > STREAM_PAGE_BYTES_MAX:
            break
        spend(len(change.body))
        records.append(_record(change, stream, view, region))
        after = change.number
        if len(records) == limit:
            break
    else:
        after = position
    answer: Answer = {"Records": records}
    if shard.closed_after is None or after < shard.closed_after:
        answer["NextShardIterator"] = streams.Iterator(
            region, stream.table, stream.label, shard.number, after, now_s
        ).encode()
    return answer


def _record(change: Change, stream: StoredStream, view: str, region: str) -> Answer:
    sequence = streams.sequence_of(change.number)
    images: dict[str, Any] = decode(change.body)
    identity = f"{stream.table}/{stream.label}/{stream.id}/{sequence}".encode()
    record: Answer = {
        "eventID": hashlib.blake2b(identity, digest_size=16).hexdigest(),
        "eventName": "REMOVE" if change.event == "EXPIRE" else change.event,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": region,
        "dynamodb": {
            "ApproximateCreationDateTime": int(change.made_s),
            **images,
            "SequenceNumber": sequence,
            "SizeBytes": change.size,
            "StreamViewType": view,
        },
    }
    if change.event == "EXPIRE":
        record["userIdentity"] = _BY_EXPIRY
    return record
