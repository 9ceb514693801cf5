"""Every access pattern of the blog has the same result in each interface: Python, async, REST and command line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.formatting.results import answer_json
from keyplan.web import app
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post
from keyplan_systems.blog.sample import sample_user
from keyplan_systems.blog.system import SYSTEM
from tests.cli.support import json_of
from tests.systems.blog.asked import SAMPLED, arguments, completed
from tests.systems.blog.support import silent
from tests.web.support import TestClient

ASKED = arguments()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the sample and additional items."""
    file = tmp_path_factory.mktemp("blog") / "blog.db"
    with Blog.open(file) as opened:
        SYSTEM.sample(opened, SAMPLED, silent)
        completed(opened)
    return file


@pytest.fixture
def sampled(path: Path) -> Iterator[Blog]:
    with Blog.open(path) as opened:
        yield opened


def words_of(given: dict[str, Any]) -> list[str]:
    """Arguments for the command line."""
    return [
        f"{name}={value}" if isinstance(value, str) else f"{name}:={json.dumps(value)}" for name, value in given.items()
    ]


@pytest.fixture(scope="module")
def served(path: Path) -> Iterator[tuple[Blog, TestClient]]:
    """The sample for reads, and its API."""
    with Blog.open(path) as opened, TestClient(app(opened)) as client:
        yield opened, client


@pytest.mark.parametrize("name", ASKED)
def test_reads_have_the_same_result_in_each_interface(served: tuple[Blog, TestClient], path: Path, name: str) -> None:
    sampled, client = served
    given = ASKED[name]
    bound = getattr(sampled, name)
    answer = sampled.call(name, {key: value if isinstance(value, list) else str(value) for key, value in given.items()})
    typed = {key: tuple(value) if (name, key) == ("posts_by_tags", "tags") else value for key, value in given.items()}
    assert bound(**typed) == answer
    assert asyncio.run(bound.aio(**typed)) == answer
    wanted = answer_json(answer)
    assert wanted
    assert client.get(f"/api/{name}", params=given).json() == wanted
    assert json_of("call", "blog", name, *words_of(given), "--db", str(path)) == wanted


def ways(blog: Blog, path: Path, client: TestClient) -> list[Callable[[str, dict[str, Any]], Any]]:
    """Functions that call a write by its name in each interface and return its JSON result."""

    def by_command(name: str, given: dict[str, Any]) -> Any:
        return json_of("call", "blog", name, *words_of(given), "--db", str(path))

    def by_rest(name: str, given: dict[str, Any]) -> Any:
        response = client.post(f"/api/{name}", json=given)
        return response.json() if response.content else None

    return [
        lambda name, given: answer_json(getattr(blog, name)(**given)),
        lambda name, given: answer_json(asyncio.run(getattr(blog, name).aio(**given))),
        lambda name, given: answer_json(blog.call(name, given)),
        by_rest,
        by_command,
    ]


def test_writes_have_the_same_result_in_each_interface(sampled: Blog, path: Path) -> None:
    author = sample_user(1).user_id
    with TestClient(app(sampled)) as client:
        for number, way in enumerate(ways(sampled, path, client)):
            tags = (f"way-{number}", "ways")
            typed = Post(user_id=author, slug=f"way-{number}", title="W", tags=tags)
            untyped = {"user_id": author, "slug": f"way-{number}", "title": "W", "tags": list(tags)}
            made = way("create_post", {"post": typed if number < 2 else untyped, "content": "Text."})
            post_id = made["post"]["post_id"]
            assert way("publish", {"post_id": post_id})["status"] == "published"
            way("count_view", {"post_id": post_id})
            assert way("like_post", {"post_id": post_id, "user_id": author}) is True
            assert way("refresh_ranking", {"post_id": post_id}) == "refreshed"
            post = sampled.post(post_id)
            assert post is not None
            assert (post.slug, post.views, post.likes) == (f"way-{number}", 2, 1)
        assert {post.slug for post in sampled.posts_by_tags(("ways",))} == {f"way-{number}" for number in range(5)}
        tag = sampled.tag("ways")
        assert tag is not None
        assert tag.posts == 5
