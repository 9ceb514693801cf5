"""Every access pattern of the CMS returns the same result from Python, asyncio, REST and the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keyplan import Page
from keyplan.errors import ItemExists, Refused
from keyplan.formatting.results import answer_json
from keyplan.web import app
from keyplan_systems.cms import Article
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Member
from keyplan_systems.cms.system import SYSTEM
from tests.cli.support import json_of
from tests.systems.support import STORES, open_on
from tests.web.support import TestClient

READS = ["AP1", "AP2", "AP3", "AP4", "AP5", "AP6", "AP7"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cms.db"


@pytest.fixture
def cms(path: Path) -> Iterator[Cms]:
    with Cms.open(path) as opened:
        SYSTEM.sample(opened, 40, lambda done, total: None)
        yield opened


def arguments(cms: Cms) -> dict[str, dict[str, Any]]:
    """Return the arguments of each read by pattern id, for an article for which every read has a result."""
    articles = [element for number in range(1, 9) for element in cms.articles_by_author(f"u_{number:02d}", limit=100)]
    article = max(articles, key=lambda article: (len(article.tags), article.current_version))
    assert article.tags
    assert article.current_version > 1
    name = {"article_id": article.article_id}
    return {
        "AP1": name,
        "AP2": name,
        "AP3": {**name, "version": 1},
        "AP4": {**name, "limit": 2},
        "AP5": {"author_id": article.author_id, "limit": 3},
        "AP6": {"tag": min(article.tags), "limit": 2},
        "AP7": name,
    }


def by_command(path: Path, name: str, given: dict[str, Any]) -> Any:
    return json_of("call", "cms", name, *(f"{key}={value}" for key, value in given.items()), "--db", str(path))


@pytest.mark.parametrize("identity", READS)
def test_reads_have_the_same_result_in_each_interface(cms: Cms, path: Path, identity: str) -> None:
    name = next(pattern.name for pattern in Cms.compiled.reads.values() if pattern.id == identity)
    given = arguments(cms)[identity]
    bound = getattr(cms, name)
    answer = bound(**given)
    wanted = answer_json(answer)
    assert wanted
    assert asyncio.run(bound.aio(**given)) == answer
    assert cms.call(name, {key: str(value) for key, value in given.items()}) == answer
    with TestClient(app(cms)) as client:
        assert client.get(f"/api/{name}", params=given).json() == wanted
    assert by_command(path, name, given) == wanted


def test_publishing_has_the_same_result_in_each_interface(path: Path, cms: Cms) -> None:
    article_id = arguments(cms)["AP1"]["article_id"]
    before = cms.article(article_id)
    assert before is not None
    given = {"article_id": article_id, "created_by": "u_01"}
    numbers = [
        cms.publish(**given, body="one").version,
        asyncio.run(cms.publish.aio(**given, body="two")).version,
        cms.call("publish", {**given, "body": "three"}).version,
        by_command(path, "publish", {**given, "body": "four"})["version"],
    ]
    with TestClient(app(cms)) as client:
        numbers.append(client.post("/api/publish", json={**given, "body": "five"}).json()["version"])
        latest = client.get("/api/article_with_latest", params={"article_id": article_id}).json()
    assert numbers == [before.current_version + step for step in range(1, 6)]
    assert (latest["article"]["current_version"], latest["version"]["body"]) == (numbers[-1], "five")


# On each store


def a_week(cms: Cms) -> list[Any]:
    """Create, edit, publish, archive and read articles. Return the results of the reads without timestamps."""
    for number, name in enumerate("abc"):
        at = datetime(2026, 5, 4 + number, tzinfo=UTC)
        cms.create_article(
            Article(article_id=name, title=name, slug=name, author_id="u", tags={"x", name}, created_at=at)
        )
        cms.save_draft(name, f"text of {name}", "u")
    for name in "ab":
        cms.publish(name, f"better text of {name}", "u")
    cms.save_draft("a", "later text of a", "u", title="Later")
    cms.edit("b", "B", "bee")
    cms.retag("a", {"y"})
    cms.unpublish("a")
    cms.archive("c")
    with pytest.raises(ItemExists):
        cms.create_article(Article(title="B", slug="b", author_id="u"))
    with pytest.raises(Refused):
        cms.save_draft("c", "no", "u")
    cms.join(Member(member_id="m", email="M@example.com", name="M"), "hash")
    led, member = cms.article_by_slug("b"), cms.member_by_email("m@example.com")
    assert led is not None
    assert member is not None
    found: list[Any] = [led.slug, member.member_id]
    found.append([version.body for version in cms.article_history("a")])
    found.append([(card.version, card.word_count) for card in cms.version_cards("b")])
    pages: tuple[Page[Any], ...] = (
        cms.articles_by_author("u"),
        cms.articles_by_tag("x"),
        cms.published_articles(),
        cms.published_by_tag("x"),
        *(cms.articles_by_state(state) for state in ("draft", "published", "archived")),
    )
    found += [[(article.article_id, article.title, article.slug) for article in page] for page in pages]
    cms.delete_article("b")
    return [*found, cms.article("b"), cms.article_by_slug("bee"), len(cms.articles_by_tag("x").items)]


@pytest.mark.parametrize("store", STORES)
def test_cms_calls_have_the_same_results_on_every_store(store: str, tmp_path: Path) -> None:
    with Cms.open(":memory:", secret="s") as cms:
        wanted = a_week(cms)
    with open_on(Cms, store, tmp_path) as cms:
        assert a_week(cms) == wanted
