"""Parallel scans: a table, or an index, read whole in segments, one request for each at a time.

What is read at once is a round: up to 1 MB of each segment. Rounds go on until every segment has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from keyplan.client.conversations import Conversation, Request
from keyplan.client.cursors import Position
from keyplan.client.reads import Chunk, Entry, Item, ScanReader
from keyplan.client.target import Target
from keyplan.design.compiled.plans import ScanPlan

__all__ = ["SegmentsReader"]

_ENDED = "null"


class SegmentsReader:
    """Scan in segments. A position says of each segment where it goes on, or that it has ended."""

    def __init__(self, plan: ScanPlan, target: Target) -> None:
        self.plan = plan
        self._reader = ScanReader(plan, target)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """Everything; or with a ``size``, which a job doesn't keep to, the next round."""
        entries: list[Entry] = []
        while True:
            items, position = yield from self._round(values, position)
            instances = ((self._reader.instance(item), item) for item in items)
            entries += [Entry(instance, item) for instance, item in instances if instance is not None]
            if position is None or size is not None:
                return Chunk(entries, position)

    def total(self, values: Mapping[str, Any], measure: Callable[[Any], int]) -> Conversation[int]:
        """The sum of what ``measure`` says of each item."""
        counted, position = 0, None
        while True:
            items, position = yield from self._round(values, position)
            counted += sum(measure(entity) for entity in map(self._reader.instance, items) if entity is not None)
            if position is None:
                return counted

    def _round(
        self, values: Mapping[str, Any], position: Position | None
    ) -> Conversation[tuple[list[Item], Position | None]]:
        """The items of the next request of each segment, and where they go on: None where all have ended."""
        count = self.plan.segments
        starts: list[str] = [""] * count if position is None else list(position)
        asked = [segment for segment in range(count) if starts[segment] != _ENDED]
        requests: list[Request] = []
        for segment in asked:
            request = {**self._reader.request(values), "Segment": segment, "TotalSegments": count}
            if starts[segment]:
                request["ExclusiveStartKey"] = orjson.loads(starts[segment])
            requests.append(Request("Scan", request))
        responses = yield requests
        items: list[Item] = []
        for segment, response in zip(asked, responses, strict=True):
            items += response["Items"]
            starts[segment] = orjson.dumps(response.get("LastEvaluatedKey")).decode()
        return items, None if all(start == _ENDED for start in starts) else starts
