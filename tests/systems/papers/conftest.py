"""Fixtures: the paper catalogue on an empty store with some authors, and on the sample."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan_systems.papers import Papers
from keyplan_systems.papers.design import Author
from keyplan_systems.papers.sample import sample
from tests.systems.support import silent

SAMPLED = 300


@pytest.fixture
def papers() -> Iterator[Papers]:
    with Papers.open(":memory:") as opened:
        for handle in ("jon", "guest", "ada"):
            opened.add_author(Author(handle=handle, name=handle.title()))
        yield opened


@pytest.fixture(scope="session")
def sampled() -> Iterator[Papers]:
    """Return a store with the sample. Tests only read this store."""
    with Papers.open(":memory:") as opened:
        assert sample(opened, SAMPLED, silent) == SAMPLED
        yield opened
