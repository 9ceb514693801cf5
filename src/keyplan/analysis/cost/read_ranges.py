"""What is there for one call of a read: items by their bytes and their places, and what they lead to.

No values and no keys: these are made up where they are needed (``standins.py``). Which requests are made for it is said
in ``reading.py``; how much is there is thought of in ``facts.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["End", "ExpectedItem", "ExpectedRange", "Found"]


class End(NamedTuple):
    """What a junction's item leads to: one item (``identity`` tells it from others), or partitions to be read.
    ``place``: the item's own place in the order of the answer, where several junctions can lead to it.
    """

    identity: Hashable
    size_bytes: int | None = None
    stretches: tuple[ExpectedRange, ...] = ()
    place: tuple[Any, ...] | None = None


class ExpectedItem(NamedTuple):
    """One item (or index entry) that a Query looks at: its bytes; its entity's name, or None for what the client passes
    over; its place in the order of the answer, which begins with its sort key's; where it leads to, if it is a
    junction's; and whether it is ``filtered`` out before the client gets it. Places ascend in the direction of the
    read.
    """

    size_bytes: int
    kind: str | None
    place: tuple[Any, ...]
    end: End | None = None
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class ExpectedRange:
    """What lies in one partition between the bounds of a Query, in the order in which it is read.

    ``last_kind``: the entity that no other follows, if that is known (it ends the reading of a collection).
    ``closed``: whether the last one lies on the bound itself; then a page that ends with it is known to be the last.
    ``partition``: the partition's place among the others, where items with the same sort key lie in several.
    ``bucket``: which of the buckets of time it belongs to, in the order in which they are read.
    """

    met: Sequence[ExpectedItem] = ()
    last_kind: str | None = None
    closed: bool = False
    partition: Any = None
    bucket: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What is there for one call of a read.

    ``items``: the bytes of items read by key, None where there is none (a claim, then its owner; a batch's items);
    ``stretches``: for queries and scans, one a partition; none where nothing can lie between the bounds, since then
    nothing is asked.
    """

    items: tuple[int | None, ...] = ()
    stretches: tuple[ExpectedRange, ...] = ()
    also: tuple[tuple[ExpectedRange, ...], ...] = ()
    """The stretches of further junctions, or of further queries of what is read apart, in the order of the plan's."""
    link: End | None = None
    """Where a junction's item that is read by key leads to."""
