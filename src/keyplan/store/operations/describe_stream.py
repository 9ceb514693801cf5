"""DescribeStream: describe a stream and its shards, in creation order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.arns import stream_arn
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.storage.storage_transactions import Reader
from keyplan.store.storage.stream_rows import StoredShard, StoredStream
from keyplan.store.streams import ending_sequence, find_stream, shard_id, shown_shards, starting_sequence

SHARDS_MAX = 100


def describe_stream(database: Database, request: Request) -> Answer:
    wanted = request.get("ShardFilter")
    if wanted is not None and wanted.get("Type") is None:
        raise ValidationException(
            "1 validation error detected: Value 'null' at 'shardFilter.type' failed to satisfy constraint: "
            "Member must be CHILD_SHARDS"
        )
    now_s = database.clock()

    def work(reader: Reader) -> tuple[StoredStream, list[StoredShard]]:
        stream = find_stream(reader.changes, request["StreamArn"], now_s)
        return stream, shown_shards(reader.changes, stream, now_s)

    stream, shards = database.storage.read(work)
    names = {shard.number: shard_id(shard) for shard in shards}
    shown = [_shard(shard, names) for shard in shards if _is_requested(shard, names, request)]
    limit = request.get("Limit") or SHARDS_MAX
    definition: dict[str, Any] = decode(stream.definition.encode())
    description: Answer = {
        "StreamArn": stream_arn(database.region, stream.table, stream.label),
        "StreamLabel": stream.label,
        "StreamStatus": "ENABLED" if stream.disabled_s is None else "DISABLED",
        "StreamViewType": definition["StreamViewType"],
        "CreationRequestDateTime": stream.enabled_s,
        "TableName": stream.table,
        "KeySchema": definition["KeySchema"],
        "Shards": shown[:limit],
    }
    if len(shown) > limit:
        description["LastEvaluatedShardId"] = shown[limit - 1]["ShardId"]
    return {"StreamDescription": description}


def _is_requested(shard: StoredShard, names: Mapping[int, str], request: Request) -> bool:
    start: str | None = request.get("ExclusiveStartShardId")
    if start is not None and names[shard.number] <= start:
        return False
    wanted = request.get("ShardFilter")
    return not wanted or (shard.parent is not None and names.get(shard.parent, "") == wanted.get("ShardId"))


def _shard(shard: StoredShard, names: Mapping[int, str]) -> dict[str, Any]:
    numbers = {"StartingSequenceNumber": starting_sequence(shard)}
    end = ending_sequence(shard)
    if end is not None:
        numbers["EndingSequenceNumber"] = end
    described: dict[str, Any] = {"ShardId": names[shard.number], "SequenceNumberRange": numbers}
    if shard.parent is not None and shard.parent in names:
        described["ParentShardId"] = names[shard.parent]
    return described
