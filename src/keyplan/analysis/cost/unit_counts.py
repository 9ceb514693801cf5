"""Requests and their capacity units: a request has a line for the table and for each index that it reads or writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal, TypeAlias

from keyplan.dynamodb.capacity import read_units
from keyplan.dynamodb.limits import READ_UNIT_BYTES
from keyplan.model.declared.indexes import Index

TABLE = ""
"""The target of a line about the table itself; an index's line has the index's name."""

Direction: TypeAlias = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Line:
    """The units of a request on the table or on one index. ``why`` shows the arithmetic."""

    direction: Direction
    target: str
    units: float
    why: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request with its units on the table and on each index."""

    operation: str
    lines: tuple[Line, ...]

    def units(self, direction: Direction) -> float:
        return sum(line.units for line in self.lines if line.direction == direction)


def total_units(requests: Iterable[Request], direction: Direction) -> dict[str, float]:
    result: dict[str, float] = {}
    for request in requests:
        for line in request.lines:
            if line.direction == direction:
                result[line.target] = result.get(line.target, 0.0) + line.units
    return result


def get_item(size_bytes: int | None, *, consistent: bool, what: str = "item") -> Request:
    """A GetItem request. ``size_bytes`` is None if the item doesn't exist; the request uses the minimum units."""
    return Request("GetItem", (_read_line(TABLE, (size_bytes,), what, consistent=consistent),))


def batch_get(sizes: Sequence[int | None], *, consistent: bool, what: str = "item") -> Request:
    """A BatchGetItem request. The size of each item is rounded up separately; the size of a missing item is None."""
    units = sum(read_units(size or 0, consistent=consistent) for size in sizes)
    distinct = sorted({size or 0 for size in sizes})
    if len(distinct) == 1:
        number = read_units(distinct[0], consistent=consistent)
        why = f"{_count(len(sizes), what)}, each {_blocks(distinct[0], consistent=consistent)} = {number:g}"
    else:
        why = f"{_count(len(sizes), what)} of {distinct[0]:,} to {distinct[-1]:,} B, each rounded up to 4 KB"
    return Request("BatchGetItem", (Line("read", TABLE, units, f"{why}; together {units:g}"),))


def page_read(
    operation: str, index: Index | None, sizes: Sequence[int], *, consistent: bool, what: str = "item"
) -> Request:
    """The request for one page of a Query or Scan. The sizes of all evaluated items are added, then rounded up once."""
    strong = consistent and (index is None or index.local)
    target = TABLE if index is None else index.name
    return Request(operation, (_read_line(target, sizes, what, consistent=strong),))


def _read_line(target: str, sizes: Sequence[int | None], what: str, *, consistent: bool) -> Line:
    size_bytes = sum(size or 0 for size in sizes)
    units = read_units(size_bytes, consistent=consistent)
    return Line("read", target, units, f"{_sum(sizes, what)} {_blocks(size_bytes, consistent=consistent)} = {units:g}")


def _sum(sizes: Sequence[int | None], what: str) -> str:
    result = [size or 0 for size in sizes]
    if not any(result):
        return "no items: the minimum,"
    if len(result) == 1:
        return f"1 {what},"
    if len(set(result)) == 1:
        return f"{_count(len(result), what)} × {result[0]:,} B,"
    return f"{_count(len(result), what)} of {min(result):,} to {max(result):,} B,"


def _count(count: int, what: str) -> str:
    if count != 1:
        what = f"{what[:-1]}ies" if what.endswith("ry") else f"{what}s"
    return f"{count:,} {what}"


def _blocks(size_bytes: int, *, consistent: bool) -> str:
    blocks = max(1, -(-size_bytes // READ_UNIT_BYTES))
    return f"{size_bytes:,} B → {blocks:,} × 4 KB × {1 if consistent else 0.5:g}"


def mixed(calls: Sequence[tuple[float, Sequence[Request]]]) -> list[Request]:
    """The requests of an average call. The units of the n-th request of an operation are the weighted average."""
    total = sum(weight for weight, _ in calls)
    result: dict[tuple[str, int], dict[tuple[Direction, str, int], list[tuple[float, Line]]]] = {}
    for weight, requests in calls:
        seen: dict[str, Iterator[int]] = defaultdict(count)
        for request in requests:
            lines = result.setdefault((request.operation, next(seen[request.operation])), {})
            of_target: dict[tuple[Direction, str], Iterator[int]] = defaultdict(count)
            for line in request.lines:
                target = line.direction, line.target
                lines.setdefault((*target, next(of_target[target])), []).append((weight / total, line))
    return [
        Request(operation, tuple(_average(lines) for lines in by_target.values()))
        for (operation, _), by_target in result.items()
    ]


def _average(lines: Sequence[tuple[float, Line]]) -> Line:
    first = lines[0][1]
    by_why: dict[str, tuple[float, float]] = {}
    for weight, line in lines:
        so_far, _ = by_why.get(line.why, (0.0, 0.0))
        by_why[line.why] = so_far + weight, line.units
    if len(by_why) == 1 and abs(sum(weight for weight, _ in lines) - 1) < 1e-9:
        return first
    units = sum(weight * of_one for weight, of_one in by_why.values())
    why = "; ".join(f"{why}, for {weight:.4g} of the calls" for why, (weight, _) in by_why.items())
    return Line(first.direction, first.target, units, f"{why}; together {units:.4g}")
