"""Larger samples have more users and more of the other entities, and contain every user to whom items refer."""

from __future__ import annotations

import pytest

from keyplan import now
from keyplan_systems.cms import sample as cms
from keyplan_systems.cms.design import Cms
from keyplan_systems.papers import sample as papers
from keyplan_systems.papers.design import Author, Papers
from keyplan_systems.shop import sample as shop

SMALL, LARGE = 1_000, 100_000
AT = now()


def test_larger_samples_have_more_users_and_more_of_the_other_entities() -> None:
    assert len(cms.authors(SMALL)) == len(cms.AUTHORS)
    assert len(set(cms.authors(LARGE))) > 10 * len(cms.AUTHORS)
    assert len({author.handle for author in papers.authors(LARGE)}) > 10 * len(papers.authors(SMALL))
    assert len({user.user_id for user in shop.users(LARGE, AT)}) > 10 * len(shop.users(SMALL, AT))


def test_authors_of_articles_in_the_cms_sample_are_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cms, "STEADY", 0)
    monkeypatch.setattr(cms, "ARTICLES_AN_AUTHOR", 1)
    with Cms.open(":memory:") as design:
        cms.sample(design, 60, lambda _done, _all: None)
        writers = {cms.whole_article(number).article.author_id for number in range(60)}
        assert writers - set(cms.AUTHORS)
        assert all(design.member(writer) is not None for writer in writers)


def test_authors_of_papers_in_the_sample_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "STEADY", 0)
    monkeypatch.setattr(papers, "PAPERS_AN_AUTHOR", 1)
    with Papers.open(":memory:") as design:
        papers.sample(design, 60, lambda _done, _all: None)
        first = {author.handle for author in papers.authors()}
        members = {member.handle for number in range(60) for member in papers.whole_paper(number, AT).members}
        monkeypatch.undo()
        assert members - first
        assert None not in design.get_many(Author, [{"handle": handle} for handle in members])
