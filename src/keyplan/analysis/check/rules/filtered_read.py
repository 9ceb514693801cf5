"""Filter that discards items after reading them.

DynamoDB applies a filter after it reads the items, so the filter doesn't reduce the cost, and a page of 10 items can
need many requests. If ``kept`` in the traffic file (the share of items that match the filter) is below 0.1, the finding
is an error. If ``kept`` is 0.5 or more, the rule reports nothing. A filter on the TTL attribute isn't reported.

Add the filtered field to the sort key, or declare a sparse key with ``when=``.

See "Filter expressions for the query operation" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject

KEPT_ERROR = 0.1
KEPT_WARNING = 0.5


def _find(subject: Subject) -> Remarks:
    seen: set[str] = set()
    for query in subject.queries:
        pattern, plan = query.pattern, query.plan
        if plan.filter is None or pattern.name in seen:
            continue
        seen.add(pattern.name)
        ttl = subject.design.ttl_attribute
        if set(plan.filter.names.values()) == {ttl}:
            continue
        kept = subject.load(pattern).kept
        if kept is not None and kept >= KEPT_WARNING:
            continue
        fields = {field.attribute for match in plan.matches for field in match.entity.fields.values()}
        names = ", ".join(name for name in dict.fromkeys(plan.filter.names.values()) if name in fields)
        known = "" if kept is None else f" and keeps {kept:.0%}"
        message = f"the pattern filters by {names} after reading{known}: discarded items are charged"
        hint = "add the field to the sort key, or declare a sparse key with when="
        lines = () if kept is None else (f"1 ÷ {kept:g} = {1 / kept:.3g} items read for each item in the result",)
        severity = Severity.ERROR if kept is not None and kept < KEPT_ERROR else Severity.WARNING
        yield Remark(pattern.place, message, hint, lines, severity)


RULE = Rule("KP302", Severity.WARNING, _find, __name__, __doc__)
