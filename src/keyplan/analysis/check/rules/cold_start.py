"""A new table can't take the peak at once.

A new on-demand table takes 4,000 write units and 12,000 read units a second at once, and then up to twice its last
peak; what goes beyond within 30 minutes may be throttled. A launch or a campaign that begins above that meets a
cold table.

Set warm throughput before (it is charged once), or let the traffic rise over half an hour.

Source: "On-demand capacity mode" and "Understanding DynamoDB warm throughput" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.demand import demands
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.cost.cost_wording import number

__all__ = ["RULE"]

AT_ONCE = {"read": 12_000, "write": 4_000}


def _find(subject: Subject) -> Iterator[Remark]:
    if subject.traffic.table.billing != "on-demand":
        return
    for (place, kind), parts in demands(subject).totals.items():
        total = sum(units for _, units in parts)
        if total > AT_ONCE[kind]:
            times = total / AT_ONCE[kind]
            yield Remark(
                subject.table_place if place == "the table" else place,
                f"{place} would take {number(total)} {kind} units a second at the peak, and when new takes "
                f"{AT_ONCE[kind]:,}",
                "set its warm throughput before the traffic comes, or let it rise over 30 minutes",
                (f"{number(total)} units/s ÷ {AT_ONCE[kind]:,} = {times:.3g} times what it takes at once",),
            )


RULE = Rule("KP505", Severity.WARNING, _find, __name__, __doc__)
