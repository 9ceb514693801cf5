"""One call asks as many partitions as a junction has items.

A question that goes through a junction to partitions (the posts of everyone whom a user follows) makes one Query
for each item of the junction. It answers well for tens and badly for thousands: a reader who follows 5,000 makes
5,001 requests for one page. Where ``items=`` says how many the junction has, up to 100 are fine.

Bound the junction, or write to a feed of each follower when something is posted (fan-out on write), for those whom
few follow; for whom millions follow, read.

Source: "Best practices for managing many-to-many relationships" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, junction_of
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.cost.cost_wording import number
from keyplan.model.compiled.plans import QueryPlan, ThroughPlan

__all__ = ["RULE"]

PARTITIONS_MAX = 100


def _find(subject: Subject) -> Iterator[Remark]:
    for pattern in subject.design.reads.values():
        if not isinstance(pattern.plan, ThroughPlan) or not pattern.shape.many:
            continue
        items = subject.load(pattern).items
        if items is not None and items <= PARTITIONS_MAX:
            continue
        for way in pattern.plan.ways:
            if isinstance(way.end, QueryPlan):
                yield _remark(pattern.place, junction_of(way).name, way.end, items)


def _remark(place: str, junction: str, end: QueryPlan, items: float | None) -> Remark:
    entity = end.matches[0].entity.name
    text = "as many as there are" if items is None else number(items)
    lines: tuple[str, ...] = ()
    if items is not None:
        spread = f" × {end.shards} shards" if end.shards > 1 else ""
        asked = f"1 Query of {junction} + {number(items)} partitions of {entity}{spread}"
        lines = (f"{asked} = {number(1 + items * end.shards)} requests a page",)
    return Remark(
        place,
        f"it queries a partition of {entity} for every {junction}, {text}",
        f"bound how many {junction} items there are, or write to the readers when a {entity} is made",
        lines,
    )


RULE = Rule("KP304", Severity.WARNING, _find, __name__, __doc__)
