"""Peak rate above the initial capacity of a new table.

A new on-demand table supports 4,000 write units and 12,000 read units per second. Later, the table supports twice its
previous peak. Requests above this capacity can be throttled if the traffic more than doubles within 30 minutes, for
example at a launch.

Set warm throughput in advance (a one-time charge), or increase the traffic gradually over 30 minutes.

See "DynamoDB on-demand capacity mode" and "Understanding DynamoDB warm throughput" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.demand import demands
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number

AT_ONCE = {"read": 12_000, "write": 4_000}


def _find(subject: Subject) -> Remarks:
    if subject.traffic.table.billing != "on-demand":
        return
    for (place, kind), parts in demands(subject).totals.items():
        total = sum(units for _, units in parts)
        if total > AT_ONCE[kind]:
            times = total / AT_ONCE[kind]
            needed = f"{place} needs {number(total)} {kind} units per second at peak"
            hint = "set warm throughput before the traffic arrives, or increase the traffic over 30 minutes"
            arithmetic = (f"{number(total)} units/s ÷ {AT_ONCE[kind]:,} = {times:.3g} times the initial capacity",)
            where = subject.table_place if place == "the table" else place
            yield Remark(where, f"{needed}, but a new table supports {AT_ONCE[kind]:,}", hint, arithmetic)


RULE = Rule("KP505", Severity.WARNING, _find, __name__, __doc__)
