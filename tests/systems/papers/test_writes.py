"""Every write of the catalogue: its results and errors, and invariants of stored items."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyplan import now
from keyplan.errors import ArgumentError, ItemExists, ItemNotFound, KeyplanError, Refused
from keyplan_systems.papers import Papers
from keyplan_systems.papers.design import AUTHORS_MAX, DRAFT_KEPT, TOPICS_MAX, Author, Paper, Status, byline
from tests.systems.papers.support import assert_consistent, plain_items
from tests.systems.support import recorded

OLD = datetime(2020, 1, 1, tzinfo=UTC)


def draft(paper_id: str = "wp-002", status: Status = "draft", **more: object) -> Paper:
    given: dict[str, object] = {
        "title": "A Single-Table Model",
        "collection": "data",
        "version": "0.3",
        "topics": {"dynamodb", "keys"},
        "published_at": OLD,
        **more,
    }
    return Paper.model_validate({"paper_id": paper_id, "status": status, **given})


@pytest.fixture
def paper(papers: Papers) -> Paper:
    return papers.add_paper(draft(), {"jon": "author", "guest": "contributor"})


def ids(result: object) -> list[str]:
    return [value.paper_id for value in result]  # type: ignore[attr-defined]


def test_adding_a_paper_stores_all_its_items(papers: Papers, paper: Paper) -> None:
    whole = papers.paper_with_authors("wp-002")
    assert whole is not None
    assert whole.paper == paper
    assert [(membership.handle, membership.role, membership.name) for membership in byline(whole.authors)] == [
        ("jon", "author", "Jon"),
        ("guest", "contributor", "Guest"),
    ]
    assert [topic.topic for topic in whole.topics] == ["dynamodb", "keys"]
    assert ids(papers.papers_in_collection("data")) == ["wp-002"]
    assert ids(papers.papers_by_author("guest")) == ["wp-002"]
    assert ids(papers.papers_on_topic("DynamoDB")) == ["wp-002"]  # topics are in lower case
    assert_consistent(papers)


def test_a_paper_is_read_by_one_query(papers: Papers, paper: Paper) -> None:
    papers.new_version("wp-002", "0.4")
    recorder = recorded(papers)
    whole = papers.paper_with_authors("wp-002")
    assert recorder.operations == ["Query"]
    assert "IndexName" not in recorder.made[0][1]
    assert recorder.made[0][2]["ScannedCount"] == 1 + 2 + 2  # the version isn't read
    assert whole is not None


def test_invalid_papers_are_rejected(papers: Papers, paper: Paper) -> None:
    with pytest.raises(ItemExists):
        papers.add_paper(draft(), {"jon": "author"})
    with pytest.raises(ItemNotFound, match="authors without a profile: 'eve', 'mallory'"):
        papers.add_paper(draft("new"), {"jon": "author", "eve": "author", "mallory": "editor"})
    with pytest.raises(Refused, match="must be a draft or published"):
        papers.add_paper(draft("new", "superseded"), {})
    with pytest.raises(ArgumentError):
        papers.add_paper(draft("new"), {f"a{number}": "author" for number in range(AUTHORS_MAX + 1)})
    with pytest.raises(ValueError, match="at most 20 items"):
        draft("new", topics={f"t{number}" for number in range(TOPICS_MAX + 1)})
    with pytest.raises(ValueError, match="pattern"):
        draft("new", version="v1")
    with pytest.raises(ItemExists):
        papers.add_author(Author(handle="jon", name="Another"))
    assert len(plain_items(papers)) == 3 + 5


def test_the_maximum_number_of_authors_and_topics_fits_one_transaction(papers: Papers) -> None:
    handles = [f"a{number:02d}" for number in range(AUTHORS_MAX)]
    for handle in handles:
        papers.add_author(Author(handle=handle, name=handle))
    topics = {f"t{number}" for number in range(TOPICS_MAX)}
    papers.add_paper(draft(topics=topics), dict.fromkeys(handles, "author"))
    papers.add_paper(draft("other"), {})
    papers.publish("wp-002")
    papers.retopic("wp-002", {f"u{number}" for number in range(TOPICS_MAX)})
    papers.supersede("wp-002", "other")
    assert_consistent(papers)


# Versions


def test_publishing_a_new_version_keeps_the_previous_version(papers: Papers, paper: Paper) -> None:
    changed = papers.new_version("wp-002", "0.10", abstract="More.")
    assert (changed.version, changed.revision, changed.status, changed.title) == ("0.10", 2, "draft", paper.title)
    assert papers.paper("wp-002") == changed
    papers.publish("wp-002")
    papers.new_version("wp-002", "1.0", title="Another title")
    versions = papers.paper_versions("wp-002")
    assert [(version.revision, version.version, version.was, version.title) for version in versions] == [
        (2, "0.10", "published", paper.title),
        (1, "0.3", "draft", paper.title),
    ]
    published, drafted = versions
    assert published.expires_at is None
    assert drafted.expires_at == (drafted.replaced_at + DRAFT_KEPT).replace(microsecond=0)
    assert_consistent(papers)


def test_a_new_version_whose_number_does_not_increase_is_rejected(papers: Papers, paper: Paper) -> None:
    for version in ("0.3", "0.2", "0.2.9", "0"):
        with pytest.raises(Refused, match=f"version {version} isn't higher than 0.3"):
            papers.new_version("wp-002", version)
    with pytest.raises(ArgumentError):
        papers.new_version("wp-002", "next")
    with pytest.raises(ItemNotFound, match="there is no paper 'nothing'"):
        papers.new_version("nothing", "1")
    assert papers.new_version("wp-002", "0.3.1").version == "0.3.1"


def test_version_0_10_of_a_paper_sorts_after_version_0_9(papers: Papers, paper: Paper) -> None:
    for number in range(4, 16):
        papers.new_version("wp-002", f"0.{number}")
    page = papers.paper_versions("wp-002", limit=3)
    assert [version.version for version in page] == ["0.14", "0.13", "0.12"]
    assert [version.version for version in papers.paper_versions("wp-002", limit=3, cursor=page.cursor)] == [
        "0.11",
        "0.10",
        "0.9",
    ]


# Statuses


def test_publishing_a_paper_updates_its_date_in_every_list(papers: Papers, paper: Paper) -> None:
    papers.add_paper(draft("newer", published_at=OLD + timedelta(days=1)), {"jon": "author"})
    assert ids(papers.papers_by_author("jon")) == ["newer", "wp-002"]
    published = papers.publish("wp-002")
    assert published.status == "published"
    assert published.published_at is not None
    assert now() - published.published_at < timedelta(minutes=5)
    for page in (papers.papers_by_author("jon"), papers.papers_in_collection("data"), papers.papers_on_topic("keys")):
        assert ids(page) == ["wp-002", "newer"]
    with pytest.raises(Refused, match="is published"):
        papers.publish("wp-002")
    assert_consistent(papers)


def test_replacing_the_topics_of_a_paper_updates_the_topic_items(papers: Papers, paper: Paper) -> None:
    assert papers.retopic("wp-002", {"keys", "cost"}).topics == {"keys", "cost"}
    assert not papers.papers_on_topic("dynamodb")
    assert ids(papers.papers_on_topic("cost")) == ["wp-002"]
    papers.retopic("wp-002", set())
    assert not papers.papers_on_topic("cost")
    assert "topics" not in next(item for item in plain_items(papers) if item["SK"] == "PAPER#wp-002")
    assert_consistent(papers)


def test_the_sparse_index_contains_only_papers_with_topics(papers: Papers, paper: Paper) -> None:
    response = papers.store.transport.call("Scan", {"TableName": "papers", "IndexName": "GSI2"})
    assert [item["SK"]["S"] for item in response["Items"]] == ["TOPIC#dynamodb", "TOPIC#keys"]


def test_the_newest_papers_of_all_collections_are_listed(papers: Papers) -> None:
    for number, name in enumerate(("c", "a", "b")):
        at = OLD + timedelta(days=number)
        papers.add_paper(draft(name, "published", collection=name, published_at=at), {"jon": "author"})
    papers.add_paper(draft(), {"jon": "author"})
    assert ids(papers.newest_papers()) == ["b", "a", "c"]
    papers.supersede("b", "a")
    papers.publish("wp-002")
    assert ids(papers.newest_papers()) == ["wp-002", "a", "c"]


def test_a_superseded_draft_leaves_the_lists_and_expires(papers: Papers, paper: Paper) -> None:
    papers.add_paper(draft("next"), {"ada": "author"})
    gone = papers.supersede("wp-002", "next", days=10)
    assert (gone.status, gone.superseded_by, gone.published_at) == ("superseded", "next", None)
    assert gone.expires_at is not None
    assert timedelta(days=9) < gone.expires_at - now() <= timedelta(days=10)
    for page in (papers.papers_in_collection("data"), papers.papers_by_author("jon"), papers.papers_on_topic("keys")):
        assert "wp-002" not in ids(page)
    assert papers.paper("wp-002") == gone.model_copy(update={"expires_at": gone.expires_at.replace(microsecond=0)})
    items = [item for item in plain_items(papers) if item["PK"] == "PAPER#wp-002"]
    assert {"expires_at" in item for item in items} == {True}  # the paper and its memberships go together
    assert Papers.compiled.ttl_attribute == "expires_at"
    assert_consistent(papers)


def test_a_superseded_published_paper_does_not_expire(papers: Papers, paper: Paper) -> None:
    papers.publish("wp-002")
    papers.add_paper(draft("next"), {})
    gone = papers.supersede("wp-002", "next")
    assert gone.expires_at is None
    assert "wp-002" in ids(papers.papers_in_collection("data"))
    assert ids(papers.papers_by_author("jon")) == ["wp-002"]
    assert ids(papers.papers_on_topic("keys")) == ["next"]
    assert_consistent(papers)


def test_superseding_a_paper_by_an_invalid_paper_is_rejected(papers: Papers, paper: Paper) -> None:
    papers.add_paper(draft("next"), {})
    with pytest.raises(Refused, match="can't supersede itself"):
        papers.supersede("wp-002", "wp-002")
    with pytest.raises(ItemNotFound, match="there is no paper 'nothing'"):
        papers.supersede("wp-002", "nothing")
    with pytest.raises(ItemNotFound):
        papers.supersede("nothing", "next")
    with pytest.raises(ArgumentError):
        papers.supersede("wp-002", "next", days=0)
    papers.supersede("wp-002", "next")
    calls: list[Callable[[], object]] = [
        lambda: papers.supersede("wp-002", "next"),
        lambda: papers.supersede("next", "wp-002"),
        lambda: papers.publish("wp-002"),
        lambda: papers.retopic("wp-002", {"a"}),
        lambda: papers.new_version("wp-002", "9"),
    ]
    for call in calls:
        with pytest.raises(Refused, match="'wp-002' was superseded by 'next'"):
            call()
    assert_consistent(papers)


def test_the_full_text_of_a_paper_is_read_separately(papers: Papers, paper: Paper) -> None:
    papers.set_text("wp-002", "All of it.")
    papers.set_text("wp-002", "All of it, again.")
    text = papers.full_text("wp-002")
    assert text is not None
    assert text.text == "All of it, again."
    recorder = recorded(papers)
    papers.paper_with_authors("wp-002")
    assert recorder.made[0][2]["ScannedCount"] == 1 + 2 + 2
    with pytest.raises(ItemNotFound, match="there is no paper 'none'"):
        papers.set_text("none", "x")
    assert_consistent(papers)


@pytest.mark.parametrize("seed", range(4))
def test_stored_items_stay_consistent_after_random_calls(papers: Papers, seed: int) -> None:
    """The random calls include invalid calls, which are rejected."""
    chance = random.Random(seed)
    names = [f"p{number}" for number in range(6)]
    done = 0
    for number in range(80):
        name = chance.choice(names)
        topics = {literal for literal in ("a", "b", "c") if chance.random() < 0.5}
        try:
            match chance.randrange(6):
                case 0 | 1:
                    people = {literal: "author" for literal in ("jon", "ada", "eve") if chance.random() < 0.5}
                    papers.add_paper(draft(name, chance.choice(("draft", "published")), topics=topics), people)  # type: ignore[arg-type]
                case 2:
                    papers.new_version(name, f"{chance.randrange(3)}.{number}")
                case 3:
                    papers.publish(name)
                case 4:
                    papers.retopic(name, topics)
                case _:
                    papers.supersede(name, chance.choice(names))
            done += 1
        except KeyplanError:
            continue
    assert done > 10
    assert_consistent(papers)


@pytest.mark.parametrize("call", ["new_version", "publish", "retopic", "supersede"])
def test_a_paper_changed_between_read_and_write_is_detected(papers: Papers, paper: Paper, call: str) -> None:
    """Another writer supersedes the paper after the write has read it."""
    for paper_id in ("next", "later"):
        papers.add_paper(draft(paper_id), {})
    recorder = recorded(papers)
    result: list[str] = []

    def meanwhile(operation: str, parameters: object) -> None:
        if operation == "TransactWriteItems" and not result:
            result.append(operation)
            papers.supersede("wp-002", "next")

    recorder.before = meanwhile
    given: dict[str, list[Any]] = {
        "new_version": ["9.9"],
        "publish": [],
        "retopic": [{"other"}],
        "supersede": ["later"],
    }
    with pytest.raises(Refused, match="'wp-002' was superseded by 'next'"):
        getattr(papers, call)("wp-002", *given[call])
    assert result
    assert_consistent(papers)


def test_superseding_a_paper_by_a_concurrently_superseded_paper_is_rejected(papers: Papers, paper: Paper) -> None:
    for paper_id in ("next", "later"):
        papers.add_paper(draft(paper_id), {})
    recorder = recorded(papers)
    result: list[str] = []

    def meanwhile(operation: str, parameters: object) -> None:
        if operation == "TransactWriteItems" and not result:
            result.append(operation)
            papers.supersede("next", "later")

    recorder.before = meanwhile
    with pytest.raises(Refused, match="'next' was superseded by 'later'"):
        papers.supersede("wp-002", "next")
    found = papers.paper("wp-002")
    assert found is not None
    assert found.status == "draft"
