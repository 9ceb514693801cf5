"""Reads time-bucketed partitions one after the other, in result order, with one cursor for all.

Reading a page reads only the necessary buckets; reading all items reads several buckets in parallel.
``keyplan.model.compiled.time_bucket_keys`` determines the buckets of a range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.client.conversations import Conversation, together
from keyplan.client.cursors import Position
from keyplan.client.key_conditions import COMBINATIONS_MAX, value_sets
from keyplan.client.merged_partitions import CompletingReader, MergeReader, PartedReader
from keyplan.client.read_plans import Chunk, Entry, QueryReader
from keyplan.errors import ArgumentError, CursorError
from keyplan.model.compiled.plans import QueryPlan
from keyplan.model.declared.entity import Entity

PARALLEL_MAX = 20
"""Maximum number of buckets to read in parallel in a full read."""


def bucket_sets(plan: QueryPlan, values: Mapping[str, Any]) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The values of each bucket, in result order. Raises ArgumentError, for example, for too many combinations."""
    sets = plan.bucket_sets(values)
    if plan.buckets is None or not plan.each or not sets:
        return sets
    combined = len(value_sets(plan.each, values))
    if len(sets) * combined > COMBINATIONS_MAX:
        raise ArgumentError(
            f"the call has {len(sets) * combined:,} combinations of values ({len(sets):,} {plan.buckets.unit}s of "
            f"{plan.buckets.field} × {combined:,} of {' and '.join(plan.each)}); the maximum is {COMBINATIONS_MAX:,}",
            place=", ".join((plan.buckets.field, *plan.each)),
            hint="pass fewer values, or a shorter time range",
        )
    return sets


class BucketsReader:
    """Reads the buckets of one query with ``reader``. A position is a bucket, and a position in the bucket."""

    def __init__(self, plan: QueryPlan, reader: QueryReader | MergeReader | PartedReader | CompletingReader) -> None:
        self.plan = plan
        self._reader = reader

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next entries, from the position's bucket on."""
        sets = bucket_sets(self.plan, values)
        inner: Position | None = None
        if position is not None:
            sets, inner = _beginning(sets, position), position[1:]
        if size is None:
            return (yield from self._all(sets, inner))
        entries: list[Entry] = []
        last = ""
        for bucket, element in sets:
            if len(entries) == size:  # the page is full: check whether more entries follow
                if (yield from self._reader.first(element)) is None:
                    continue
                return Chunk(entries, [last, *self._reader.position(entries[-1].item)])
            chunk = yield from self._reader.chunk(element, size - len(entries), inner)
            inner = None
            entries += chunk.entries
            last = bucket if chunk.entries else last
            if chunk.position is not None:
                return Chunk(entries, [bucket, *chunk.position])
        return Chunk(entries, None)

    def first(self, values: Mapping[str, Any]) -> Conversation[Entity | None]:
        """The first item of the first nonempty bucket."""
        for _, element in bucket_sets(self.plan, values):
            result = yield from self._reader.first(element)
            if result is not None:
                return result
        return None

    def _all(self, sets: Sequence[tuple[str, Mapping[str, Any]]], inner: Position | None) -> Conversation[Chunk]:
        """The entries of all buckets. Entries of the first bucket start after ``inner``."""
        entries: list[Entry] = []
        for start in range(0, len(sets), PARALLEL_MAX):
            reading = [
                self._reader.chunk(element, None, None if start or at else inner)
                for at, (_, element) in enumerate(sets[start : start + PARALLEL_MAX])
            ]
            for chunk in (yield from together(reading)):
                entries += chunk.entries
        return Chunk(entries, None)


def _beginning(
    sets: Sequence[tuple[str, Mapping[str, Any]]], position: Position
) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The buckets from the position's bucket on. Raises CursorError if the range doesn't contain that bucket."""
    at = next((at for at, (bucket, _) in enumerate(sets) if bucket == position[0]), None)
    if at is None:
        raise CursorError("the cursor is outside the time range", place="cursor", hint="start again without a cursor")
    return sets[at:]
