# mypy: disable-error-code="empty-body"
"""Alternative designs of the paper catalogue, for the open questions of its document.

Each design has the patterns A1 to A5 and adds papers; everything else is as in ``keyplan_systems.papers``. Compare them
with ``keyplan cost papers benchmarks/papers_alternatives.py:AuthorsApart --traffic ...`` and ``papers_questions.py``.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from keyplan import Create, Cursor, Design, Entity, Index, Key, Page, Table, Writes, read, write
from keyplan_systems.papers.design import (
    AUTHORS_MAX,
    GSI1,
    GSI2,
    GSI3,
    TOPICS_MAX,
    Author,
    Byline,
    Id,
    Membership,
    Name,
    Paper,
    PaperTopic,
    Role,
    Topic,
)

GSI4 = Index("GSI4", "GSI4PK", "GSI4SK")
ITEMS_MAX = 1 + AUTHORS_MAX + TOPICS_MAX


class ApartMembership(Entity):
    """A membership that stands under its author in an index of its own."""

    paper_id: Id
    handle: Id
    role: Role = "author"
    position: int = 1
    name: Name
    published_at: datetime | None

    primary = Key("PAPER#{paper_id}", "AUTHOR#{handle}")
    by_author = Key("AUTHOR#{handle}", "DATE#{published_at}", index=GSI4)


class CardMembership(Entity):
    """A membership that carries what an author's listing shows of the paper."""

    paper_id: Id
    handle: Id
    role: Role = "author"
    position: int = 1
    name: Name
    title: Name
    collection: Name
    published_at: datetime | None

    primary = Key("PAPER#{paper_id}", "AUTHOR#{handle}")
    by_author = Key("AUTHOR#{handle}", "DATE#{published_at}", index=GSI1)


class TableTopic(Entity):
    """A topic's paper, in the topic's own partition of the table: no index has it."""

    topic: Topic
    published_at: datetime
    paper_id: Id

    primary = Key("TOPIC#{topic}", "DATE#{published_at}#{paper_id}")


class WithApart(NamedTuple):
    """A paper's partition."""

    paper: Paper
    authors: list[ApartMembership]
    topics: list[PaperTopic]


class WithCards(NamedTuple):
    """A paper's partition."""

    paper: Paper
    authors: list[CardMembership]
    topics: list[PaperTopic]


class WithoutTopics(NamedTuple):
    """A paper's partition; its topics are on the paper."""

    paper: Paper
    authors: list[Membership]


def topics_of(paper: Paper) -> Writes:
    """The items of a paper's topics, in GSI2."""
    if paper.published_at is not None:
        for topic in sorted(paper.topics):
            yield Create(PaperTopic(paper_id=paper.paper_id, topic=topic, published_at=paper.published_at))


