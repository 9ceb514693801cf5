"""Fixtures: the social network on an empty store with three users, and on the sample."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan_systems.social import Social, limits
from keyplan_systems.social.sample import sample
from tests.systems.social.support import people
from tests.systems.support import silent

SAMPLED = 240


@pytest.fixture
def social() -> Iterator[Social]:
    with Social.open(":memory:") as opened:
        people(opened, "ann", "ben", "cid")
        yield opened


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the thresholds for fan-out small."""
    monkeypatch.setattr(limits, "READ_MAX", 1)
    monkeypatch.setattr(limits, "AUDIENCE_MAX", 2)
    monkeypatch.setattr(limits, "BACKFILL_MAX", 3)


@pytest.fixture(scope="session")
def sampled() -> Iterator[Social]:
    """Return a store with the sample. Tests only read this store."""
    with Social.open(":memory:") as opened:
        assert sample(opened, SAMPLED, silent) == SAMPLED
        yield opened
