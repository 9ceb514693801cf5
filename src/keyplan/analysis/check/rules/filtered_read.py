"""A filter throws away what was read and paid for.

A filter is applied after items are read: a page costs the same whatever it lets through, and a page of ten may take
many requests to fill. Where the share that it keeps is known (``kept`` in the traffic file), it is an error below
one tenth, a warning below one half, and fine above. A filter by the attribute that items expire by is right, and
not reported.

Let a key answer it: put the field into the sort key before what is open, or declare a sparse key with ``when=``.

Source: "Filter expressions for the query operation" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]

KEPT_ERROR = 0.1
KEPT_WARNING = 0.5


def _find(subject: Subject) -> Iterator[Remark]:
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
        known = "" if kept is None else f", and keeps {kept:.0%}"
        yield Remark(
            pattern.place,
            f"it filters by {names} after reading{known}: what it leaves out is paid for",
            "let a key answer it: a field of the sort key, or a sparse key with when=",
            () if kept is None else (f"1 ÷ {kept:g} = {1 / kept:.3g} items read and paid for each one in the answer",),
            Severity.ERROR if kept is not None and kept < KEPT_ERROR else Severity.WARNING,
        )


RULE = Rule("KP302", Severity.WARNING, _find, __name__, __doc__)
