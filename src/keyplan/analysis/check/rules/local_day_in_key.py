"""Local date in a key.

Keyplan stores timestamps in UTC. ``date.today()`` returns the date in the time zone of the computer. Near midnight, an
item can be stored under one date and queried under another, and computers in different time zones use different dates.
The rule reports a key field whose default is ``date.today`` or ``datetime.now()`` without a time zone, and a write that
calls ``today()`` and sets a date that is part of a key.

Compute the date from the timestamp (``@computed_field`` with ``self.at.date()``), or use a fixed time zone, with
``now().date()`` for UTC or ``datetime.now(zone).date()`` for a local business day.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from keyplan.analysis.check.check_subject import fields_in
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.write_analysis.sources import unwrapped
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity

_NAIVE = frozenset({"date", "datetime", "dt", "isoformat", "now", "strftime", "today"})
"""The only names in a function that reads the date or time without a time zone."""


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        for name in sorted(_days(entity)):
            info = entity.cls.model_fields.get(name)
            if info is not None and _is_local(info.default_factory):
                message = "the field is part of a key, and its default is the local date of the computer"
                hint = "compute the date from a timestamp in UTC, or use now().date()"
                yield Remark(f"{entity.name}.{name}", message, hint)
    for written in subject.writes:
        code = unwrapped(written.pattern.function)
        names = set(code.co_names) if written.known and code is not None else set()
        if "today" not in names or names.isdisjoint({"date", "datetime"}):
            continue
        for action in written.actions:
            changed = action.entity
            if changed is None or action.kind not in {"Put", "Create", "Update"}:
                continue
            given = (action.built or frozenset()) | action.changes.keys()
            if fields := sorted(_days(changed) & given):
                what = f"the write sets {changed.name}.{' and '.join(fields)}, part of a key"
                message = f"{what}, and calls today(), which returns the local date of the computer"
                hint = "use the date in UTC, now().date(), or in a fixed time zone"
                yield Remark(written.pattern.place, message, hint, line=action.line)
                break


def _days(entity: CompiledEntity) -> set[str]:
    """Return the stored fields in an entity's keys that can contain a date."""
    placed = {name for key in entity.keys for name in fields_in(key.attributes)}
    stored = placed & entity.cls.model_fields.keys()
    return {name for name in stored if kind_of(entity.fields[name].annotation) in {date, str}}


def _is_local(factory: Any) -> bool:
    """Whether a default factory returns a date or time without a time zone."""
    if factory in (date.today, datetime.today, datetime.now):
        return True
    code = unwrapped(factory)
    names: set[str] = set() if code is None else set(code.co_names)
    clock = "today" in names or {"datetime", "now"} <= names
    return clock and names <= _NAIVE


RULE = Rule("KP216", Severity.WARNING, _find, __name__, __doc__)
