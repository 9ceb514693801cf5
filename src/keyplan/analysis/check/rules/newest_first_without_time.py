"""Newest-first order by a sort key without a time.

``newest_first=True`` reads the sort key in descending order. The newest item is first only if the sort key starts with
a time, an increasing number, or a time-ordered id (a ULID). Random UUIDs aren't in chronological order, and a status or
a flag is sorted by its value.

Put a time before the other fields of the sort key, or set ``order_by="-status"`` if you want to sort by ``status``.

See "Best practices for using sort keys to organize data" in the Developer Guide.
"""

from __future__ import annotations

from uuid import UUID

from keyplan.analysis.check.check_subject import Query, values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.plans import newest_by_default
from keyplan.model.declared.fields import kind_of


def _find(subject: Subject) -> Remarks:
    seen: set[str] = set()
    for query in subject.queries:
        pattern = query.pattern
        if pattern.name in seen or pattern.plan is not query.plan or not _backwards(query):
            continue
        name = next((name for name, _ in query.match.order), None)
        if name is None:
            continue
        annotation = query.match.entity.fields[name].annotation
        random = kind_of(annotation) is UUID
        if random or values_of(annotation) is not None:
            seen.add(pattern.name)
            what = "is random" if random else "has only a few values"
            message = f"newest_first sorts by {query.key.name}, whose first sort field, {name}, {what}"
            hint = f'put a time before {name} in the sort key, or set order_by="-{name}" if you want that order'
            yield Remark(pattern.place, message, hint)


def _backwards(query: Query) -> bool:
    """Whether ``newest_first``, in the decorator or as a parameter, reads the key in descending order."""
    direction = query.pattern.direction
    if direction is None:
        return bool(query.pattern.options.newest_first) and not query.plan.forward
    return query.plan.forward is not newest_by_default(direction)


RULE = Rule("KP210", Severity.WARNING, _find, __name__, __doc__)
