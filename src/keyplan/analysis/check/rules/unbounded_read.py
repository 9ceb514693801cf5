"""Read without a limit.

A list or a collection without a limit reads all matching items into memory, in sequential requests for at most 1 MB
each. Such a read gets slower and more expensive as the data grows. With ``items=``, the read is reported only if the
items need more than one page. A required ``Range`` or ``Prefix`` parameter counts as a limit.

Return a ``Page`` with a limit and a cursor, or an ``Iterator``. If the number of items is always small, set it, as in
``items=40``.

See "Paginating table query results" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import Query, bounded, ranged
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.cost.cost_wording import number
from keyplan.dynamodb.limits import PAGE_BYTES_MAX


def _find(subject: Subject) -> Remarks:
    seen: set[str] = set()
    for query in subject.queries:
        pattern = query.pattern
        if pattern.name in seen or bounded(pattern) or _asked_in_part(query):
            continue
        if not pattern.shape.many and not any(member.many for member in pattern.shape.members):
            continue
        seen.add(pattern.name)
        items, size = subject.load(pattern).items, subject.bytes_of(query)
        lines: tuple[str, ...] = ()
        text = "the pattern reads all items of a partition, without a limit"
        if items is not None and size is not None:
            pages = -(-int(items * size) // PAGE_BYTES_MAX)
            if pages <= 1:
                continue
            lines = (f"{number(items)} items × {size:,} bytes ÷ {PAGE_BYTES_MAX:,} = {pages:,} sequential requests",)
            text = f"the pattern reads {number(items)} items, in {pages:,} requests"
        hint = "return a Page (limit and cursor) or an Iterator, or set items= if there are always few items"
        yield Remark(pattern.place, text, hint, lines)


def _asked_in_part(query: Query) -> bool:
    """Whether the caller must pass a range or a prefix."""
    if query.pattern.buckets is not None:
        return True
    return ranged(query) and any(
        parameter.required and part.condition is not None and parameter.name == part.condition.field
        for parameter in query.pattern.signature.parameters
        for part in query.match.sort
    )


RULE = Rule("KP303", Severity.WARNING, _find, __name__, __doc__)
