"""Every access pattern of the catalogue gives one answer: in Python, awaited, by name, over REST, on the command line;
on every store; and on the sample, what a look at all papers gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.systems import system
from keyplan.web import app
from keyplan_systems.papers import Paper, Papers
from keyplan_systems.papers.sample import authors, sample, whole_paper
from tests.cli.support import json_of
from tests.systems.measuring import assert_same_answers, name_of
from tests.systems.papers.support import assert_consistent
from tests.systems.support import STORES, alike_in_every_way, all_pages, open_on, silent, stored
from tests.web.support import TestClient

SAMPLED = 60
CALLS: dict[str, dict[str, Any]] = {
    "A1": {"paper_id": "wp-0000"},
    "A1b": {"paper_id": "wp-0000"},
    "A2": {"collection": "data-and-storage", "limit": 3},
    "A2b": {"collection": "data-and-storage", "limit": 3},
    "A3": {"handle": "ada-almeida", "limit": 3},
    "A4": {"topic": "dynamodb", "limit": 3},
    "A5": {"handle": "ada-almeida"},
    "R1": {"paper_id": "wp-0000", "limit": 1},
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("papers") / "papers.db"
    with Papers.open(made) as papers:
        sample(papers, SAMPLED, silent)
    return made


@pytest.fixture
def opened(path: Path) -> Iterator[Papers]:
    with Papers.open(path) as papers:
        yield papers


@pytest.mark.parametrize("identity", CALLS)
def test_a_read_answers_alike_in_every_way(opened: Papers, path: Path, identity: str) -> None:
    assert alike_in_every_way(opened, path, name_of(Papers, identity), CALLS[identity])


@pytest.mark.parametrize("store", STORES)
def test_every_store_answers_alike(opened: Papers, store: str, tmp_path: Path) -> None:
    with open_on(Papers, store, tmp_path) as papers:
        sample(papers, SAMPLED, silent)
        assert_same_answers(papers, opened, CALLS)
        papers.add_paper(Paper(paper_id="a", title="A", collection="c", topics={"x"}), {"ada-almeida": "author"})
        papers.add_paper(Paper(paper_id="b", title="B", collection="c"), {})
        papers.new_version("a", "1.1")
        papers.publish("b")
        papers.retopic("a", {"y"})
        papers.supersede("a", "b")
        assert [paper.paper_id for paper in papers.papers_in_collection("c")] == ["b"]
        assert_consistent(papers)


def test_writes_by_rest_and_command(opened: Papers, path: Path) -> None:
    with TestClient(app(opened)) as client:
        sent = {
            "paper": {"paper_id": "rest", "title": "By REST", "collection": "web"},
            "authors": {"ada-almeida": "author", "chen-almeida": "editor"},
        }
        assert client.post("/api/add_paper", json=sent).status_code == 200
        assert client.post("/api/add_paper", json=sent).json()["error"]["code"] == "ItemExists"
        unknown = {**sent, "authors": {"nobody": "author"}, "paper": {**sent["paper"], "paper_id": "other"}}
        assert client.post("/api/add_paper", json=unknown).status_code == 404
        lower = client.post("/api/new_version", json={"paper_id": "rest", "version": "0.9"})
        assert (lower.status_code, lower.json()["error"]["code"]) == (409, "Refused")
    made = json_of("call", "papers", "publish", "paper_id=rest", "--db", str(path))
    assert made["status"] == "published"


# The sample


def test_the_sample_is_consistent(sampled: Papers) -> None:
    assert_consistent(sampled)
    assert len(stored(sampled)) > 1000


def test_the_sample_again_changes_nothing() -> None:
    with Papers.open(":memory:") as papers:
        assert sample(papers, 40, silent) == 40
        papers.describe_author("ada-almeida", "Ada A.")
        papers.new_version("wp-0000", "9.0")
        before = stored(papers)
        assert sample(papers, 40, silent) == 0
        assert stored(papers) == before
        assert sample(papers, 50, silent) == 10
        assert_consistent(papers)


def test_answers_are_those_of_all_papers(sampled: Papers) -> None:
    wholes = [whole_paper(number) for number in range(300)]
    listed = sorted(
        (paper for paper in wholes if paper.paper.published_at),
        key=lambda paper: str(paper.paper.published_at),
        reverse=True,
    )
    for collection in {paper.paper.collection for paper in wholes}:
        wanted = [paper.paper for paper in listed if paper.paper.collection == collection]
        assert all_pages(sampled.papers_in_collection, collection, limit=13) == wanted
    for author in authors():
        wanted = [paper.paper for paper in listed if author.handle in {member.handle for member in paper.members}]
        assert all_pages(sampled.papers_by_author, author.handle, limit=9) == wanted
        assert sampled.author(author.handle) == author
    for topic in {topic for paper in wholes for topic in paper.paper.topics}:
        wanted = [paper.paper for paper in listed if topic in {each.topic for each in paper.topics}]
        assert all_pages(sampled.papers_on_topic, topic, limit=11) == wanted
    for paper in wholes:
        paper_with_authors = sampled.paper_with_authors(paper.paper.paper_id)
        assert paper_with_authors is not None
        assert paper_with_authors.paper == paper.paper
        assert sampled.paper_versions(paper.paper.paper_id).items == paper.versions[::-1]


def test_the_sample_is_skewed(sampled: Papers) -> None:
    counts = [len(all_pages(sampled.papers_by_author, author.handle, limit=1000)) for author in authors()]
    assert counts[0] > 10 * sorted(counts)[len(counts) // 2]
    statuses = [whole_paper(number).paper.status for number in range(300)]
    assert set(statuses) == {"draft", "published", "superseded"}


def test_it_is_a_system() -> None:
    result = system("papers")
    assert (result.design, result.takes) == (Papers, ("file", "folder"))
