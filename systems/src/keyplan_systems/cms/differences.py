"""Line-by-line differences between two texts, with bounded work."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

LINES_MAX = 3_000
CONTEXT = 3


class Line(NamedTuple):
    """A line of a comparison: ``kept``, ``gone``, ``new``, or ``skipped`` for omitted equal lines."""

    kind: str
    text: str


def differences(before: str, after: str) -> list[Line] | None:
    """The changed lines with three lines of context; None for texts with too many lines."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > LINES_MAX:
        return None
    groups = difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT)
    return list(_lines(list(groups), old, new))


def _lines(groups: list[list[tuple[str, int, int, int, int]]], old: list[str], new: list[str]) -> Iterator[Line]:
    for number, group in enumerate(groups):
        if number or group[0][1] > 0:
            yield Line("skipped", "")
        for kind, old_from, old_to, new_from, new_to in group:
            if kind == "equal":
                yield from (Line("kept", text) for text in old[old_from:old_to])
                continue
            yield from (Line("gone", text) for text in old[old_from:old_to])
            yield from (Line("new", text) for text in new[new_from:new_to])
