"""The peak is above an account's quota.

An on-demand table takes 40,000 read units and 40,000 write units a second unless the quota is raised, and so does
each global index. Beyond, requests are throttled. It is estimated from the rates at their peak.

Ask for a higher quota before the traffic comes, or spread the design over tables.

Source: "Service, account, and table quotas" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.demand import demands
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.cost.cost_wording import number

__all__ = ["RULE"]

QUOTA_UNITS_MAX = 40_000
_QUOTA = f"of {QUOTA_UNITS_MAX:,} that a table or an index takes"


def _find(subject: Subject) -> Iterator[Remark]:
    for (place, kind), parts in demands(subject).totals.items():
        total = sum(units for _, units in parts)
        if total > QUOTA_UNITS_MAX:
            yield Remark(
                subject.table_place if place == "the table" else place,
                f"{place} would take {number(total)} {kind} units a second at the peak, of {QUOTA_UNITS_MAX:,}",
                "ask for a higher quota before the traffic comes",
                (f"{' + '.join(f'{name} {number(units)}' for name, units in parts)} = {number(total)} units/s", _QUOTA),
            )


RULE = Rule("KP504", Severity.ERROR, _find, __name__, __doc__)
