"""Time range over many partitions.

If the partition key contains a part of a time (``{at:%Y%m%d}``), a time range needs one Query per time bucket, one
after the other. With one bucket per day, a year takes 365 requests, even if most buckets are empty. A call can read at
most 1,000 buckets, so with one bucket per hour, a call for a year is rejected. Buckets of a day or less are reported,
unless ``arguments`` in the traffic file set a typical range of at most 100 buckets.

Use larger buckets, with ``shards=`` if the write rate of a bucket is too high. Or store the total of each small bucket
in a separate item, and read the totals.

See "Best practices for handling time series data in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.traffic.item_counts import Finds
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX
from keyplan.model.declared.declaration_errors import Problem

USUAL_MAX = 100
_IN_A_YEAR = {"day": 365, "hour": 8_760, "minute": 525_600, "second": 31_536_000}


def _find(subject: Subject) -> Remarks:
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
        hint = "use a larger time unit in the key, with shards= if the larger partitions would be too hot"
        if usual is not None and usual > USUAL_MAX:
            lines = (f"{usual:,} {buckets.unit}s = {usual:,} requests, including empty {buckets.unit}s",)
            yield Remark(pattern.place, f"a typical call sends {usual:,} requests, one per {buckets.unit}", hint, lines)
        elif usual is None and in_a_year is not None:
            refused = f", but a call can read at most {BUCKETS_MAX:,}" if in_a_year > BUCKETS_MAX else ""
            yield Remark(
                pattern.place,
                f"a call sends one request per {buckets.unit} of {buckets.field}, and the typical range is unknown",
                f"if calls read few {buckets.unit}s, set arguments in the traffic file; otherwise, {hint}",
                (f"a year = {in_a_year:,} {buckets.unit}s = {in_a_year:,} requests{refused}",),
                Severity.INFO,
            )


RULE = Rule("KP317", Severity.WARNING, _find, __name__, __doc__)
