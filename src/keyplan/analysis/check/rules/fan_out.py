"""Read with one query per junction item.

A pattern that reads through a junction to partitions (the posts of every user that a reader follows) sends one Query
per junction item. With 5,000 followed users, one page needs 5,001 requests. A pattern whose ``items=`` is at most 100
isn't reported.

Limit the number of junction items, or write each new item to a feed of each reader (fan-out on write). Combine a limit
with fan-out on write if some users have very many followers.

See "Best practices for managing many-to-many relationships" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import junction_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number
from keyplan.model.compiled.plans import QueryPlan, ThroughPlan

PARTITIONS_MAX = 100


def _find(subject: Subject) -> Remarks:
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
    text = "without a limit on their number" if items is None else f"{number(items)} in a typical call"
    lines: tuple[str, ...] = ()
    if items is not None:
        spread = f" × {end.shards} shards" if end.shards > 1 else ""
        asked = f"1 Query of {junction} + {number(items)} partitions of {entity}{spread}"
        lines = (f"{asked} = {number(1 + items * end.shards)} requests per page",)
    message = f"the pattern queries a partition of {entity} for every {junction} item, {text}"
    hint = f"limit the number of {junction} items, or write each new {entity} to a feed of each reader"
    return Remark(place, message, hint, lines)


RULE = Rule("KP304", Severity.WARNING, _find, __name__, __doc__)
