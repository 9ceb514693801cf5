"""Concurrent writers of one article lose, duplicate or damage no version and no tag."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

from keyplan_systems.cms import Article, Cms
from tests.seeds import examples
from tests.systems.cms.support import keys
from tests.systems.support import in_processes

PUBLISHERS = 20
PROCESSES = examples(8, PUBLISHERS)

PUBLISH = """
import sys
from keyplan_systems.cms import Cms
with Cms.open(sys.argv[1], create=False) as cms:
    print("ready", flush=True)
    sys.stdin.readline()
    print(cms.publish(sys.argv[2], "by " + sys.argv[3], "u_" + sys.argv[3]).version)
"""


def new_article(cms: Cms) -> str:
    return cms.create_article(Article(title="T", slug="t", author_id="u_01", tags={"start"})).article_id


def assert_no_gap_no_repeat(cms: Cms, article_id: str, given: list[int]) -> None:
    count = len(given)
    assert sorted(given) == list(range(1, count + 1))
    versions = cms.article_history(article_id)
    assert [version.version for version in versions] == list(range(1, count + 1))
    assert len({version.created_by for version in versions}) == count
    article = cms.article(article_id)
    assert article is not None
    assert (article.current_version, article.status) == (count, "published")
    assert article.published_at == versions[0].created_at


def test_concurrent_publishing_in_threads_loses_no_version(tmp_path: Path) -> None:
    with Cms.open(tmp_path / "cms.db") as cms, ThreadPoolExecutor(PUBLISHERS) as pool:
        name = new_article(cms)
        barrier = Barrier(PUBLISHERS)

        def publish(number: int) -> int:
            barrier.wait()
            return cms.publish(name, f"by {number}", f"u_{number}").version

        given = list(pool.map(publish, range(PUBLISHERS)))
        assert_no_gap_no_repeat(cms, name, given)


def test_concurrent_publishing_in_tasks_loses_no_version(cms: Cms) -> None:
    name = new_article(cms)

    async def publish() -> list[int]:
        made = [cms.publish.aio(name, f"by {number}", f"u_{number}") for number in range(PUBLISHERS)]
        return [version.version for version in await asyncio.gather(*made)]

    assert_no_gap_no_repeat(cms, name, asyncio.run(publish()))


def test_concurrent_publishing_in_processes_loses_no_version(tmp_path: Path) -> None:
    file = tmp_path / "cms.db"
    with Cms.open(file) as cms:
        name = new_article(cms)
    printed = in_processes(PUBLISH, [(str(file), name, str(number)) for number in range(PROCESSES)])
    with Cms.open(file, create=False) as cms:
        assert_no_gap_no_repeat(cms, name, [int(each) for each in printed])


def test_concurrent_tagging_keeps_tags_and_junction_items_consistent(tmp_path: Path) -> None:
    with Cms.open(tmp_path / "cms.db") as cms, ThreadPoolExecutor(10) as pool:
        name = new_article(cms)
        wanted = [{f"t{number % 7}", f"t{number % 5}", f"own{number}"} for number in range(40)]
        done = list(pool.map(lambda tags: cms.retag(name, tags).tags, wanted))
        assert done == wanted
        article = cms.article(name)
        assert article is not None
        assert article.tags in wanted
        assert {tag_article.tag for tag_article in cms.tags_of_article(name)} == article.tags
        assert {pk for pk, _ in keys(cms) if pk.startswith("TAG#")} == {f"TAG#{tag}" for tag in article.tags}


def test_concurrent_publishing_tagging_and_editing_keep_items_consistent(tmp_path: Path) -> None:
    with Cms.open(tmp_path / "cms.db") as cms, ThreadPoolExecutor(9) as pool:
        name = new_article(cms)
        made: list[Future[Any]] = []
        for number in range(12):
            made.append(pool.submit(cms.publish, name, f"text {number}", "u_01"))
            made.append(pool.submit(cms.retag, name, {f"t{number}"}))
            made.append(pool.submit(cms.edit, name, f"Title {number}", "slug"))
        for future in made:
            future.result()
        article = cms.article(name)
        assert article is not None
        assert article.current_version == len(cms.article_history(name)) == 12
        assert {tag_article.tag for tag_article in cms.tags_of_article(name)} == article.tags
        assert article.title.startswith("Title ")
