"""Fixtures: an open design in memory, and skipped pauses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.known_bugs_elsewhere.design import Magazine


@pytest.fixture
def magazine() -> Iterator[Magazine]:
    """The magazine design, open on an empty store in memory."""
    with Magazine.open(":memory:") as opened:
        yield opened


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Skip the pauses between retries, and list their lengths in seconds."""
    pauses: list[float] = []
    monkeypatch.setattr("keyplan.client.conversations.time.sleep", pauses.append)
    return pauses
