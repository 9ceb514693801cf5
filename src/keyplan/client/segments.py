"""Parallel scans: a table, or an index, read whole in segments, one request for each at a time.

What is read at once is a round: up to 1 MB of each segment, or its share of a page. Rounds go on until every segment
has ended, or the page is full: a position has a place in each segment, so that a job can go on where it was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from keyplan.client.conversations import Conversation, Request
from keyplan.client.cursors import Position
from keyplan.client.read_plans import FILTERED_PAGE, Chunk, Entry, Item, ScanReader
from keyplan.client.target import Target
from keyplan.model.compiled.plans import ScanPlan

__all__ = ["SegmentsReader"]

_ENDED = "null"


class SegmentsReader:
    """Scan in segments. A position says of each segment where it goes on, or that it has ended."""

    def __init__(self, plan: ScanPlan, target: Target) -> None:
        self.plan = plan
        self._reader = ScanReader(plan, target)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """Everything; or with a ``size`` a page: what is read of a segment behind it is left to the next one."""
        entries: list[Entry] = []
        places = self._places(position)
        while any(place != _ENDED for place in places):
            going_on = sum(place != _ENDED for place in places)
            limit = None if size is None else max(size + 1 - len(entries), FILTERED_PAGE) // going_on + 1
            for segment, items, following in (yield from self._round(values, places, limit)):
                for item in items:
                    instance = self._reader.instance(item)
                    if instance is not None and len(entries) == size:
                        return Chunk(entries, places)
                    if instance is not None:
                        entries.append(Entry(instance, item))
                    if size is not None:
                        places[segment] = _text(self._reader.key_of(item))
                places[segment] = following
        return Chunk(entries, None)

    def part(self, values: Mapping[str, Any], position: Position | None) -> Conversation[Chunk]:
        """The next round: as much of each segment as a request gives."""
        places = self._places(position)
        entries: list[Entry] = []
        for segment, items, following in (yield from self._round(values, places)):
            instances = ((self._reader.instance(item), item) for item in items)
            entries += [Entry(instance, item) for instance, item in instances if instance is not None]
            places[segment] = following
        return Chunk(entries, None if all(place == _ENDED for place in places) else places)

    def total(self, values: Mapping[str, Any], measure: Callable[[Any], int]) -> Conversation[int]:
        """The sum of what ``measure`` says of each item."""
        counted = 0
        places = self._places(None)
        while any(place != _ENDED for place in places):
            for segment, items, following in (yield from self._round(values, places)):
                counted += sum(measure(entity) for entity in map(self._reader.instance, items) if entity is not None)
                places[segment] = following
        return counted

    def _places(self, position: Position | None) -> list[str]:
        return [""] * self.plan.segments if position is None else list(position)

    def _round(
        self, values: Mapping[str, Any], places: Sequence[str], limit: int | None = None
    ) -> Conversation[list[tuple[int, list[Item], str]]]:
        """The items of the next request of each segment that goes on, and where the segment goes on behind them."""
        asked = [segment for segment, place in enumerate(places) if place != _ENDED]
        requests: list[Request] = []
        for segment in asked:
            request = {**self._reader.request(values), "Segment": segment, "TotalSegments": self.plan.segments}
            if places[segment]:
                request["ExclusiveStartKey"] = orjson.loads(places[segment])
            if limit is not None:
                request["Limit"] = limit
            requests.append(Request("Scan", request))
        responses = yield requests
        return [
            (segment, response["Items"], _text(response.get("LastEvaluatedKey")))
            for segment, response in zip(asked, responses, strict=True)
        ]


def _text(key: Mapping[str, Any] | None) -> str:
    return orjson.dumps(key).decode()
