"""A table of an older version: its reads and writes work, and a migration adds missing items."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from keyplan import Put
from keyplan_systems.cms import Cms
from keyplan_systems.cms.entities import MAIN
from keyplan_systems.cms.renewing import Renewing, renew
from keyplan_systems.cms.sample import whole_article
from tests.systems.cms.support import stored
from tests.systems.cms.test_publishing import assert_lists_agree

COUNT = 12
ADDED = ("SLUG#", "STATE#", "PUBLISHED#")


@pytest.fixture
def old() -> Iterator[Cms]:
    """A table with only the three published entities, in which two articles have one slug."""
    with Cms.open(":memory:") as cms:
        for number in range(COUNT):
            whole = whole_article(number)
            slug = "same" if number < 2 else whole.article.slug
            article = whole.article.model_copy(update={"slug": slug, "status": "published"})
            article = article.model_copy(update={"published_at": article.published_at or article.updated_at})
            cms.batch(Put(item) for item in (article, *whole.versions, *whole.tags))
        yield cms


def dump(cms: Cms) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in stored(cms))


def renewed(cms: Cms) -> list[str]:
    """Migrate the table, and return the reports."""
    design = Renewing.open(":memory:")
    with design:
        design.store.transport = cms.store.transport
        result: list[str] = []
        assert renew(design, result.append) == COUNT
        return result


def test_old_items_are_read_and_written(old: Cms) -> None:
    whole = whole_article(3)
    name = whole.article.article_id
    assert [version.version for version in old.article_versions(name)] == [
        version.version for version in whole.versions[::-1]
    ]
    assert old.publish(name, "new", "u_01").version == len(whole.versions) + 1
    old.edit(name, "New", "new-slug")
    old.publish_version(name, 1)  # an article without a summary item
    old.delete_article(name)
    assert old.article(name) is None


def test_a_migration_adds_missing_items(old: Cms) -> None:
    before = dump(old)
    (line,) = renewed(old)
    assert "another article has the slug 'same'" in line
    assert_lists_agree(old)
    assert len(set(before) - set(dump(old))) == 1  # the article whose slug belongs to another
    name = whole_article(3).article.article_id
    assert [card.version for card in old.version_cards(name, limit=9)] == [
        version.version for version in old.article_versions(name, limit=9)
    ]
    assert len(old.published_articles(MAIN, limit=50).items) == COUNT
    after = dump(old)
    assert renewed(old) == []
    assert dump(old) == after
