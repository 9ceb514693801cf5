"""Layouts of times in keys, by strftime's fields: of a fixed width, so that the texts sort as the times do.

The formats that they belong to are in ``formats.py``.
"""

from __future__ import annotations

import re
from itertools import pairwise

from keyplan.model.declared.declaration_errors import Problem

__all__ = ["LETTERS", "day_layout", "layout_of", "letters_of", "pattern_of"]

_WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "f": 6, "j": 3}
LETTERS = "YmdHMSf"
"""From the largest unit to the smallest."""
_NEXT = {"Y": "mj", "m": "dj", "d": "H", "j": "H", "H": "M", "M": "S", "S": "f"}
"""What may follow in a text that sorts by time: the next smaller unit."""


def letters_of(layout: str) -> tuple[str, ...]:
    """The letters of a layout's fields, in order."""
    return tuple(re.findall(r"%(.)", layout))


def pattern_of(layout: str) -> str:
    """A regular expression for the texts of a layout."""
    text = re.escape(layout)
    for letter, width in _WIDTHS.items():
        text = text.replace(f"%{letter}", f"[0-9]{{{width}}}")
    return text


def day_layout(spec: str, *, sorts: bool) -> str:
    """The layout of a day in a key. Raises Problem."""
    layout = layout_of(spec, sorts=sorts)
    if not set(letters_of(layout)) <= set("Ymdj"):
        raise Problem(f"{spec!r} names hours, and the field is a day", "use %Y, %m, %d and %j")
    return layout


def layout_of(spec: str, *, sorts: bool) -> str:
    """The layout of a moment in a key; where it ``sorts``, no unit is left out between two. Raises Problem."""
    letters = letters_of(spec)
    wrong = [letter for letter in letters if letter not in _WIDTHS]
    if wrong or not letters:
        raise Problem(f"{spec!r} isn't a fixed-width time", f"use strftime's %{', %'.join(_WIDTHS)}")
    if "#" in spec:
        raise Problem(f"{spec!r} holds the delimiter #", "leave it out of the time's format")
    order = [LETTERS.find(letter) for letter in letters if letter != "j"]
    gaps = [after for before, after in pairwise(letters) if after not in _NEXT.get(before, "")]
    if order != sorted(order) or (sorts and gaps):
        raise Problem(f"{spec!r} doesn't sort by time", "put the larger units first, none left out: %Y%m%d%H%M%S%f")
    return spec
