"""The table can be lost by one mistake.

Without point-in-time recovery there is no way back from a wrong deployment or import; without deletion protection
one call removes the table. It is judged by the traffic file's ``[table]``, where these are said to be off.

Switch both on. Recovery is priced by the size of the table.

Source: "Point-in-time recovery"; DeleteTable in the API reference; checkov's CKV_AWS_28.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    table = subject.traffic.table
    for off, what, then in (
        (table.point_in_time_recovery is False, "point-in-time recovery", "what is overwritten is gone"),
        (table.deletion_protection is False, "deletion protection", "one call removes it"),
    ):
        if off:
            yield Remark(subject.table_place, f"{what} is off: {then}", f"switch {what} on")


RULE = Rule("KP601", Severity.WARNING, _find, __name__, __doc__)
