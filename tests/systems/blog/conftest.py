"""Fixtures: the blog on an empty store, with an author and a reader."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import User
from tests.systems.blog.support import new_user


@pytest.fixture
def blog() -> Iterator[Blog]:
    with Blog.open(":memory:") as opened:
        yield opened


@pytest.fixture
def ada(blog: Blog) -> User:
    return new_user(blog, "ada", role="author")


@pytest.fixture
def eve(blog: Blog) -> User:
    return new_user(blog, "eve")
