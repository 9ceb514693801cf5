"""A range of time may reach over many partitions.

Where a part of a time stands in the partition key (``{at:%Y%m%d}``), a range of it is one Query for each day, one
after the other, up to 1,000 a call: a year of days is 365 requests for one answer, most of them for nothing where
little lies in a day, and a year of hours is refused. It is reported for days and smaller units, while the traffic
file doesn't say in ``arguments`` which range a typical call has; and where that reaches over more than 100.

Take a larger unit, so that a typical range reaches over a few partitions, and ``shards=`` where one would be too hot
for the writes; or keep sums of the small unit in items of their own, and read those.

Source: "Best practices for handling time series data in DynamoDB" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.traffic.item_counts import Finds
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX
from keyplan.model.declared.declaration_errors import Problem

__all__ = ["RULE"]

USUAL_MAX = 100
_IN_A_YEAR = {"day": 365, "hour": 8_760, "minute": 525_600, "second": 31_536_000}


def _find(subject: Subject) -> Iterator[Remark]:
    finds = Finds(subject.traffic)
    for pattern in subject.design.reads.values():
        buckets = pattern.buckets
        if buckets is None:
            continue
        try:
            usual = finds.buckets(pattern)
        except Problem:
            usual = None
        in_a_year = _IN_A_YEAR.get(buckets.unit)
        hint = "take a larger unit in the key, with shards= where its partitions would be too hot"
        if usual is not None and usual > USUAL_MAX:
            lines = (f"{usual:,} {buckets.unit}s = {usual:,} requests, for nothing where a {buckets.unit} is empty",)
            yield Remark(pattern.place, f"a typical call reads {usual:,} partitions of {buckets.field}", hint, lines)
        elif usual is None and in_a_year is not None:
            refused = f", and a call takes {BUCKETS_MAX:,}" if in_a_year > BUCKETS_MAX else ""
            yield Remark(
                pattern.place,
                f"nobody says over how many {buckets.unit}s of {buckets.field} a call reaches, each a request",
                f"say arguments in the traffic file where they are few, or {hint}",
                (f"a year = {in_a_year:,} {buckets.unit}s = {in_a_year:,} requests{refused}",),
                Severity.INFO,
            )


RULE = Rule("KP317", Severity.WARNING, _find, __name__, __doc__)
