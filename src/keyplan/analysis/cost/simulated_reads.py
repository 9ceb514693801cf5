"""The requests of a read, from the items that it finds: the client's own code runs, and its requests are answered
here.

The units of each request are noted. ``read_facts.py`` determines the items.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from keyplan.analysis.cost.read_ranges import Found
from keyplan.analysis.cost.simulated_layout import Layout, Partition
from keyplan.analysis.cost.unit_counts import Request, batch_get, get_item, page_read
from keyplan.client.conversations import Request as Asked
from keyplan.client.conversations import Target, converse
from keyplan.client.cursors import Position
from keyplan.client.results import Answer
from keyplan.dynamodb.limits import PAGE_BYTES_MAX
from keyplan.model.compiled.plans import ReadPattern, newest_by_default
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.indexes import Index

__all__ = ["Answering", "requests_of"]


Item = dict[str, dict[str, Any]]

_BOUNDS = re.compile(
    r"#s0 (?:BETWEEN (?P<low>:\w+) AND (?P<high>:\w+)|<= (?P<most>:\w+)|>= (?P<least>:\w+)|= (?P<same>:\w+))"
)


class Answering:
    """Answers the requests of one read, and notes them in ``requests``. It runs a conversation."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.requests: list[Request] = []

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The response to one request."""
        match operation:
            case "GetItem":
                return self._got(parameters)
            case "BatchGetItem":
                return self._batch(parameters)
            case "Scan":
                index = self._layout.indexes.get(parameters.get("IndexName", ""))
                return self._page("Scan", index, self._layout.scanned, parameters)
            case _:
                return self._queried(parameters)

    def call_all(self, requests: Sequence[Asked]) -> list[dict[str, Any]]:
        """The responses to several requests."""
        return [self.call(*request) for request in requests]

    # By key

    def _got(self, parameters: dict[str, Any]) -> dict[str, Any]:
        keyed = self._layout.by_key(parameters["Key"])
        consistent = parameters.get("ConsistentRead", False)
        self.requests.append(get_item(keyed.size_bytes, consistent=consistent, what=keyed.what))
        return {} if keyed.size_bytes is None else {"Item": keyed.item(parameters["Key"])}

    def _batch(self, parameters: dict[str, Any]) -> dict[str, Any]:
        ((table, asked),) = parameters["RequestItems"].items()
        items = [(key, self._layout.by_key(key)) for key in asked["Keys"]]
        sizes, consistent = [keyed.size_bytes for _, keyed in items], asked.get("ConsistentRead", False)
        self.requests.append(batch_get(sizes, consistent=consistent, what=items[0][1].what))
        return {"Responses": {table: [keyed.item(key) for key, keyed in items if keyed.size_bytes is not None]}}

    # Page by page

    def _queried(self, parameters: dict[str, Any]) -> dict[str, Any]:
        partition = self._layout.partitions.get(parameters["ExpressionAttributeValues"][":p0"]["S"])
        if partition is None:  # nothing can be there: a call sends no request
            return {"Items": [], "Count": 0}
        return self._page("Query", self._layout.indexes.get(parameters.get("IndexName", "")), partition, parameters)

    def _page(
        self, operation: str, index: Index | None, partition: Partition, parameters: dict[str, Any]
    ) -> dict[str, Any]:
        """One page of a partition, or of everything: from after its start to its limit, or to 1 MB."""
        low, high = _bounds(parameters)
        begin = 0 if low is None else bisect_left(partition.sorts, low)
        start = parameters.get("ExclusiveStartKey")
        if start is not None:
            begin = max(begin, partition.behind(start))
        within = len(partition.met) if high is None else bisect_right(partition.sorts, high)
        end, stopped = _page_end(partition, begin, within, parameters.get("Limit"))
        read = partition.met[begin:end]
        consistent = parameters.get("ConsistentRead", False)
        what = "item" if index is None else "entry"
        sizes = [met.size_bytes for met in read]
        self.requests.append(page_read(operation, index, sizes, consistent=consistent, what=what))
        filtered = "FilterExpression" in parameters
        given = [at for at in range(begin, end) if not (filtered and partition.met[at].filtered)]
        answer: dict[str, Any] = {"Items": [partition.item(at) for at in given]}
        if stopped and not self._is_last(operation, partition, end - 1, high):
            answer["LastEvaluatedKey"] = partition.key(end - 1)
        return answer

    @staticmethod
    def _is_last(operation: str, partition: Partition, at: int, high: str | None) -> bool:
        """Whether nothing can follow an item of the table: it has the last sort key that the bounds include, or the
        table has no sort key at all.
        """
        if partition.index is not None or operation == "Scan":
            return False
        if not partition.is_sorted or (partition.closed and at == len(partition.met) - 1):
            return True
        return high is not None and partition.sorts[at] == high


def _bounds(parameters: dict[str, Any]) -> tuple[str | None, str | None]:
    """The lowest and highest sort key of a request."""
    match = _BOUNDS.search(parameters.get("KeyConditionExpression", ""))
    if match is None:
        return None, None
    values = parameters["ExpressionAttributeValues"]
    low = match["low"] or match["least"] or match["same"]
    high = match["high"] or match["most"] or match["same"]
    return values[low]["S"] if low else None, values[high]["S"] if high else None


def _page_end(partition: Partition, begin: int, within: int, limit: int | None) -> tuple[int, bool]:
    """The position after which a page ends, and whether its limit or 1 MB ended it."""
    most = within if limit is None else min(within, begin + limit)
    size = 0
    for at in range(begin, most):
        size += partition.met[at].size_bytes
        if size >= PAGE_BYTES_MAX:
            return at + 1, True
    return max(begin, most), limit is not None and most - begin == limit


def requests_of(
    pattern: ReadPattern, result: Found, limit: int | None, *, strongly: bool = False, page: int = 1
) -> list[Request]:
    """The requests of one call with their units; for a page, those of the ``page``-th.

    ``limit`` is in items. ``strongly``: the read is part of a write, where reads are strongly consistent if their
    key allows it.
    """
    layout = Layout(pattern, result)
    answering = Answering(layout)
    asked = layout.standins.pattern
    answer = Answer(asked, Target(layout.table.name, layout.table, consistent=strongly), b"")
    kinds = {parameter.kind: parameter.name for parameter in asked.signature.parameters}
    arguments: dict[str, Any] = {kinds[ParameterKind.LIMIT]: limit} if ParameterKind.LIMIT in kinds else {}
    if asked.direction is not None:  # the pattern is that of a call's direction
        arguments[asked.direction.name] = newest_by_default(asked.direction) is not asked.is_turned
    if asked.shape.kind is ShapeKind.ITERATOR:
        _iterate(answer, arguments, answering)
        return answering.requests
    for number in range(1, page + 1):
        answering.requests.clear()
        given = converse(answer.converse(arguments), answering)
        if number < page:
            if given.cursor is None:
                return []
            arguments[kinds[ParameterKind.CURSOR]] = given.cursor
    return answering.requests


def _iterate(answer: Answer, arguments: dict[str, Any], answering: Answering) -> None:
    """Read an iterator to its end, part by part."""
    position: Position | None = None
    given = 0
    while True:
        items, position = converse(answer.part(arguments, position, given), answering)
        given += len(items)
        if position is None:
            return
