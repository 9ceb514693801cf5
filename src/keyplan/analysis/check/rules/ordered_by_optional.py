"""Order by a field that can be None.

An item isn't in an index while a field of its key is None. A pattern that is ordered by this field, and doesn't have it
as a parameter, silently omits these items: a list by due date omits tasks without one.

Give the field a default that sorts last, or order by another field. Ignore the finding if the pattern should omit
those items.

Source: "Take advantage of sparse indexes" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    for query in subject.queries:
        for name in query.match.omits_without:
            message = f"it is ordered by {query.match.entity.name}.{name}, and omits items in which the field is None"
            hint = "give the field a default, order by another field, or ignore the finding if you want to omit them"
            yield Remark(query.pattern.place, message, hint)


RULE = Rule("KP407", Severity.INFO, _find, __name__, __doc__)
