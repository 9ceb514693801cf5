"""Hot partition.

A partition supports 3,000 read units and 1,000 write units per second, whatever the capacity of the table. Requests
above these limits are throttled, and a throttled index throttles writes to the table. The rule uses the peak rates,
and, for keys with many values, ``hottest``, which is the share of the busiest key, as one number or per key (``hottest
= { "Post.by_tag" = 0.4 }``). A key with an id that each call generates has no hot partition. Above the limit, the
finding is an error, and above half of the limit, a warning. Adaptive capacity is ignored.

Shard the key (``shards=n`` distributes writes over n partitions, and each read queries all of them), count in separate
items, update rankings at a limited rate, or cache reads.

See "Best practices for designing and using partition keys effectively" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import HEADROOM, Demand, busiest_partitions
from keyplan.analysis.check.demand import demands
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number


def _find(subject: Subject) -> Remarks:
    for partition in busiest_partitions(demands(subject)):
        limit, kind, total, worst = partition.limit, partition.kind, partition.per_second, partition.worst
        if total <= limit / 2:
            continue
        lines = [demand.line for demand in partition.demands]
        if len(lines) > 1:
            parts = " + ".join(number(demand.per_second) for demand in partition.demands)
            lines.append(f"{parts} = {number(total)} units/s")
        lines.append(f"limit of a partition: {limit:,} {kind} units/s")
        shards, needed = worst.key.shards, partition.shards_needed
        if kind == "write" and needed > shards:
            over = f" × {shards} shards" if shards > 1 else ""
            how = f"{number(total)}{over} ÷ ({limit:,} × {HEADROOM})"
            lines.append(f"shards needed at {HEADROOM:.0%} of the limit: {how}, rounded up = {number(needed)}")
        where = f"the busiest partition of {partition.place} ({', '.join(partition.templates)})"
        message = f"{where} needs {number(total)} {kind} units per second; the limit is {limit:,}"
        severity = Severity.ERROR if total > limit else Severity.WARNING
        place = f"{worst.entity.name}.{worst.key.name}"
        yield Remark(place, message, _hint(worst, kind, needed), tuple(lines), severity)


def _hint(worst: Demand, kind: str, parts: int) -> str:
    if kind == "read":
        return "cache the result, or copy the item to several partitions"
    if worst.one_item:
        many = f"{number(max(parts, 2))} items"
        return f"the load is on one item: distribute the count over {many}, or update the item less often"
    if parts <= worst.key.shards:
        return f"shards={worst.key.shards} is enough for this rate: increase the number of shards before the rate grows"
    return f"set shards={number(parts)}, or write less often"


RULE = Rule("KP501", Severity.ERROR, _find, __name__, __doc__)
