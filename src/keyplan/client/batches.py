"""Batches as conversations: chunked to DynamoDB's limits, what was unprocessed tried again, nothing lost silently.

Limits: 100 keys a BatchGetItem, 25 writes a BatchWriteItem. Source: DynamoDB's API reference.
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

__all__ = ["batch_get", "batch_write"]

IDLE_SECONDS_MAX = 30.0
"""A batch ends with an error when it has waited so long since the store last took anything of it."""
PAUSE_SECONDS_MAX = 2.0
PARALLEL_MAX = 20

Item = dict[str, dict[str, Any]]


def _identity(key: Item) -> Callable[[Item], Hashable]:
    """What tells an item from all others, as a function of the item: the texts of its key attributes, which are named
    and typed as in ``key``.
    """
    pairs = [(name, next(iter(value))) for name, value in key.items()]
    if len(pairs) == 2:  # almost always, and this runs twice for each item
        (partition, kind), (sort, sort_kind) = pairs
        return lambda item: (item[partition][kind], item[sort][sort_kind])
    return lambda item: tuple([item[name][kind] for name, kind in pairs])


def batch_get(
    table: str, keys: list[Item], *, consistent: bool, projection: Mapping[str, Any] | None = None
) -> Conversation[list[Item | None]]:
    """The items of ``keys``, in their order; None where there is none. A key may be given twice. ``projection``: the
    members that ask for some of their attributes, the keys among them.

    Raises StoreError when the store goes on to leave some keys unanswered (``IDLE_SECONDS_MAX``).
    """
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
    """Carry out PutRequests and DeleteRequests. Raises StoreError when the store goes on to leave some untaken."""

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
                # A request of which nothing is let in fails as a whole. Which of the others were taken isn't known:
                # all are made again, one after the other, so that what is taken is seen.
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
            raise StoreError(
                f"{len(rest)} of {whole} {what} of a batch weren't taken by the store, none for {idle_seconds:.0f} s",
                hint="the table is throttled: try again later, or raise its throughput",
            )
        pending = rest
        longest = min(PAUSE_SECONDS_MAX, 0.05 * 2 ** min(attempt, 10))
        pause = random.uniform(longest / 2, longest)  # noqa: S311 - jitter, not a secret
        idle_seconds += pause
        yield Pause(pause)
