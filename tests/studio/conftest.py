"""Fixtures for tests of the studio: small designs, open on stores in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan.studio.subject import Subject, of_design
from tests.studio.school import School, fill


@pytest.fixture
def school() -> Iterator[School]:
    """The School design, open on a store with some pupils, courses and enrolments."""
    with School.open(":memory:", secret="s") as opened:
        fill(opened)
        yield opened


@pytest.fixture
def subject(school: School) -> Subject:
    """The School design as the subject of a studio."""
    return of_design(school)


@pytest.fixture
def empty() -> Iterator[Subject]:
    """The School design, open on an empty store, as the subject of a studio."""
    with School.open(":memory:", secret="s") as opened:
        yield of_design(opened)
