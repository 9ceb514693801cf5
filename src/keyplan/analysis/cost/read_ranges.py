"""The items that one call of a read finds: their bytes and positions, and what they lead to.

They have no values and no keys; ``placeholder_reads.py`` creates those. ``read_facts.py`` determines the numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["End", "ExpectedItem", "ExpectedRange", "Found"]


class End(NamedTuple):
    """What a junction item leads to: one item (``identity`` distinguishes it) or partitions. ``place``: the item's
    position in the order of the result, if several junctions can lead to it.
    """

    identity: Hashable
    size_bytes: int | None = None
    stretches: tuple[ExpectedRange, ...] = ()
    place: tuple[Any, ...] | None = None


class ExpectedItem(NamedTuple):
    """One item (or index entry) that a Query reads: its bytes; its entity, or None if the client ignores it; its
    position in the order of the result; what it leads to, if it is a junction item; and whether it is ``filtered``
    out. Positions ascend in the direction of the read.
    """

    size_bytes: int
    kind: str | None
    place: tuple[Any, ...]
    end: End | None = None
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class ExpectedRange:
    """The items of one partition within the bounds of a Query, in the order of the read.

    ``last_kind``: the entity that comes last in a collection, if known. ``closed``: whether the last item is on the
    bound; a page that ends there is the last. ``partition``: the position of the partition, if items with one sort
    key are in several. ``bucket``: the time bucket, in the order of the read.
    """

    met: Sequence[ExpectedItem] = ()
    last_kind: str | None = None
    closed: bool = False
    partition: Any = None
    bucket: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What one call of a read finds.

    ``items``: the bytes of items that are read by key, None for a missing one (a claim, then its owner; the items
    of a batch). ``stretches``: for queries and scans, one per partition; none if nothing can be within the bounds,
    because then no request is sent.
    """

    items: tuple[int | None, ...] = ()
    stretches: tuple[ExpectedRange, ...] = ()
    also: tuple[tuple[ExpectedRange, ...], ...] = ()
    """The stretches of further junctions, or of further queries of what is read apart, in the order of the plan's."""
    link: End | None = None
    """What a junction item that is read by key leads to."""
