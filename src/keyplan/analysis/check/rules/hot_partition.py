"""A partition gets more than it can take.

One partition gives 3,000 read units and 1,000 write units a second, whatever the table as a whole could take;
beyond that requests are throttled, and a throttled index throttles writes to the table. It is estimated from the
rates at their peak, for partition keys that are fixed or have few values, and for others by ``hottest``, the share
of the busiest key: one number, or one for each key that a call takes (``hottest = { "Post.by_tag" = 0.4 }``). A key
with an id that each call makes anew has no busiest partition. An error above the limit, a warning above half of it.

Shard the key (``shards=``), count in items of their own, refresh rankings at a bounded rate, or cache what is read.
With n shards writes spread over n partitions, and each read asks all of them.

Source: "Best practices for designing and using partition keys effectively" in the developer guide. The limits for
reads and writes are taken each by itself; adaptive capacity and splits are not counted on.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Demand, Subject, busiest_partitions
from keyplan.analysis.check.demand import demands
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.cost.cost_wording import number

__all__ = ["RULE"]

HEADROOM = 0.7
"""The share of its limit to which a partition should be planned."""


def _find(subject: Subject) -> Iterator[Remark]:
    for partition in busiest_partitions(demands(subject)):
        limit, kind, total, worst = partition.limit, partition.kind, partition.per_second, partition.worst
        if total <= limit / 2:
            continue
        lines = [demand.line for demand in partition.demands]
        if len(lines) > 1:
            lines.append(
                f"{' + '.join(number(demand.per_second) for demand in partition.demands)} = {number(total)} units/s"
            )
        lines.append(f"{number(total)} of the {limit:,} {kind} units/s of one partition")
        shards = worst.key.shards
        parts = -(-total * shards // (limit * HEADROOM))
        if kind == "write" and parts > shards:
            over = f" × {shards} shards" if shards > 1 else ""
            lines.append(
                f"to spread over: {number(total)}{over} ÷ ({limit:,} × {HEADROOM}), rounded up = {number(parts)}"
            )
        templates = ", ".join(partition.templates)
        yield Remark(
            f"{worst.entity.name}.{worst.key.name}",
            f"the busiest partition of {partition.place} ({templates}) would take {number(total)} {kind} units "
            f"a second, of {limit:,}",
            _hint(worst, kind, parts),
            tuple(lines),
            Severity.ERROR if total > limit else Severity.WARNING,
        )


def _hint(worst: Demand, kind: str, parts: float) -> str:
    if kind == "read":
        return "cache the answer, or copy it over several keys"
    if worst.one_item:
        many = f"{number(max(parts, 2))} items"
        return f"it is one item: count in {many} of their own that are added up, and change this one less often"
    if parts <= worst.key.shards:
        return f"shards={worst.key.shards} carries it: raise that before the rate grows"
    return f"spread the key over shards={number(parts)}, or write it less often"


RULE = Rule("KP501", Severity.ERROR, _find, __name__, __doc__)
