# mypy: disable-error-code="empty-body"
"""The design of the paper catalogue: papers and their authors, one table, an overloaded index and a sparse one."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from keyplan import (
    Create,
    Cursor,
    Delete,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Table,
    Ttl,
    Update,
    Writes,
    now,
    read,
    write,
)
from keyplan.errors import ItemNotFound

__all__ = ["Author", "Membership", "Paper", "PaperTopic", "PaperWithAuthors", "Papers"]

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")

Status = Literal["draft", "published", "superseded"]
Role = Literal["author", "contributor", "editor"]


class Paper(Entity):
    """A paper in one of its versions; superseded drafts expire."""

    paper_id: str
    title: str
    abstract: str = ""
    collection: str
    version: str = "1.0"
    status: Status = "draft"
    published_at: datetime = Field(default_factory=now)
    topics: set[str] = Field(default_factory=set, max_length=40)
    superseded_by: str | None = None
    expires_at: Ttl | None = None

    primary = Key("PAPER#{paper_id}", "PAPER#{paper_id}")
    by_collection = Key("COLLECTION#{collection}", "DATE#{published_at}", index=GSI1)


class Author(Entity):
    """An author's profile."""

    handle: str
    name: str
    affiliation: str | None = None

    primary = Key("AUTHOR#{handle}", "AUTHOR#{handle}")


class Membership(Entity):
    """An author took part in a paper; it stands in the paper's partition, and under its author in the index."""

    paper_id: str
    handle: str
    role: Role = "author"
    published_at: datetime

    primary = Key("PAPER#{paper_id}", "AUTHOR#{handle}")
    by_author = Key("AUTHOR#{handle}", "DATE#{published_at}", index=GSI1)


class PaperTopic(Entity):
    """A paper carries a topic; only these items stand in GSI2."""

    paper_id: str
    topic: str
    published_at: datetime

    primary = Key("PAPER#{paper_id}", "TOPIC#{topic}")
    by_topic = Key("TOPIC#{topic}", "DATE#{published_at}", index=GSI2)


class PaperWithAuthors(NamedTuple):
    """A paper, who took part in it, and its topics: one partition."""

    paper: Paper
    authors: list[Membership]
    topics: list[PaperTopic]


class Papers(Design):
    """A catalogue of papers: five questions, one table, two indexes."""

    table = Table("papers", partition="PK", sort="SK", indexes=[GSI1, GSI2])

    @read("A1")
    def paper(self, paper_id: str) -> Paper | None:
        """A paper by its id."""
        ...

    @read("A1b")
    def paper_with_authors(self, paper_id: str) -> PaperWithAuthors | None:
        """A paper with its authors and topics, in one query."""
        ...

    @read("A2", newest_first=True)
    def papers_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """The papers of a collection, newest first."""
        ...

    @read("A3", through=Membership, newest_first=True)
    def papers_by_author(self, handle: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """An author's papers, newest first."""
        ...

    @read("A4", through=PaperTopic, newest_first=True)
    def papers_on_topic(self, topic: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """The papers that carry a topic, newest first."""
        ...

    @read("A5")
    def author(self, handle: str) -> Author | None:
        """An author's profile."""
        ...

    @write("W1")
    def add_paper(self, paper: Paper, authors: dict[str, Role]) -> Writes[Paper]:
        """Add a paper with its memberships and topics, all or nothing."""
        yield Create(paper)
        for handle, role in authors.items():
            yield Create(Membership(paper_id=paper.paper_id, handle=handle, role=role, published_at=paper.published_at))
        for topic in sorted(paper.topics):
            yield Create(PaperTopic(paper_id=paper.paper_id, topic=topic, published_at=paper.published_at))
        return paper

    @write("W2")
    def add_author(self, author: Author) -> Writes[Author]:
        """Add an author's profile."""
        yield Create(author)
        return author

    @write("W3", attempts=5)
    def supersede(self, paper_id: str, by: str, expires_at: datetime | None = None) -> Writes[Paper]:
        """Mark a paper as superseded by another; a draft may be given a time to expire, and leaves its topics."""
        paper = yield from self.paper.ask(paper_id)
        if paper is None:
            raise ItemNotFound(f"there is no paper {paper_id!r}", place="Papers.paper")
        expiry = expires_at if paper.status == "draft" else None
        changed = yield Update(paper, status="superseded", superseded_by=by, expires_at=expiry).only_if(
            status=paper.status
        )
        for topic in sorted(paper.topics):
            yield Delete(PaperTopic, paper_id=paper_id, topic=topic)
        return Paper.model_validate(changed)
