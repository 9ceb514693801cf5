"""Histories of concurrent operations, and whether some serial order of them explains what each of them saw.

A value is appended to a key's list once in the whole history. So the lists that were read tell the order of the writes
to a key, and from these follow the dependencies between operations: who overwrote whom, who read from whom, who read
what another was still to change. With them go those of real time: what ended before another began comes before it. If
they have no cycle, the operations took place one after the other in that order (Adya, "Weak Consistency", 1999; the
use of lists is that of Kingsbury and Alvaro, "Elle", 2020).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True)
class Operation:
    """One operation of a client, as it saw it. Times are of one clock, in seconds."""

    name: str
    begin_s: float
    end_s: float
    is_done: bool = True
    """False when the store refused it: then it has written nothing."""
    appends: dict[str, int] = field(default_factory=dict[str, int])
    """The value that it appended to the list of each key."""
    reads: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """The list of each key that it saw, before its own writes."""
    lengths: dict[str, int] = field(default_factory=dict[str, int])
    """Of lists that it only knows by their length: conditions that held."""


def error_details_of(history: Iterable[Operation]) -> list[str]:
    """What can't be in a strictly serialisable history; nothing is good."""
    operations = list(history)
    orders, faults = _orders(operations)
    faults += _lost_and_found(operations, orders)
    if not faults:
        cycle = _cycle(_edges(operations, orders))
        if cycle:
            faults.append(f"no serial order: {' < '.join(cycle)}")
    return faults


def _orders(operations: list[Operation]) -> tuple[dict[str, list[int]], list[str]]:
    """The values of each key in the order of their writing: the longest list that was read. All others begin it."""
    orders: dict[str, list[int]] = {}
    for operation in operations:
        for key, values in operation.reads.items():
            if len(values) > len(orders.get(key, [])):
                orders[key] = values
    return orders, [
        f"{operation.name} read {values} of {key}, which isn't the beginning of {orders[key]}"
        for operation in operations
        for key, values in operation.reads.items()
        if values and values != orders[key][: len(values)]
    ]


def _lost_and_found(operations: list[Operation], orders: dict[str, list[int]]) -> list[str]:
    """Writes that are gone, came twice, or were refused and are there all the same. All keys are read at the end."""
    faults: list[str] = []
    for operation in operations:
        for key, value in operation.appends.items():
            wanted = 1 if operation.is_done else 0
            number = orders.get(key, []).count(value)
            if number != wanted:
                faults.append(f"{operation.name} appended {value} to {key} {wanted} times, it is there {number} times")
        for key, length in operation.lengths.items():
            if operation.is_done and length > len(orders.get(key, [])):
                faults.append(f"{operation.name} saw {length} values of {key}, which never had so many")
    return faults


def _edges(operations: list[Operation], orders: dict[str, list[int]]) -> dict[str, set[str]]:
    """Who comes before whom."""
    after: dict[str, set[str]] = defaultdict(set)
    done = [operation for operation in operations if operation.is_done]
    writer = {(key, value): operation.name for operation in done for key, value in operation.appends.items()}
    for key, order in orders.items():
        writers = [writer[key, value] for value in order]
        for earlier, later in pairwise(writers):
            after[earlier].add(later)
        for operation in done:
            length = operation.lengths.get(key, len(operation.reads.get(key, [])))
            if key not in operation.lengths and key not in operation.reads:
                continue
            if length:
                after[writers[length - 1]].add(operation.name)
            if length < len(writers):
                after[operation.name].add(writers[length])
    for operation in done:
        after[operation.name].discard(operation.name)
    _add_real_time(done, after)
    return after


def _add_real_time(operations: list[Operation], after: dict[str, set[str]]) -> None:
    """What ended before another began comes before it: by a chain of moments, so that there are few edges."""
    ends = deque(sorted(operations, key=lambda each: each.end_s))
    moment = 0
    for operation in sorted(operations, key=lambda each: each.begin_s):
        while ends[0].end_s < operation.begin_s:
            after[f"@{moment}"].add(f"@{moment + 1}")
            moment += 1
            after[ends.popleft().name].add(f"@{moment}")
        after[f"@{moment}"].add(operation.name)


def _cycle(after: dict[str, set[str]]) -> list[str]:
    """Operations that come before themselves, without the moments between; none if there are none."""
    names = set(after) | {name for names in after.values() for name in names}
    before = dict.fromkeys(names, 0)
    for followers in after.values():
        for name in followers:
            before[name] += 1
    free = [name for name, count in before.items() if count == 0]
    while free:
        for name in after.get(free.pop(), ()):
            before[name] -= 1
            if before[name] == 0:
                free.append(name)
    left = {name for name, count in before.items() if count > 0}
    if not left:
        return []
    # Each of those that are left has one before it that is left too: going back, one comes again.
    earlier = {later: name for name in left for later in after.get(name, ()) if later in left}
    path = [next(iter(left))]
    while path[-1] not in path[:-1]:
        path.append(earlier[path[-1]])
    return [name for name in reversed(path[path.index(path[-1]) :]) if not name.startswith("@")]
