# mypy: disable-error-code="empty-body"
"""The paper catalogue as published, with the published keys and names."""

from __future__ import annotations

from datetime import datetime

from keyplan import Cursor, Design, Entity, Index, Key, Page, Table, read

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")


class Paper(Entity):
    paper_id: str
    title: str
    abstract: str
    collection: str
    version: str
    status: str = "draft"
    published_at: datetime

    primary = Key("PAPER#{paper_id}", "PAPER#{paper_id}")
    by_collection = Key("COLLECTION#{collection}", "DATE#{published_at}", index=GSI1)


class Author(Entity):
    handle: str
    name: str

    primary = Key("AUTHOR#{handle}", "AUTHOR#{handle}")


class Membership(Entity):
    """An author of a paper, with a role."""

    paper_id: str
    handle: str
    role: str

    primary = Key("PAPER#{paper_id}", "AUTHOR#{handle}")
    by_author = Key("AUTHOR#{handle}", "PAPER#{paper_id}", index=GSI1)


class PaperTopic(Entity):
    paper_id: str
    topic: str

    primary = Key("PAPER#{paper_id}", "TOPIC#{topic}")
    by_topic = Key("TOPIC#{topic}", "PAPER#{paper_id}", index=GSI2)


class Papers(Design):
    table = Table("papers", partition="PK", sort="SK", indexes=[GSI1, GSI2])

    @read("A1")
    def paper(self, paper_id: str) -> Paper | None: ...

    @read("A2", newest_first=True)
    def papers_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A3", through=Membership)
    def papers_by_author(self, handle: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A4", through=PaperTopic)
    def papers_on_topic(self, topic: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]: ...

    @read("A5")
    def author(self, handle: str) -> Author | None: ...