class AuthorsApart(Design):
    """Question 1: author listings in an index of their own, GSI4."""

    table = Table("papers", partition="PK", sort="SK", indexes=[GSI1, GSI2, GSI3, GSI4])

    @read("A1")
    def paper(self, paper_id: str) -> Paper | None: ...

    @read("A1b", items=ITEMS_MAX)
    def paper_with_authors(self, paper_id: str) -> WithApart | None: ...

    @read("A2", newest_first=True)
    def papers_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A3", through=ApartMembership, newest_first=True)
    def papers_by_author(self, handle: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A4", through=PaperTopic, newest_first=True)
    def papers_on_topic(self, topic: Topic, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A5")
    def author(self, handle: str) -> Author | None: ...

    @write("W3")
    def add_paper(self, paper: Paper, authors: Byline) -> Writes:
        """Add a paper with its memberships and topics."""
        yield Create(paper)
        for position, (handle, role) in enumerate(authors.items(), 1):
            yield Create(
                ApartMembership(
                    paper_id=paper.paper_id,
                    handle=handle,
                    role=role,
                    position=position,
                    name=handle,
                    published_at=paper.published_at,
                )
            )
        yield from topics_of(paper)


class CardsOnMemberships(Design):
    """Question 1, the other way: GSI1 stays, and listings show what the memberships carry."""

    table = Table("papers", partition="PK", sort="SK", indexes=[GSI1, GSI2, GSI3])

    @read("A1")
    def paper(self, paper_id: str) -> Paper | None: ...

    @read("A1b", items=ITEMS_MAX)
    def paper_with_authors(self, paper_id: str) -> WithCards | None: ...

    @read("A2", newest_first=True)
    def papers_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A3", newest_first=True)
    def papers_by_author(self, handle: str, limit: int = 20, cursor: Cursor | None = None) -> Page[CardMembership]: ...

    @read("A4", through=PaperTopic, newest_first=True)
    def papers_on_topic(self, topic: Topic, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A5")
    def author(self, handle: str) -> Author | None: ...

    @write("W3")
    def add_paper(self, paper: Paper, authors: Byline) -> Writes:
        """Add a paper with its memberships and topics."""
        yield Create(paper)
        for position, (handle, role) in enumerate(authors.items(), 1):
            yield Create(
                CardMembership(
                    paper_id=paper.paper_id,
                    handle=handle,
                    role=role,
                    position=position,
                    name=handle,
                    title=paper.title,
                    collection=paper.collection,
                    published_at=paper.published_at,
                )
            )
        yield from topics_of(paper)


def members_of(paper: Paper, authors: Byline) -> Writes:
    """The items of a paper's authors, in GSI1."""
    for position, (handle, role) in enumerate(authors.items(), 1):
        yield Create(
            Membership(
                paper_id=paper.paper_id,
                handle=handle,
                role=role,
                position=position,
                name=handle,
                published_at=paper.published_at,
            )
        )


class TopicsInTable(Design):
    """Question 2: topics on the paper, and in partitions of the table; GSI2 is dropped."""

    table = Table("papers", partition="PK", sort="SK", indexes=[GSI1, GSI2, GSI3])

    @read("A1")
    def paper(self, paper_id: str) -> Paper | None: ...

    @read("A1b", items=ITEMS_MAX)
    def paper_with_authors(self, paper_id: str) -> WithoutTopics | None: ...

    @read("A2", newest_first=True)
    def papers_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A3", through=Membership, newest_first=True)
    def papers_by_author(self, handle: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A4", through=TableTopic, newest_first=True)
    def papers_on_topic(self, topic: Topic, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A5")
    def author(self, handle: str) -> Author | None: ...

    @write("W3")
    def add_paper(self, paper: Paper, authors: Byline) -> Writes:
        """Add a paper with its memberships and topics."""
        yield Create(paper)
        yield from members_of(paper, authors)
        if paper.published_at is not None:
            for topic in sorted(paper.topics):
                yield Create(TableTopic(topic=topic, published_at=paper.published_at, paper_id=paper.paper_id))


class TopicsFiltered(Design):
    """Question 2 to the letter: topics on the paper and nowhere else. A4 is a scan with a filter."""

    table = Table("papers", partition="PK", sort="SK", indexes=[GSI1, GSI2, GSI3])

    @read("A1")
    def paper(self, paper_id: str) -> Paper | None: ...

    @read("A1b", items=ITEMS_MAX)
    def paper_with_authors(self, paper_id: str) -> WithoutTopics | None: ...

    @read("A2", newest_first=True)
    def papers_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A3", through=Membership, newest_first=True)
    def papers_by_author(self, handle: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A4", scan=True, where="contains(topics, :topic)")
    def papers_on_topic(self, topic: Topic, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A5")
    def author(self, handle: str) -> Author | None: ...

    @write("W3")
    def add_paper(self, paper: Paper, authors: Byline) -> Writes:
        """Add a paper with its memberships."""
        yield Create(paper)
        yield from members_of(paper, authors)
