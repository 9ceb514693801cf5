"""Articles are drafted, unpublished, restored and previewed, and lists are correct after each change."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from keyplan import now
from keyplan.errors import ItemExists, ItemNotFound, Refused
from keyplan_systems.cms import Article, Cms
from keyplan_systems.cms.design import TAGS_MAX
from keyplan_systems.cms.entities import FORMER_SLUGS_MAX, RETAGGED_MAX
from keyplan_systems.cms.publishing import token_hash
from tests.systems.cms.support import keys, recorded, stored


def there(cms: Cms, article_id: str) -> Article:
    article = cms.article(article_id)
    assert article is not None
    return article


def new(cms: Cms, slug: str, *tags: str) -> Article:
    return cms.create_article(Article(title=slug.title(), slug=slug, author_id="u_01", tags=set(tags)))


def assert_lists_agree(cms: Cms) -> None:
    """Check that each list equals a filter over all stored items."""
    items = stored(cms)
    articles = [there(cms, item["articleId"]["S"]) for item in items if item["sk"]["S"] == "#METADATA"]
    wanted = {(f"STATE#{element.status}", element.article_id) for element in articles}
    wanted |= {
        (f"SLUG#{slug}", element.article_id)
        for element in articles
        for slug in (element.slug, *(element.former_slugs or ()))
    }
    for element in articles:
        if element.status == "published":
            wanted |= {
                ("PUBLISHED", element.article_id),
                *((f"PUBLISHED#TAG#{tag.replace('#', '$c')}", element.article_id) for tag in element.tags),
            }
    lists = ("STATE#", "SLUG#", "PUBLISHED")
    result = [item for item in items if item["pk"]["S"].startswith(lists)]
    assert {(item["pk"]["S"], item["articleId"]["S"]) for item in result} == wanted
    by_id = {element.article_id: element for element in articles}
    for item in result:
        if item["pk"]["S"].startswith("PUBLISHED"):
            article = by_id[item["articleId"]["S"]]
            assert (item["title"]["S"], item["slug"]["S"]) == (article.title, article.slug)
            assert item.get("excerpt", {}).get("S") == article.excerpt
            assert item["authorId"]["S"] == article.author_id


# Addresses


def test_a_slug_identifies_at_most_one_article(cms: Cms, article: Article) -> None:
    assert cms.article_by_slug("keys") == article
    assert cms.article_by_slug("nothing") is None
    before = stored(cms)
    with pytest.raises(ItemExists):
        new(cms, "keys", "other")
    other = new(cms, "other")
    with pytest.raises(ItemExists):
        cms.edit(other.article_id, "Other", "keys")
    assert len(stored(cms)) == len(before) + 3
    assert_lists_agree(cms)


def test_only_one_of_two_concurrent_writers_gets_a_slug(tmp_path: Path) -> None:
    with Cms.open(tmp_path / "cms.db") as cms, ThreadPoolExecutor(8) as pool:

        def wants(number: int) -> bool:
            try:
                new(cms, "keys", f"t{number}")
            except ItemExists:
                return False
            return True

        assert sum(pool.map(wants, range(8))) == 1
        assert_lists_agree(cms)


def test_old_slugs_redirect_to_the_article(cms: Cms, article: Article) -> None:
    name = article.article_id
    for number in range(FORMER_SLUGS_MAX + 2):
        cms.edit(name, "Keys", f"keys-{number}")
    assert cms.article_by_slug("keys-2") == cms.article_by_slug("keys-11") == there(cms, name)
    assert cms.article_by_slug("keys") is cms.article_by_slug("keys-0") is None  # released, and available
    assert_lists_agree(cms)
    cms.edit(name, "Keys", "keys-5")  # its own earlier slug
    assert there(cms, name).former_slugs == [f"keys-{number}" for number in (1, 2, 3, 4, 6, 7, 8, 9, 10, 11)]
    new(cms, "keys")
    assert_lists_agree(cms)
    cms.delete_article(name)
    assert cms.article_by_slug("keys-5") is None
    assert_lists_agree(cms)


# Drafts of published articles


def test_a_published_article_can_have_a_later_draft(cms: Cms, article: Article) -> None:
    name = article.article_id
    cms.publish(name, "one", "u_01")
    cms.save_draft(name, "two", "u_02", title="Keys, again", excerpt="Soon.")
    now = there(cms, name)
    assert (now.title, now.excerpt, now.shown_version, now.current_version) == ("Keys", None, 1, 2)
    assert now.has_draft
    (card,) = cms.published_by_tag("aws")
    assert (card.title, card.excerpt) == ("Keys", None)
    latest = cms.article_with_latest(name)
    assert latest is not None
    assert latest.version is not None
    assert (latest.version.body, latest.version.title) == ("two", "Keys, again")
    after = cms.publish_version(name, 2)
    assert (after.title, after.excerpt, after.shown_version, after.has_draft) == ("Keys, again", "Soon.", 2, False)
    assert after == there(cms, name)
    (card,) = cms.published_by_tag("aws")
    assert (card.title, card.excerpt) == ("Keys, again", "Soon.")
    assert_lists_agree(cms)


def test_saving_a_text_based_on_an_older_version_is_rejected(cms: Cms, article: Article) -> None:
    name = article.article_id
    assert cms.save_draft(name, "one", "u_01", based_on=0).version == 1
    before = stored(cms)
    with pytest.raises(Refused) as caught:
        cms.save_draft(name, "other", "u_02", based_on=0)
    assert [fault.place for fault in caught.value.errors] == ["based_on"]
    assert stored(cms) == before


def test_an_earlier_version_is_published_again(cms: Cms, article: Article) -> None:
    name = article.article_id
    for body in ("one", "two", "three"):
        cms.publish(name, body, "u_01")
    assert cms.publish_version(name, 1).shown_version == 1
    assert there(cms, name).has_draft
    made = cms.restore_version(name, 2, "u_03")
    assert (made.version, made.body, made.created_by) == (4, "two", "u_03")
    assert there(cms, name).shown_version == 1
    assert cms.publish(name, "five", "u_01").version == 5
    assert there(cms, name).shown_version == 5
    for wrong in (lambda: cms.publish_version(name, 6), lambda: cms.restore_version(name, 9, "u_01")):
        with pytest.raises(ItemNotFound, match="has no version"):
            wrong()


def test_an_article_is_unpublished_and_published_again(cms: Cms, article: Article) -> None:
    name = article.article_id
    first = cms.publish(name, "one", "u_01")
    cms.save_draft(name, "two", "u_01")
    after = cms.unpublish(name)
    assert (after.status, after.shown_version, after.published_version) == ("draft", None, None)
    assert after.published_at == first.created_at
    assert not cms.published_articles().items
    assert not cms.published_by_tag("aws").items
    with pytest.raises(Refused, match="isn't published"):
        cms.unpublish(name)
    assert_lists_agree(cms)
    again = cms.publish_version(name, 2)
    assert (again.shown_version, again.published_at) == (2, first.created_at)
    cms.archive(name)
    assert cms.published_articles().items == []
    assert cms.unarchive(name).status == "draft"
    with pytest.raises(Refused, match="isn't archived"):
        cms.unarchive(name)
    assert_lists_agree(cms)


# Lists


def test_public_lists_contain_only_published_articles(cms: Cms) -> None:
    made = [new(cms, f"a{number}", "aws", *({"odd"} if number % 2 else {})) for number in range(7)]
    for number, article in enumerate(made):
        cms.publish(article.article_id, "text", "u_01") if number != 3 else cms.save_draft(
            article.article_id, "t", "u_01"
        )
    published = [there(cms, article.article_id) for number, article in enumerate(made) if number != 3]
    newest = sorted(published, key=lambda article: article.published_at or article.created_at, reverse=True)
    shown = [article.article_id for article in cms.published_articles(limit=10)]
    assert set(shown) == {article.article_id for article in newest}
    moments = [article.published_at.replace(microsecond=0) for article in cms.published_articles(limit=10)]
    assert moments == sorted(moments, reverse=True)
    assert {tag.slug for tag in cms.published_by_tag("odd")} == {"a1", "a5"}
    assert {article.slug for article in cms.published_by_author("u_01")} == {
        f"a{number}" for number in (0, 1, 2, 4, 5, 6)
    }
    assert [article.slug for article in cms.articles_by_state("draft")] == ["a3"]
    recorder = recorded(cms)
    cms.published_by_tag("aws")
    assert recorder.operations == ["Query"]


def test_edited_titles_and_tags_are_updated_in_every_list(cms: Cms, article: Article) -> None:
    name = article.article_id
    cms.publish(name, "one", "u_01")
    cms.edit(name, "New", "new", "Short")
    cms.retag(name, {"aws", "fresh"})
    cms.retag(name, {"aws", "fresh"})
    assert_lists_agree(cms)
    assert {tag: len(cms.published_by_tag(tag)) for tag in ("aws", "c#", "fresh")} == {
        "aws": 1,
        "c#": 0,
        "fresh": 1,
    }


def test_replacing_the_maximum_number_of_tags_fits_one_transaction(cms: Cms, article: Article) -> None:
    name = article.article_id
    cms.retag(name, {f"a{number}" for number in range(TAGS_MAX)})
    cms.publish(name, "one", "u_01")
    with pytest.raises(Refused, match="at most 48"):
        cms.retag(name, {f"b{number}" for number in range(TAGS_MAX)})
    kept = TAGS_MAX - RETAGGED_MAX // 2
    half = {f"a{number}" for number in range(kept)} | {f"b{number}" for number in range(TAGS_MAX - kept)}
    assert len(half) == TAGS_MAX
    assert cms.retag(name, half).tags == half
    cms.edit(name, "Other", "other")
    assert_lists_agree(cms)
    for number in range(FORMER_SLUGS_MAX):
        cms.edit(name, "Other", f"other-{number}")
    cms.delete_article(name)
    assert keys(cms) == set()


def test_the_list_of_version_summaries_reads_no_bodies(cms: Cms, article: Article) -> None:
    name = article.article_id
    for number in range(10):
        cms.publish(name, "long " * 11_000 + str(number), "u_01")
    recorder = recorded(cms)
    cards = cms.version_cards(name)
    assert [card.version for card in cards] == list(range(10, 0, -1))
    assert {card.word_count for card in cards} == {11_001}
    ((_, request, response),) = recorder.made
    assert "body" not in json.dumps(response)
    assert len(json.dumps(response)) < 5_000
    assert "IndexName" not in request


# Previews


def test_a_preview_shows_one_version_and_can_be_revoked(cms: Cms, article: Article) -> None:
    name = article.article_id
    cms.save_draft(name, "one", "u_01")
    token = cms.share_preview(name, "u_01", hours=2)
    assert token not in json.dumps(stored(cms))
    shared = cms.preview(token_hash(token))
    assert shared is not None
    assert (shared.article_id, shared.version) == (name, 1)
    assert timedelta(hours=1, minutes=59) < shared.expires_at - now() <= timedelta(hours=2)
    cms.revoke_preview(token)
    assert cms.preview(token_hash(token)) is None
    with pytest.raises(ItemNotFound):
        cms.share_preview(name, "u_01", version=2)
