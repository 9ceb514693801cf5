"""Order by a field that can be None.

If a field of an index key is None, the index doesn't contain the item. A pattern that is ordered by this field, and
doesn't have it as a parameter, silently omits such items: a list by due date omits tasks without a due date.

Give the field a default that sorts last, or order by another field. Ignore the finding if the pattern should omit items
in which the field is None.

See "Take advantage of sparse indexes" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for query in subject.queries:
        for name in query.match.omits_without:
            message = f"the order by {query.match.entity.name}.{name} omits items in which the field is None"
            hint = "give the field a default, order by another field, or ignore the finding if this is intended"
            yield Remark(query.pattern.place, message, hint)


RULE = Rule("KP407", Severity.INFO, _find, __name__, __doc__)
