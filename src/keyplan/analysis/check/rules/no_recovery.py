"""Table without point-in-time recovery or deletion protection.

Without point-in-time recovery, you can't restore data after a wrong deployment or import. Without deletion protection,
one DeleteTable call removes the table. The rule reports each of the two settings that is off in ``[table]`` in the
traffic file.

Enable both settings. Point-in-time recovery is charged by the size of the table.

See "Point-in-time backups for DynamoDB" in the Developer Guide, DeleteTable in the API Reference, and the Checkov
policy CKV_AWS_28.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    table = subject.traffic.table
    for off, what, then in (
        (table.point_in_time_recovery is False, "point-in-time recovery", "overwritten data can't be restored"),
        (table.deletion_protection is False, "deletion protection", "a single DeleteTable call deletes the table"),
    ):
        if off:
            yield Remark(subject.table_place, f"{what} is off: {then}", f"enable {what}")


RULE = Rule("KP601", Severity.WARNING, _find, __name__, __doc__)
