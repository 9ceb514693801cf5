"""A stream consumer like the Kinesis adapter. The consumer reads each parent shard completely before the child shards,
and keeps checkpoints, so that it can stop and continue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
Record = dict[str, Any]


@dataclass
class Checkpoints:
    """The last sequence number that was read from each shard, and the shards that were read completely."""

    last: dict[str, str] = field(default_factory=dict[str, str])
    done: set[str] = field(default_factory=set[str])


def shards(call: Call, arn: str, page: int = 20) -> list[dict[str, Any]]:
    """Return all shards of a stream by reading all pages."""
    result: list[dict[str, Any]] = []
    start: str | None = None
    while True:
        described = call("DescribeStream", {"StreamArn": arn, "Limit": page, "ExclusiveStartShardId": start})
        result += described["StreamDescription"]["Shards"]
        start = described["StreamDescription"].get("LastEvaluatedShardId")
        if start is None:
            return result


def consume(
    call: Call, arn: str, checkpoints: Checkpoints, limit: int = 7, pages_max: int | None = None
) -> list[Record]:
    """Return the records after the checkpoints, from at most ``pages_max`` pages, and update the checkpoints."""
    records: list[Record] = []
    pages = 0
    while True:
        known = shards(call, arn)
        names = {shard["ShardId"] for shard in known}
        ready = [
            shard
            for shard in known
            if shard["ShardId"] not in checkpoints.done
            and (shard.get("ParentShardId") not in names or shard["ParentShardId"] in checkpoints.done)
        ]
        ended = False
        for shard in ready:
            name = shard["ShardId"]
            iterator: str | None = _start(call, arn, name, checkpoints)
            while iterator is not None:
                if pages_max is not None and pages >= pages_max:
                    return records
                pages += 1
                answer = call("GetRecords", {"ShardIterator": iterator, "Limit": limit})
                records += answer["Records"]
                if answer["Records"]:
                    checkpoints.last[name] = answer["Records"][-1]["dynamodb"]["SequenceNumber"]
                iterator = answer.get("NextShardIterator")
                if iterator is None:
                    checkpoints.done.add(name)
                    ended = True
                elif not answer["Records"] and "EndingSequenceNumber" not in shard["SequenceNumberRange"]:
                    break
        if not ended:
            return records


def _start(call: Call, arn: str, shard: str, checkpoints: Checkpoints) -> str:
    wanted: dict[str, Any] = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    if shard in checkpoints.last:
        wanted |= {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": checkpoints.last[shard]}
    text: str = call("GetShardIterator", wanted)["ShardIterator"]
    return text
