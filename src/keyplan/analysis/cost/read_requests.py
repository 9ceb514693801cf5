"""The requests of a read and their units, calculated from the sizes and partitions of the items that the read finds.

The rules for limits, pages of 1 MB, merged partitions and batches are the same as in ``keyplan.client``.
``read_facts.py`` provides the items.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from keyplan.analysis.cost.unit_counts import Request, batch_get, get_item, page_read
from keyplan.client.merged_partitions import Ask, Shares
from keyplan.client.read_plans import FILTERED_PAGE
from keyplan.dynamodb.limits import BATCH_GET_KEYS_MAX, PAGE_BYTES_MAX
from keyplan.model.compiled.plans import QueryPlan, ScanPlan

Place: TypeAlias = tuple[int, int]
"""The number of a query, and a position in the order of its result."""


class FoundItem(NamedTuple):
    """An evaluated item or index entry. ``passes``: the filter accepts it. ``own_bytes``: the size of the item."""

    place: Place
    size_bytes: int
    passes: bool = True
    own_bytes: int = 0


class Group(NamedTuple):
    """The partitions that one query reads, each with its items in read order. A scan has a single partition."""

    plan: QueryPlan | ScanPlan
    partitions: Sequence[Sequence[FoundItem]]


class ReadRequests:
    """The requests of one call of a read. Each method adds the requests of one step.

    ``strongly``: all reads except those of global indexes are strongly consistent.
    """

    def __init__(self, *, strongly: bool) -> None:
        self.strongly = strongly
        self.requests: list[Request] = []

    def get(self, size_bytes: int | None, what: str, *, consistent: bool) -> None:
        self.requests.append(get_item(size_bytes, consistent=consistent or self.strongly, what=what))

    def batch(self, sizes: Sequence[int | None], what: str, *, consistent: bool = False) -> None:
        for start in range(0, len(sizes), BATCH_GET_KEYS_MAX):
            keys = sizes[start : start + BATCH_GET_KEYS_MAX]
            self.requests.append(batch_get(keys, consistent=consistent or self.strongly, what=what))

    def chunk(
        self, groups: Sequence[Group], size: int | None, after: Place | None = None
    ) -> tuple[list[FoundItem], bool]:
        """The next ``size`` items (None: all) of several queries, and whether more items follow."""
        completed = groups[0].plan.completed
        if not completed:
            return self._entries(groups, size, after)
        # Read one more entry than needed, and check that its item exists
        entries, _ = self._entries(groups, None if size is None else size + 1, after)
        self.batch([entry.own_bytes for entry in entries], completed[0].name)
        return entries[:size], size is not None and len(entries) > size

    def first(self, groups: Sequence[Group]) -> FoundItem | None:
        for group in groups:
            completed = group.plan.completed
            alone = isinstance(group.plan, QueryPlan) and not group.plan.merged and not completed
            items = self.pages(group, 1) if alone else self._entries_of(group, 1, None)[0]
            if completed:
                self.batch([entry.own_bytes for entry in items], completed[0].name)
            if items:
                return items[0]
        return None

    def _entries(self, groups: Sequence[Group], size: int | None, after: Place | None) -> tuple[list[FoundItem], bool]:
        result: list[FoundItem] = []
        for number, group in enumerate(groups):
            if after is not None and number < after[0]:
                continue
            if len(result) == size:  # the result is full: check whether another item follows
                if self.first([group]):
                    return result, True
                continue
            entries, more = self._entries_of(group, None if size is None else size - len(result), after)
            result += entries
            if more:
                return result, True
        return result, False

    def _entries_of(self, group: Group, size: int | None, after: Place | None) -> tuple[list[FoundItem], bool]:
        if isinstance(group.plan, QueryPlan) and group.plan.merged:
            return self.merge(group.plan, group.partitions, size, after)
        found = self.pages(group, None if size is None else size + 1, after)
        return found[:size], size is not None and len(found) > size

    def pages(self, group: Group, wanted: int | None, after: Place | None = None) -> list[FoundItem]:
        """Read pages of one partition, or of a scan, until ``wanted`` items are found. Returns the items."""
        plan = group.plan
        items = [item for items in group.partitions for item in items if after is None or item.place > after]
        found: list[FoundItem] = []
        start, limit = 0, None
        while True:
            if wanted is not None:
                missing = wanted - len(found)
                sought = missing if isinstance(plan, ScanPlan) else 2 * missing
                exact = isinstance(plan, QueryPlan) and plan.filter is None and limit is None
                limit = missing if exact else max(sought, FILTERED_PAGE)
            end, stopped = self._page(plan, items, start, len(items), limit)
            found += [item for item in items[start:end] if item.passes]
            if not stopped or (wanted is not None and len(found) >= wanted):
                return found
            start = end

    def _page(
        self, plan: QueryPlan | ScanPlan, items: Sequence[FoundItem], start: int, within: int, limit: int | None
    ) -> tuple[int, bool]:
        """Read a page. Returns the position after it, and whether the limit or 1 MB ended it."""
        most = within if limit is None else min(within, start + limit)
        end = start
        size_bytes = 0
        while end < most and size_bytes < PAGE_BYTES_MAX:
            size_bytes += items[end].size_bytes
            end += 1
        sizes = [item.size_bytes for item in items[start:end]]
        what = "item" if plan.index is None else "entry"
        consistent = plan.consistent or self.strongly
        operation = "Scan" if isinstance(plan, ScanPlan) else "Query"
        self.requests.append(page_read(operation, plan.index, sizes, consistent=consistent, what=what))
        return end, size_bytes >= PAGE_BYTES_MAX or end - start == limit

    def merge(
        self, plan: QueryPlan, partitions: Sequence[Sequence[FoundItem]], size: int | None, after: Place | None = None
    ) -> tuple[list[FoundItem], bool]:
        """The next ``size`` items of several partitions, merged in sort order, and whether more items follow."""
        left = [[item for item in items if after is None or item.place > after] for items in partitions]
        wanted = None if size is None else size + 1
        even, bounded = len(left) == plan.shards, len(plan.key.sort) == 1
        sifted = plan.filter is not None
        shares = Shares(len(left), wanted, forward=True, bounded=bounded, sifted=sifted, even=even)
        starts = [0] * len(left)
        found: list[FoundItem] = []
        while asks := shares.asks():
            for ask in asks:
                found += self._share(plan, left[ask.partition], starts, ask, shares)
        found.sort()
        return found[:size], size is not None and len(found) > size

    def _share(
        self, plan: QueryPlan, items: Sequence[FoundItem], starts: list[int], ask: Ask, shares: Shares
    ) -> list[FoundItem]:
        """Read the part of a partition that ``ask`` requests."""
        start = starts[ask.partition]
        within = len(items)
        if ask.end is not None and not (start and items[start - 1].place == ask.end):  # the read starts before ask.end
            within = bisect_right(items, ask.end, key=lambda item: item.place)
            if start > within:
                shares.took(ask, [], 0, None)
                return []
        end, stopped = self._page(plan, items, start, within, ask.limit)
        starts[ask.partition] = end
        read = items[start:end]
        last = read[-1].place if stopped and read else None
        if last is not None and last == ask.end and plan.index is None:
            last = None  # sort keys of a table are unique: no item up to ask.end remains
        kept = [item for item in read if item.passes]
        shares.took(ask, [item.place for item in kept], len(read), last)
        return kept
