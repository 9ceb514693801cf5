"""Peak rate above the account quota.

By default, a table and each of its global indexes support 40,000 read units and 40,000 write units per second. Requests
above the quota are throttled. The rule uses the peak rates of the access patterns.

Request a higher quota before the traffic arrives, or distribute the items over several tables.

See "Service, account, and table quotas in Amazon DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.demand import demands
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number

QUOTA_UNITS_MAX = 40_000
_QUOTA = f"limit of a table or an index: {QUOTA_UNITS_MAX:,} units/s"


def _find(subject: Subject) -> Remarks:
    for (place, kind), parts in demands(subject).totals.items():
        total = sum(units for _, units in parts)
        if total > QUOTA_UNITS_MAX:
            where = subject.table_place if place == "the table" else place
            message = f"{place} needs {number(total)} {kind} units per second at peak; the limit is {QUOTA_UNITS_MAX:,}"
            added = " + ".join(f"{name} {number(units)}" for name, units in parts)
            hint = "request a higher quota before the traffic arrives"
            yield Remark(where, message, hint, (f"{added} = {number(total)} units/s", _QUOTA))


RULE = Rule("KP504", Severity.ERROR, _find, __name__, __doc__)
