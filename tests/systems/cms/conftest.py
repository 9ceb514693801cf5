"""Fixtures: the CMS on an empty store, and on the sample."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan_systems.cms import Article, Cms
from keyplan_systems.cms.sample import LATER, NEWEST, Whole, sample, whole_article
from tests.systems.cms.support import silent

SAMPLED = 300


@pytest.fixture
def cms() -> Iterator[Cms]:
    with Cms.open(":memory:") as opened:
        yield opened


@pytest.fixture
def article(cms: Cms) -> Article:
    return cms.create_article(Article(title="Keys", slug="keys", author_id="u_01", tags={"aws", "c#"}))


@pytest.fixture(scope="session")
def wholes() -> list[Whole]:
    return [whole_article(number) for number in range(SAMPLED)]


@pytest.fixture(scope="session")
def sampled() -> Iterator[Cms]:
    """Return a store with the sample at the date in the README. Tests only read this store."""
    with pytest.MonkeyPatch.context() as patch, Cms.open(":memory:") as opened:
        patch.setattr("keyplan_systems.cms.sample.now", lambda: NEWEST + LATER)
        assert sample(opened, SAMPLED, silent) == SAMPLED
        yield opened
