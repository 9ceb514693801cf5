"""An open design in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.known_bugs_elsewhere.design import Magazine


@pytest.fixture
def magazine() -> Iterator[Magazine]:
    """An empty magazine."""
    with Magazine.open(":memory:") as opened:
        yield opened


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The skipped pauses, in seconds."""
    pauses: list[float] = []
    monkeypatch.setattr("keyplan.client.conversations.time.sleep", pauses.append)
    return pauses
