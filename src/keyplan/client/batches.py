"""Batch reads and writes, split according to DynamoDB's limits. Unprocessed keys and items are retried.

Limits: 100 keys per BatchGetItem, 25 writes per BatchWriteItem. Source: DynamoDB's API reference.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping
from itertools import chain, count
from typing import Any

from keyplan.client.conversations import Conversation, Pause, Request
from keyplan.dynamodb.limits import BATCH_GET_KEYS_MAX, BATCH_WRITE_REQUESTS_MAX
from keyplan.dynamodb.service_errors import THROTTLING_TYPES
from keyplan.errors import DynamoDBError, StoreError

IDLE_SECONDS_MAX = 30.0
"""A batch fails if the store hasn't processed any key or item for this many seconds."""
PAUSE_SECONDS_MAX = 2.0
PARALLEL_MAX = 20

Item = dict[str, dict[str, Any]]


def _identity(key: Item) -> Callable[[Item], Hashable]:
    """A function that returns an item's identity: the values of the attributes in ``key``."""
    pairs = [(name, next(iter(value))) for name, value in key.items()]
    if len(pairs) == 2:  # the usual case; the function is called twice for each item
        (partition, kind), (sort, sort_kind) = pairs
        return lambda item: (item[partition][kind], item[sort][sort_kind])
    return lambda item: tuple([item[name][kind] for name, kind in pairs])


def batch_get(
    table: str, keys: list[Item], *, consistent: bool, projection: Mapping[str, Any] | None = None
) -> Conversation[list[Item | None]]:
    """The items of ``keys`` in order; None for each missing item. Raises StoreError if keys remain unprocessed."""
    if not keys:
        return []
    identity = _identity(keys[0])
    asked = [identity(key) for key in keys]
    pending = list(dict(zip(asked, keys, strict=True)).values())
    result: dict[Hashable, Item] = {}

    def request(chunk: list[Item]) -> Request:
        wanted: dict[str, Any] = {"Keys": chunk, **(projection or {})}
        if consistent:
            wanted["ConsistentRead"] = True
        return Request("BatchGetItem", {"RequestItems": {table: wanted}})

    def take(response: dict[str, Any]) -> list[Item]:
        items: list[Item] = response.get("Responses", {}).get(table, [])
        result.update(zip(map(identity, items), items, strict=True))
        rest: list[Item] = response.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
        return rest

    yield from _until_done(pending, BATCH_GET_KEYS_MAX, request, take, "keys")
    return [result.get(hashable) for hashable in asked]


def batch_write(table: str, writes: list[dict[str, Any]]) -> Conversation[None]:
    """Send PutRequests and DeleteRequests in batches. Raises StoreError if writes remain unprocessed."""

    def request(chunk: list[dict[str, Any]]) -> Request:
        return Request("BatchWriteItem", {"RequestItems": {table: chunk}})

    def take(response: dict[str, Any]) -> list[dict[str, Any]]:
        rest: list[dict[str, Any]] = response.get("UnprocessedItems", {}).get(table, [])
        return rest

    yield from _until_done(writes, BATCH_WRITE_REQUESTS_MAX, request, take, "writes")


def _until_done(
    pending: list[Any],
    chunk_max: int,
    request: Callable[[list[Any]], Request],
    take: Callable[[dict[str, Any]], list[Any]],
    what: str,
) -> Conversation[None]:
    whole, idle_seconds, parallel = len(pending), 0.0, PARALLEL_MAX
    for attempt in count():
        chunks = [pending[start : start + chunk_max] for start in range(0, len(pending), chunk_max)]
        rest: list[Any] = []
        while chunks:
            sent = chunks[:parallel]
            try:
                responses = yield [request(chunk) for chunk in sent]
            except DynamoDBError as error:
                if error.type not in THROTTLING_TYPES:
                    raise
                # A throttled request fails as a whole, and the outcomes of the parallel requests are unknown: repeat
                # all of them sequentially, to detect progress.
                rest.extend(chain.from_iterable(chunks))
                parallel = 1
                break
            for response in responses:
                rest.extend(take(response))
            chunks = chunks[parallel:]
            parallel = min(PARALLEL_MAX, 2 * parallel)
        if not rest:
            return
        if len(rest) < len(pending):
            idle_seconds = 0.0
        elif idle_seconds >= IDLE_SECONDS_MAX:
            idle = f"{idle_seconds:.0f} s without progress"
            text = f"{len(rest)} of {whole} {what} of a batch remain unprocessed after {idle}"
            raise StoreError(text, hint="the table is throttled: retry later, or increase its throughput")
        pending = rest
        longest = min(PAUSE_SECONDS_MAX, 0.05 * 2 ** min(attempt, 10))
        pause = random.uniform(longest / 2, longest)  # noqa: S311 - jitter, not a secret
        idle_seconds += pause
        yield Pause(pause)
