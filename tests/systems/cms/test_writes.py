"""Writes of the CMS: their results and errors, and the items that remain stored after a failure."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import ArgumentError, ItemExists, ItemNotFound, ItemTooLarge, Refused, StoreError
from keyplan_systems.cms import Article, Cms, TagArticle
from keyplan_systems.cms.design import BODY_BYTES_MAX, TAGS_MAX
from keyplan_systems.cms.sample import sample
from tests.systems.cms.support import keys, recorded, silent, stored


def junction(cms: Cms, article_id: str) -> set[str]:
    return {article.tag for article in cms.tags_of_article(article_id)}


# Creation


def test_a_new_article_is_a_draft_without_versions(cms: Cms) -> None:
    given = Article(title="T", slug="t", author_id="u", status="published", current_version=7, tags={"a"})
    made = cms.create_article(given)
    assert (made.status, made.current_version, made.published_at) == ("draft", 0, None)
    assert cms.article(made.article_id) == made
    assert junction(cms, made.article_id) == {"a"}


def test_creating_an_existing_article_raises_an_error(cms: Cms, article: Article) -> None:
    before = stored(cms)
    with pytest.raises(ItemExists) as caught:
        cms.create_article(article.model_copy(update={"title": "Another", "tags": {"other"}}))
    assert article.article_id in str(caught.value)
    assert stored(cms) == before


def test_articles_can_be_written_asynchronously(cms: Cms) -> None:
    async def write() -> Article:
        made = await cms.create_article.aio(Article(title="T", slug="t", author_id="u", tags={"a"}))
        await cms.publish.aio(made.article_id, "text", "u")
        await cms.retag.aio(made.article_id, {"b"})
        return await cms.archive.aio(made.article_id)

    made = asyncio.run(write())
    assert (made.status, made.current_version, made.tags) == ("archived", 1, {"b"})
    assert cms.article(made.article_id) == made
    assert junction(cms, made.article_id) == {"b"}


@pytest.mark.parametrize("wrong", [{"title": ""}, {"author_id": ""}, {"article_id": ""}, {"tags": {" "}}])
def test_invalid_articles_are_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Article(**{"title": "T", "slug": "t", "author_id": "u", **wrong})


# Publication


def test_publishing_an_article_stores_a_version(cms: Cms, article: Article) -> None:
    first = cms.publish(article.article_id, "one two three", "u_02")
    assert (first.version, first.word_count, first.created_by) == (1, 3, "u_02")
    second = cms.publish(article.article_id, "four", "u_01")
    now = cms.article(article.article_id)
    assert now is not None
    assert (now.status, now.current_version) == ("published", 2)
    assert (now.published_at, now.updated_at) == (first.created_at, second.created_at)
    assert cms.article_version(article.article_id, 1) == first


def test_drafts_can_be_saved_before_and_after_publishing_an_article(cms: Cms, article: Article) -> None:
    cms.save_draft(article.article_id, "draft", "u_01")
    saved = cms.article(article.article_id)
    assert saved is not None
    assert (saved.status, saved.current_version, saved.published_at) == ("draft", 1, None)
    assert cms.publish(article.article_id, "whole", "u_01").version == 2
    assert cms.save_draft(article.article_id, "more", "u_01").version == 3
    now = cms.article(article.article_id)
    assert now is not None
    assert (now.status, now.current_version, now.shown_version) == ("published", 3, 2)


@pytest.mark.parametrize("write", ["publish", "save_draft"])
def test_a_body_over_the_size_limit_is_rejected_before_any_request(cms: Cms, article: Article, write: str) -> None:
    before = stored(cms)
    recorder = recorded(cms)
    body = "é" * (BODY_BYTES_MAX // 2 + 1)
    with pytest.raises(ItemTooLarge) as caught:
        getattr(cms, write)(article.article_id, body, "u_01")
    assert recorder.made == []
    assert stored(cms) == before
    assert f"{len(body) * 2:,} bytes" in str(caught.value)
    assert "Amazon S3" in str(caught.value)


def test_the_largest_allowed_body_fits_in_an_item(cms: Cms) -> None:
    article = cms.create_article(Article(article_id="a" * 1000, title="T", slug="t", author_id="u"))
    body = "x" * BODY_BYTES_MAX
    assert cms.publish(article.article_id, body, "u" * 1000).version == 1
    latest = cms.article_with_latest(article.article_id)
    assert latest is not None
    assert latest.version is not None
    assert latest.version.body == body


# Tags


def test_replacing_the_tags_of_an_article_updates_its_junctions(cms: Cms, article: Article) -> None:
    changed = cms.retag(article.article_id, {"c#", "new", "  padded "})
    assert changed.tags == {"c#", "new", "padded"}
    assert cms.article(article.article_id) == changed
    assert junction(cms, article.article_id) == changed.tags
    assert cms.articles_by_tag("aws").items == []
    assert cms.articles_by_tag("c#").items == [changed]
    assert cms.retag(article.article_id, set()).tags == set()
    assert junction(cms, article.article_id) == set()
    assert cms.retag(article.article_id, {"again"}).tags == {"again"}


def test_an_article_with_more_than_the_maximum_number_of_tags_is_rejected(cms: Cms, article: Article) -> None:
    cms.retag(article.article_id, {f"a{number}" for number in range(TAGS_MAX)})
    other = {f"b{number}" for number in range(TAGS_MAX)}
    cms.retag(article.article_id, other)
    assert junction(cms, article.article_id) == other
    with pytest.raises(ArgumentError):
        cms.retag(article.article_id, other | {"one more"})
    assert junction(cms, article.article_id) == other
    cms.delete_article(article.article_id)
    assert keys(cms) == set()


def test_replacing_tags_repairs_an_orphaned_junction(cms: Cms, article: Article) -> None:
    cms.put(TagArticle(tag="stray", article_id=article.article_id))
    cms.retag(article.article_id, {"stray"})
    assert junction(cms, article.article_id) == {"stray"}


# Editing and archiving


def test_editing_an_article_updates_its_fields(cms: Cms, article: Article) -> None:
    changed = cms.edit(article.article_id, "New", "new", "Short")
    assert (changed.title, changed.slug, changed.excerpt) == ("New", "new", "Short")
    assert cms.article(article.article_id) == changed
    assert cms.edit(article.article_id, "New", "new").excerpt is None
    with pytest.raises(ArgumentError):
        cms.edit(article.article_id, "", "new")
    with pytest.raises(ArgumentError):
        cms.edit(article.article_id, "New", "new", "x" * 1001)


def test_an_archived_article_rejects_every_change(cms: Cms, article: Article) -> None:
    cms.publish(article.article_id, "text", "u_01")
    archived = cms.archive(article.article_id)
    before = stored(cms)
    for write in (
        lambda: cms.publish(article.article_id, "more", "u_01"),
        lambda: cms.save_draft(article.article_id, "more", "u_01"),
        lambda: cms.retag(article.article_id, {"new"}),
        lambda: cms.edit(article.article_id, "New", "new"),
        lambda: cms.archive(article.article_id),
    ):
        with pytest.raises(Refused, match="archived"):
            write()
    assert stored(cms) == before
    assert cms.articles_by_author("u_01").items == [archived]
    cms.delete_article(article.article_id)
    assert keys(cms) == set()


def test_a_write_during_a_concurrent_archiving_is_rejected(cms: Cms, article: Article) -> None:
    """The archiving succeeds. The write fails, reads the article again, and is rejected."""
    recorder = recorded(cms)
    archived = False

    def archive_first(operation: str, parameters: dict[str, Any]) -> None:
        nonlocal archived
        if operation in {"TransactWriteItems", "UpdateItem"} and not archived:
            archived = True
            cms.archive(article.article_id)

    for write in (
        lambda: cms.retag(article.article_id, {"new"}),
        lambda: cms.publish(article.article_id, "text", "u_01"),
        lambda: cms.edit(article.article_id, "New", "new"),
    ):
        archived = False
        cms.delete_article(article.article_id)
        cms.create_article(article)
        recorder.before = archive_first
        with pytest.raises(Refused, match="archived"):
            write()
        recorder.before = lambda operation, parameters: None
        result = cms.article(article.article_id)
        assert result is not None
        assert (result.status, result.tags, result.title, result.current_version) == (
            "archived",
            article.tags,
            "Keys",
            0,
        )
        assert junction(cms, article.article_id) == article.tags


@pytest.mark.parametrize(
    ("write", "arguments"),
    [
        ("publish", {"body": "b", "created_by": "u"}),
        ("save_draft", {"body": "b", "created_by": "u"}),
        ("retag", {"tags": {"a"}}),
        ("edit", {"title": "t", "slug": "s"}),
        ("archive", {}),
    ],
)
def test_writing_an_unknown_article_raises_an_error(cms: Cms, write: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ItemNotFound, match="01HW"):
        getattr(cms, write)("01HW", **arguments)
    assert keys(cms) == set()


# Deleting


def test_an_article_with_more_than_100_versions_is_deleted(cms: Cms, article: Article) -> None:
    other = cms.create_article(Article(title="Other", slug="other", author_id="u_01", tags={"aws"}))
    cms.publish(other.article_id, "stays", "u_01")
    gone = {key for key in keys(cms) if any(article.article_id in part for part in key)} | {("SLUG#keys", "ARTICLE")}
    kept = keys(cms) - gone
    for number in range(130):
        cms.publish(article.article_id, f"text {number}", "u_01")
    cms.delete_article(article.article_id)
    assert keys(cms) == kept
    assert cms.articles_by_tag("aws").items == [cms.article(other.article_id)]
    cms.delete_article(article.article_id)
    assert keys(cms) == kept


def test_a_delete_that_a_crash_interrupted_can_be_completed(cms: Cms, article: Article) -> None:
    for number in range(40):
        cms.publish(article.article_id, f"text {number}", "u_01")
    recorder = recorded(cms)
    batches = 0

    def crash(operation: str, parameters: dict[str, Any]) -> None:
        nonlocal batches
        batches += operation == "BatchWriteItem"
        if operation == "BatchWriteItem" and batches == 2:
            raise StoreError("the power went")

    recorder.before = crash
    with pytest.raises(StoreError):
        cms.delete_article(article.article_id)
    assert cms.article(article.article_id) is None
    assert cms.article_with_latest(article.article_id) is None
    assert cms.articles_by_tag("aws").items == []
    left = [sk for _, sk in keys(cms)]  # versions that nothing leads to, and their cards
    assert sum(sk.startswith("VERSION#") for sk in left) == 28
    assert len(left) == 55
    cms.delete_article(article.article_id)
    assert keys(cms) == set()


def test_deleting_an_article_deletes_a_concurrently_published_version(cms: Cms, article: Article) -> None:
    """The version is published after the deletion has read the article."""
    recorder = recorded(cms)
    published = False

    def publish_first(operation: str, parameters: dict[str, Any]) -> None:
        nonlocal published
        if operation == "TransactWriteItems" and not published:
            published = True
            cms.publish(article.article_id, "late", "u_01")

    recorder.before = publish_first
    cms.delete_article(article.article_id)
    assert published
    assert keys(cms) == set()


# The sample


def test_adding_the_sample_again_changes_nothing(tmp_path: Path) -> None:
    with Cms.open(tmp_path / "cms.db") as cms:
        assert sample(cms, 60, silent) == 60
        name = cms.articles_by_author("u_01").items[0].article_id
        cms.delete_article(name)
        edited = next(article for article in cms.articles_by_author("u_01") if article.status == "published")
        cms.publish(edited.article_id, "edited since", "u_02")
        before = {json.dumps(item, sort_keys=True) for item in stored(cms)}
        seen: list[tuple[int, int | None]] = []
        assert sample(cms, 60, lambda done, total: seen.append((done, total))) == 1
        assert seen == [(0, 60), (50, 60), (60, 60)]
        assert sample(cms, 60, silent) == 0
        assert before < {json.dumps(item, sort_keys=True) for item in stored(cms)}
        assert sample(cms, 80, silent) == 20


def test_adding_the_sample_again_completes_an_interrupted_sample(cms: Cms) -> None:
    recorder = recorded(cms)

    def crash(operation: str, parameters: dict[str, Any]) -> None:
        if operation == "BatchWriteItem" and recorder.operations.count(operation) == 5:
            raise StoreError("the power went")

    recorder.before = crash
    with pytest.raises(StoreError):
        sample(cms, 20, silent)
    partly = keys(cms)
    assert partly
    recorder.before = lambda operation, parameters: None
    assert sample(cms, 20, silent) == 20
    assert partly < keys(cms)
    for article in cms.articles_by_author("u_01", limit=100):
        assert junction(cms, article.article_id) == article.tags
        assert len(cms.article_history(article.article_id)) == article.current_version
