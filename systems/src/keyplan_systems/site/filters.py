"""Formatting of values on pages: dates, numbers, and the initials and color of a name."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

HUES = 8
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def iso(moment: datetime) -> str:
    """A datetime in UTC: ``2026-11-21T09:42:00Z``."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def day(moment: datetime) -> str:
    """A date in UTC: ``21 November 2026``."""
    at = moment.astimezone(UTC)
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}"


def dated(moment: datetime) -> Markup:
    """A date in a ``time`` element with the machine-readable datetime."""
    at = moment.astimezone(UTC)
    return Markup(f'<time datetime="{iso(at)}">{day(at)}</time>')  # noqa: S704 - the text has only digits and a month's name


def month(moment: datetime) -> str:
    """``November 2026``, in UTC."""
    at = moment.astimezone(UTC)
    return f"{MONTHS[at.month - 1]} {at.year}"


def minute(moment: datetime) -> str:
    """``21 November 2026, 09:42 UTC``."""
    return f"{day(moment)}, {moment.astimezone(UTC):%H:%M} UTC"


def initials(name: str) -> str:
    words = name.replace(".", " ").replace("-", " ").split()
    letters = [words[0][0], words[-1][0]] if len(words) > 1 else [word[0] for word in words]
    return "".join(letters).upper() or "?"


def hue(text: str) -> int:
    """The color of a name, one of eight."""
    return zlib.crc32(text.encode("utf-8", "replace")) % HUES


def count(number: int) -> str:
    """A rounded number: 1,204; 12.3k; 4.5M."""
    for least, divisor, unit in ((1_000_000, 1_000_000, "M"), (10_000, 1_000, "k")):
        if number >= least:
            return f"{number / divisor:.1f}".removesuffix(".0") + unit
    return f"{number:,}"


FILTERS: Mapping[str, Callable[[Any], object]] = {
    "count": count,
    "dated": dated,
    "day": day,
    "hue": hue,
    "initials": initials,
    "iso": iso,
    "minute": minute,
    "month": month,
}
