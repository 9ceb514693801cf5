"""Every access pattern returns the same as a brute-force filter on the sample, and sends the expected requests."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from keyplan import Page
from keyplan.errors import ArgumentError, CursorError
from keyplan_systems.cms import Article, ArticleVersion, ArticleWithVersion, Cms
from keyplan_systems.cms.sample import AUTHORS, Whole
from tests.systems.cms.support import AsyncRecorder, recorded, stored


def all_pages(ask: Callable[..., Page[Any]], argument: str, limit: int) -> list[Any]:
    result: list[Any] = []
    cursor = None
    while True:
        page = ask(argument, limit=limit, cursor=cursor)
        result += page.items
        cursor = page.cursor
        if cursor is None:
            return result


def newest_first(wholes: list[Whole]) -> list[Article]:
    return sorted((element.article for element in wholes), key=lambda article: article.created_at, reverse=True)


# Results


def test_an_article_is_read_by_id(sampled: Cms, wholes: list[Whole]) -> None:
    for element in wholes:
        assert sampled.article(element.article.article_id) == element.article
    assert sampled.article("01HW") is None


def test_an_article_is_read_with_its_latest_version(sampled: Cms, wholes: list[Whole]) -> None:
    assert any(not element.versions for element in wholes)
    assert any(len(element.versions) == 6 for element in wholes)
    for element in wholes:
        expected = ArticleWithVersion(element.article, element.versions[-1] if element.versions else None)
        assert sampled.article_with_latest(element.article.article_id) == expected
    assert sampled.article_with_latest("01HW") is None


def test_a_version_of_an_article_is_read(sampled: Cms, wholes: list[Whole]) -> None:
    for element in wholes:
        for number, version in enumerate(element.versions, 1):
            assert sampled.article_version(element.article.article_id, number) == version
        assert sampled.article_version(element.article.article_id, len(element.versions) + 1) is None


def test_versions_of_an_article_are_read(sampled: Cms, wholes: list[Whole]) -> None:
    for element in wholes:
        name = element.article.article_id
        pages = all_pages(sampled.article_versions, name, 2)
        assert pages == element.versions[::-1]
        assert sampled.article_history(name) == element.versions


def test_articles_are_listed_by_author(sampled: Cms, wholes: list[Whole]) -> None:
    for author in (*AUTHORS, "nobody"):
        pages = all_pages(sampled.articles_by_author, author, 7)
        assert pages == newest_first([element for element in wholes if element.article.author_id == author])


def test_articles_are_listed_by_tag(sampled: Cms, wholes: list[Whole]) -> None:
    tags = {tag for element in wholes for tag in element.article.tags}
    assert len(tags) > 25
    for tag in (*tags, "nothing"):
        pages = all_pages(sampled.articles_by_tag, tag, 9)
        assert pages == newest_first([element for element in wholes if tag in element.article.tags])


def test_tags_of_an_article_are_read(sampled: Cms, wholes: list[Whole]) -> None:
    for element in wholes:
        assert sampled.tags_of_article(element.article.article_id) == element.tags
    assert sampled.tags_of_article("01HW") == []


def test_asynchronous_reads_return_the_results_of_synchronous_reads(sampled: Cms, wholes: list[Whole]) -> None:
    async def ask() -> None:
        for element in wholes[::30]:
            name = element.article.article_id
            assert await sampled.article.aio(name) == element.article
            assert await sampled.article_with_latest.aio(name) == sampled.article_with_latest(name)
            assert await sampled.article_version.aio(name, 1) == sampled.article_version(name, 1)
            assert await sampled.article_versions.aio(name) == sampled.article_versions(name)
            assert await sampled.tags_of_article.aio(name) == element.tags
        page = await sampled.articles_by_author.aio("u_01", limit=5)
        assert page == sampled.articles_by_author("u_01", limit=5)
        further = await sampled.articles_by_tag.aio("dynamodb", limit=5)
        assert further == sampled.articles_by_tag("dynamodb", limit=5)

    asyncio.run(ask())


def test_calls_by_name_accept_string_arguments(sampled: Cms, wholes: list[Whole]) -> None:
    name = wholes[0].article.article_id
    assert sampled.call("article", {"article_id": name}) == wholes[0].article
    assert sampled.call("article_version", {"article_id": name, "version": "1"}) == wholes[0].versions[0]
    page = asyncio.run(sampled.call_async("articles_by_author", {"author_id": "u_01", "limit": "3"}))
    assert page == sampled.articles_by_author("u_01", limit=3)
    assert sampled.call("articles_by_author", {"author_id": "u_01", "limit": "3", "cursor": page.cursor}).items
    with pytest.raises(ArgumentError):
        sampled.call("article_version", {"article_id": name, "version": "newest"})
    with pytest.raises(CursorError):
        sampled.articles_by_author("u_02", limit=3, cursor=page.cursor)


def test_version_10_sorts_after_version_9(cms: Cms, article: Article) -> None:
    for number in range(1, 13):
        assert cms.publish(article.article_id, f"text {number}", "u_01").version == number
    versions = cms.article_versions(article.article_id, limit=20)
    assert [version.version for version in versions] == list(range(12, 0, -1))
    assert [version.version for version in cms.article_history(article.article_id)] == list(range(1, 13))
    latest = cms.article_with_latest(article.article_id)
    assert latest is not None
    assert latest.version is not None
    assert (latest.version.version, latest.version.body) == (12, "text 12")


# Requests


def test_an_article_and_its_latest_version_are_read_by_one_query_of_two_items(cms: Cms, article: Article) -> None:
    for number in range(30):
        cms.publish(article.article_id, "long " * 5000 + str(number), "u_01")
    recorder = recorded(cms)
    cms.article_with_latest(article.article_id)
    ((operation, parameters, response),) = recorder.made
    assert operation == "Query"
    assert "IndexName" not in parameters
    assert (parameters["Limit"], response["ScannedCount"], response["Count"]) == (2, 2, 2)
    assert [item["sk"]["S"] for item in response["Items"]] == ["#METADATA", "VERSION#99999969"]


def test_a_draft_without_versions_is_read_by_one_query_of_one_item(cms: Cms, article: Article) -> None:
    recorder = recorded(cms)
    version = cms.article_with_latest(article.article_id)
    assert version == ArticleWithVersion(article, None)
    assert [response["ScannedCount"] for _, _, response in recorder.made] == [1]


def test_each_pattern_sends_the_expected_requests(cms: Cms, article: Article) -> None:
    cms.publish(article.article_id, "text", "u_01")
    recorder = recorded(cms)

    def operations(ask: Callable[[], object]) -> list[str]:
        recorder.made.clear()
        ask()
        return recorder.operations

    name = article.article_id
    assert operations(lambda: cms.article(name)) == ["GetItem"]
    assert operations(lambda: cms.article_version(name, 1)) == ["GetItem"]
    assert operations(lambda: cms.article_versions(name)) == ["Query"]
    assert operations(lambda: cms.articles_by_author("u_01")) == ["Query"]
    assert recorder.made[0][1]["IndexName"] == "GSI1"
    assert operations(lambda: cms.articles_by_tag("aws")) == ["Query", "BatchGetItem"]
    assert operations(lambda: cms.tags_of_article(name)) == ["Query"]
    assert recorder.made[0][1]["IndexName"] == "GSI1"
    assert operations(lambda: cms.publish(name, "more", "u_01")) == ["GetItem", "TransactWriteItems"]
    assert operations(lambda: cms.retag(name, {"aws", "new"})) == ["GetItem", "TransactWriteItems"]
    assert operations(lambda: cms.create_article(article.model_copy(update={"article_id": "2", "slug": "2"}))) == [
        "TransactWriteItems"
    ]


def test_async_calls_send_the_expected_requests(cms: Cms, article: Article, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> list[str]:
        recorder = AsyncRecorder(cms.store.async_transport)
        monkeypatch.setattr(type(cms.store), "async_transport", recorder)
        version = await cms.publish.aio(article.article_id, "text", "u_01")
        article_with_version = await cms.article_with_latest.aio(article.article_id)
        assert article_with_version is not None
        assert article_with_version.version == version
        return recorder.operations

    assert asyncio.run(ask()) == ["GetItem", "TransactWriteItems", "Query"]


def test_lists_of_articles_never_read_bodies(cms: Cms) -> None:
    """The responses to a list contain no version, and have the same size for bodies of any length."""
    for number in range(5):
        made = Article(article_id=str(number), title="Same", slug=f"same-{number}", author_id="u_01", tags={"aws"})
        cms.create_article(made)
        cms.publish(str(number), "x", "u_01")
    recorder = recorded(cms)
    cms.articles_by_author("u_01")
    cms.articles_by_tag("aws")
    short = recorder.made[:]
    for number in range(5):
        cms.publish(str(number), "long " * 60_000, "u_01")
    recorder.made.clear()
    cms.articles_by_author("u_01")
    cms.articles_by_tag("aws")
    for (_, _, before), (_, _, after) in zip(short, recorder.made, strict=True):
        assert "body" not in str(after)
        assert "VERSION#" not in str(after)
        assert len(str(after)) == len(str(before))


def test_no_index_contains_an_article_version(sampled: Cms) -> None:
    for item in stored(sampled):
        assert not ("gsi1pk" in item and item["sk"]["S"].startswith("VERSION"))
        assert ("body" in item) == item["sk"]["S"].startswith("VERSION#")


def test_keys_of_items_equal_those_in_the_published_design(cms: Cms, article: Article) -> None:
    cms.publish(article.article_id, "First draft...", "u_01")
    name = f"ARTICLE#{article.article_id}"
    result = {
        tuple(item[key]["S"] if key in item else None for key in ("pk", "sk", "gsi1pk", "gsi1sk"))
        for item in stored(cms)
    }
    of_the_document = {
        (name, "#METADATA", "AUTHOR#u_01", name),
        (name, "VERSION#99999998", None, None),
        ("TAG#aws", name, name, "TAG#aws"),
        ("TAG#c$c", name, name, "TAG#c$c"),
    }
    assert of_the_document < result
    more = {re.sub(r"[0-9].*", "", f"{pk} {sk}") for pk, sk, _, _ in result - of_the_document}
    assert more == {
        *(f"{name[: name.index('0')]}", "SLUG#keys ARTICLE", "STATE#published ARTICLE#"),
        *("PUBLISHED ", "PUBLISHED#TAG#aws ", "PUBLISHED#TAG#c$c "),
    }
    (metadata,) = [item for item in stored(cms) if item["sk"]["S"] == "#METADATA"]
    attributes = {"articleId", "title", "slug", "status", "authorId", "publishedAt", "currentVersion", "tags"}
    assert metadata.keys() == attributes | {"createdAt", "updatedAt", "pk", "sk", "gsi1pk", "gsi1sk"}


def test_articles_of_the_sample_are_consistent_and_readable(wholes: list[Whole]) -> None:
    statuses = {element.article.status for element in wholes}
    assert statuses == {"draft", "published", "archived"}
    for element in wholes:
        made = element.article
        assert made.current_version == len(element.versions)
        assert (made.published_at is None) == (made.status == "draft")
        moments = [made.created_at, *(version.created_at for version in element.versions), made.updated_at]
        assert moments == sorted(moments)
        assert len({version.body for version in element.versions}) == len(element.versions)
        assert all(isinstance(version, ArticleVersion) and "{" not in version.body for version in element.versions)
