"""ULIDs have 26 characters, sort in creation order and use the given clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from keyplan import ulid
from keyplan.errors import ArgumentError
from keyplan.testing import Clock

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's, as the specification of ULIDs has it."""
NOON = datetime(2026, 3, 1, 12, 0, 0, 123_000, tzinfo=UTC)
LAST_MS = (1 << 48) - 1


def ms_of(text: str) -> int:
    """Return the timestamp of a ULID in milliseconds."""
    assert len(text) == 26
    number = 0
    for sign in text:
        number = number * 32 + ALPHABET.index(sign)
    return number >> 80


def test_a_ulid_contains_its_timestamp() -> None:
    before = time.time_ns() // 1_000_000
    made = ulid()
    assert before <= ms_of(made) <= time.time_ns() // 1_000_000
    assert ms_of(ulid(NOON)) == 1_772_366_400_123
    assert ms_of(ulid(datetime(1970, 1, 1, tzinfo=UTC))) == 0


def test_ulids_of_a_process_sort_in_creation_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order also applies to ULIDs of one millisecond, and after the clock is set back."""
    monkeypatch.setattr("keyplan.model.declared.fields._ulid_last", (0, 0))
    now = time.time_ns()
    steps = iter([0, 0, 1, 999_999, 1_000_000, -5_000_000_000, 0, 1_000_000, 2_000_000])
    monkeypatch.setattr(time, "time_ns", lambda: now + next(steps))
    made = [ulid() for _ in range(9)]
    assert made == sorted(set(made))
    assert ms_of(made[-1]) == (now + 2_000_000) // 1_000_000


def test_ulids_with_the_same_timestamp_differ() -> None:
    """All 79 bits after the timestamp are random, unless the ULID increments the previous one."""
    made = [ulid(NOON) for _ in range(1000)]
    assert len(set(made)) == 1000
    assert made != sorted(made)
    for place in range(11, 26):
        assert len({text[place] for text in made}) == 32
    assert len({text[10] for text in made}) == 16  # the first bit is reserved for increments


def test_timestamps_outside_the_range_of_ulids_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArgumentError, match="outside the range of a ULID"):
        ulid(datetime(1970, 1, 1, tzinfo=UTC) - timedelta(milliseconds=1))
    monkeypatch.setattr("keyplan.model.declared.fields._ulid_last", (0, 0))
    monkeypatch.setattr(time, "time_ns", lambda: LAST_MS * 1_000_000 + 999_999)
    assert ms_of(ulid()) == LAST_MS
    monkeypatch.setattr(time, "time_ns", lambda: (LAST_MS + 1) * 1_000_000)
    with pytest.raises(ArgumentError, match="outside the range of a ULID"):
        ulid()


def test_new_ulids_use_the_test_clock_by_default() -> None:
    with Clock(NOON):
        assert ms_of(ulid()) == ms_of(ulid(NOON))
        assert ms_of(ulid(NOON - timedelta(days=1))) == ms_of(ulid(NOON)) - 86_400_000
