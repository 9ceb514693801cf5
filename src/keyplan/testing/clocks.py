"""A clock that stands still until a test moves it: of a store in this process, of ``now()`` and ``ulid()``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Self

from keyplan.errors import RequestError, shown
from keyplan.model.declared.fields import time_by

__all__ = ["Clock"]


class Clock:
    """The time of a test: ``clock = Clock()`` stands at the present, ``Clock(datetime(2026, 1, 1, tzinfo=UTC))`` there.

    ``opened(Cms, clock=clock)`` gives a store its time. Within ``with clock:`` also ``keyplan.now()`` and
    ``keyplan.ulid()`` go by it, in the whole process.
    """

    def __init__(self, at: datetime | None = None) -> None:
        self._at = datetime.now(UTC) if at is None else _with_zone(at)

    @property
    def at(self) -> datetime:
        """What time it is."""
        return self._at

    def set(self, at: datetime) -> None:
        """Let it be that time. Raises RequestError for one without a time zone."""
        self._at = _with_zone(at)

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        """Let so much time pass, and give the time that it is then."""
        self._at += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._at

    def __call__(self) -> float:
        """The time in seconds since 1970, as a store asks for it."""
        return self._at.timestamp()

    def __enter__(self) -> Self:
        self._before = time_by(lambda: self._at)
        return self

    def __exit__(self, *exception: object) -> None:
        time_by(self._before)

    def __repr__(self) -> str:
        return f"Clock({self._at.isoformat()})"


def _with_zone(at: datetime) -> datetime:
    anything: Any = at
    if not isinstance(anything, datetime):
        raise RequestError(f"a time is a datetime, not {shown(at)}", place="Clock")
    if at.tzinfo is None:
        raise RequestError(f"{shown(at)} has no time zone", place="Clock", hint="write datetime(..., tzinfo=UTC)")
    return at.astimezone(UTC)
