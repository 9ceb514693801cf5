"""The lives of streams: enabled and disabled with their tables, and trimmed when their records are a day old."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson

from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.storage.stream_rows import Changes, StoredStream
from keyplan.store.streams.stream_shards import RETENTION_S, first_shard

STREAM = "Stream"
"""The member of a table's definition that names its latest stream: ``Id``, ``Label`` and the ``TableId`` it is of."""

TRIMMED_TOGETHER = 500
"""Records of one transaction, so that other writers wait some milliseconds and no longer."""

Definition = dict[str, Any]


def enable(changes: Changes, table: str, table_id: int, definition: Mapping[str, Any], now_s: float) -> Definition:
    """Open a stream for a table whose definition has a ``StreamSpecification``; the definition with it."""
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
    changes.open_shard(stream, first_shard(now_s))
    return {**definition, STREAM: {"Id": stream, "Label": label, "TableId": table_id}}


def disable(changes: Changes, definition: Mapping[str, Any], now_s: float) -> Definition:
    """Close the shards of a table's stream; the definition without its specification. What is recorded can be read for
    a day.
    """
    stream: int = definition[STREAM]["Id"]
    last = changes.last(stream)
    for shard in changes.shards(stream):
        if shard.closed_after is None:
            changes.change_shard(stream, replace(shard, closed_s=now_s, closed_after=last))
    changes.disable(stream, now_s)
    return {member: value for member, value in definition.items() if member != "StreamSpecification"}


def is_over(stream: StoredStream, now_s: float) -> bool:
    """Whether a stream was disabled so long ago that it isn't there any more."""
    return stream.disabled_s is not None and stream.disabled_s <= now_s - RETENTION_S


def needs_trimming(reader: Reader, now_s: float) -> bool:
    """Whether ``trim`` would do anything."""
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
    """Remove records that are older than a day, closed shards whose last record went so, and streams that were
    disabled a day ago. The number of records removed; those of a stream that goes as a whole count as one.
    """
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
    """Remove old records and shards of one stream; the number of records."""
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
