"""Buckets of time, one partition (or a few that are merged) after the other, in order and under one cursor.

A page asks no bucket before it needs it; what is read whole is read from some buckets at a time. Which buckets a range
names is said in ``keyplan.model.compiled.time_bucket_keys``, how each is read in ``reads.py``, ``merges.py`` and
``completing.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.client.conversations import Conversation, together
from keyplan.client.cursors import Position
from keyplan.client.key_conditions import COMBINATIONS_MAX, value_sets
from keyplan.client.merged_partitions import MergeReader, PartedReader
from keyplan.client.partial_indexes import CompletingReader
from keyplan.client.read_plans import Chunk, Entry, QueryReader
from keyplan.errors import ArgumentError, CursorError
from keyplan.model.compiled.plans import QueryPlan
from keyplan.model.declared.entity import Entity

__all__ = ["PARALLEL_MAX", "BucketsReader", "bucket_sets"]

PARALLEL_MAX = 20
"""How many buckets are read at a time, where all of them are."""


def bucket_sets(plan: QueryPlan, values: Mapping[str, Any]) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The values for each bucket that a call names, in the order of the answer. Raises ArgumentError, also where the
    buckets and the values of ``Each`` are too many together.
    """
    sets = plan.bucket_sets(values)
    if plan.buckets is None or not plan.each or not sets:
        return sets
    combined = len(value_sets(plan.each, values))
    if len(sets) * combined > COMBINATIONS_MAX:
        raise ArgumentError(
            f"{len(sets):,} {plan.buckets.unit}s of {plan.buckets.field} × {combined:,} of {' and '.join(plan.each)} "
            f"are {len(sets) * combined:,} combinations, and a call takes {COMBINATIONS_MAX:,}",
            place=", ".join((plan.buckets.field, *plan.each)),
            hint="ask with fewer values, or for a shorter time at once",
        )
    return sets


class BucketsReader:
    """The buckets of one query, each read by ``reader``. A position is an item's bucket and its place there."""

    def __init__(self, plan: QueryPlan, reader: QueryReader | MergeReader | PartedReader | CompletingReader) -> None:
        self.plan = plan
        self._reader = reader

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next entries, from the bucket of the position on."""
        sets = bucket_sets(self.plan, values)
        inner: Position | None = None
        if position is not None:
            sets, inner = _beginning(sets, position), position[1:]
        if size is None:
            return (yield from self._all(sets, inner))
        entries: list[Entry] = []
        last = ""
        for bucket, element in sets:
            if len(entries) == size:  # it is full: does anything follow?
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
        """The first item: of the first bucket that has any."""
        for _, element in bucket_sets(self.plan, values):
            result = yield from self._reader.first(element)
            if result is not None:
                return result
        return None

    def _all(self, sets: Sequence[tuple[str, Mapping[str, Any]]], inner: Position | None) -> Conversation[Chunk]:
        """All entries of all buckets, from ``inner`` of the first one on."""
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
    """The buckets from that of the position on. Raises CursorError where the range doesn't name it."""
    at = next((at for at, (bucket, _) in enumerate(sets) if bucket == position[0]), None)
    if at is None:
        raise CursorError(
            "the cursor isn't of the time that is asked for",
            place="cursor",
            hint="ask from the beginning, without a cursor",
        )
    return sets[at:]
