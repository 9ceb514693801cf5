"""One call asks as many partitions as a junction has items.

A question that goes through a junction to partitions (the posts of everyone whom a user follows) makes one Query
for each item of the junction. It answers well for tens and badly for thousands: a reader who follows 5,000 makes
5,001 requests for one page. Where ``items=`` says how many the junction has, up to 100 are fine.

Bound the junction, or write to a feed of each follower when something is posted (fan-out on write), for those whom
few follow; for whom millions follow, read.

Source: "Using Global Secondary Index write sharding", and the guide's pages on adjacency lists and fan-out.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.check.findings import Remark, Severity
from keyplan.check.rule import Rule
from keyplan.check.subject import Subject, number
from keyplan.design.plans import QueryPlan, ThroughPlan

__all__ = ["RULE"]

PARTITIONS_MAX = 100


def _find(subject: Subject) -> Iterator[Remark]:
    for pattern in subject.design.reads.values():
        plan = pattern.plan
        if not isinstance(plan, ThroughPlan) or not isinstance(plan.end, QueryPlan) or not pattern.shape.many:
            continue
        items = subject.load(pattern).items
        if items is not None and items <= PARTITIONS_MAX:
            continue
        junction = plan.junction.matches[0].entity if isinstance(plan.junction, QueryPlan) else plan.junction.entity
        end = plan.end.matches[0].entity.name
        shards = plan.end.shards
        spread = f" × {shards} shards" if shards > 1 else ""
        told = "as many as there are" if items is None else number(items)
        lines: tuple[str, ...] = ()
        if items is not None:
            asked = f"1 Query of {junction.name} + {number(items)} partitions of {end}{spread}"
            lines = (f"{asked} = {number(1 + items * shards)} requests a page",)
        yield Remark(
            pattern.place,
            f"it queries a partition of {end} for every {junction.name}, {told}",
            f"bound how many {junction.name} items there are, or write to the readers when a {end} is made",
            lines,
        )


RULE = Rule("KP304", Severity.WARNING, _find, __name__, __doc__)
