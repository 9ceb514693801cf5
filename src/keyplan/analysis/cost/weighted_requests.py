"""Several calls as one: the average of their requests, weighted by how often each comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

from keyplan.analysis.cost.unit_counts import Direction, Line, Request

__all__ = ["mixed"]


def mixed(calls: Sequence[tuple[float, Sequence[Request]]]) -> list[Request]:
    """The requests of an average call: the n-th of each operation are one, with the weighted units of all."""
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
    """The weighted units of several lines, each with its part of the arithmetic."""
    first = lines[0][1]
    by_why: dict[str, tuple[float, float]] = {}
    for weight, line in lines:
        so_far, _ = by_why.get(line.why, (0.0, 0.0))
        by_why[line.why] = so_far + weight, line.units
    if len(by_why) == 1 and abs(sum(weight for weight, _ in lines) - 1) < 1e-9:
        return first
    units = sum(weight * of_one for weight, of_one in by_why.values())
    why = "; ".join(f"{why}, of {weight:.4g} of the calls" for why, (weight, _) in by_why.items())
    return Line(first.direction, first.target, units, f"{why}; together {units:.4g}")
