"""The number of requests of each call, and of the SQL statements that the embedded store runs for the call."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan_systems.cms import Article, ArticleVersion, Cms, TagArticle
from tests.client.support import record


@pytest.fixture
def cms() -> Any:
    with Cms.open(":memory:") as design:
        for number in range(30):
            design.create(Article(article_id=f"{number:02d}", title="t", slug="s", author_id="ada"))
            design.create(TagArticle(tag="news", article_id=f"{number:02d}"))
        for version in range(1, 20):
            design.create(ArticleVersion(article_id="07", version=version, body="b", word_count=1, created_by="ada"))
        yield design


COSTS = [
    ("article", {"article_id": "07"}, ["GetItem"], 1),
    ("article", {"article_id": "none"}, ["GetItem"], 1),
    ("article_version", {"article_id": "07", "version": 3}, ["GetItem"], 1),
    ("article_with_latest", {"article_id": "07"}, ["Query"], 1),
    ("article_with_latest", {"article_id": "08"}, ["Query"], 1),
    ("article_versions", {"article_id": "07", "limit": 10}, ["Query"], 1),
    ("articles_by_author", {"author_id": "ada", "limit": 10}, ["Query"], 1),
    ("articles_by_tag", {"tag": "news", "limit": 10}, ["Query", "BatchGetItem"], None),
    ("tags_of_article", {"article_id": "07"}, ["Query"], 1),
]


@pytest.mark.parametrize(("pattern", "arguments", "operations", "statements"), COSTS)
def test_each_read_runs_the_expected_requests_and_sql_statements(
    cms: Cms, pattern: str, arguments: dict[str, Any], operations: list[str], statements: int | None
) -> None:
    recorder = record(cms)
    cms.run_read(pattern, (), arguments)  # statements are prepared, and the table's form is known
    recorder.requests.clear()
    engine = _engine(cms)
    before = engine.statements
    cms.run_read(pattern, (), arguments)
    assert recorder.operations == operations
    if statements is not None:
        assert engine.statements - before == statements


def _engine(design: Any) -> Engine:
    engine = next(value for value in _reachable(design.store) if isinstance(value, Engine))
    assert isinstance(engine, Engine)
    return engine


def _reachable(value: Any, depth: int = 3) -> Any:
    yield value
    if depth and hasattr(value, "__dict__"):
        for inner in vars(value).values():
            yield from _reachable(getattr(inner, "__self__", inner), depth - 1)


def test_the_next_page_starts_after_the_last_item_of_the_previous_page(cms: Cms) -> None:
    first = cms.articles_by_author("ada", limit=10)
    recorder = record(cms)
    second = cms.articles_by_author("ada", limit=10, cursor=first.cursor)
    assert recorder.operations == ["Query"]
    assert [item.article_id for item in first.items + second.items] == [f"{number:02d}" for number in range(29, 9, -1)]


def test_a_crud_method_sends_one_request(cms: Cms) -> None:
    recorder = record(cms)
    article = cms.create(Article(article_id="x", title="t", slug="s", author_id="ada"))
    changed = cms.update(article, title="u", updated_at=datetime(2026, 3, 1, tzinfo=UTC))
    cms.put(changed)
    cms.get(Article, article_id="x")
    cms.delete(changed)
    assert recorder.operations == ["PutItem", "UpdateItem", "PutItem", "GetItem", "DeleteItem"]


def test_many_consecutive_items_of_other_programs_are_skipped_in_few_requests(cms: Cms) -> None:
    for number in range(300):
        item = {"pk": {"S": "ARTICLE#07"}, "sk": {"S": f"VERSION#x{number:03d}"}}
        cms.store.transport.call("PutItem", {"TableName": "cms", "Item": item})
    recorder = record(cms)
    assert len(cms.article_versions("07", limit=19).items) == 19
    assert cms.article_versions("07", limit=19).cursor is None
    assert len(recorder.requests) <= 8
