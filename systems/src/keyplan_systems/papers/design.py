# mypy: disable-error-code="empty-body"
"""The design of the paper catalogue: papers and their authors, one table, an overloaded index and a sparse one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, StringConstraints

from keyplan import (
    Check,
    Create,
    Cursor,
    Delete,
    Design,
    Each,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Put,
    Table,
    Through,
    Ttl,
    Update,
    Writes,
    now,
    read,
    write,
)
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.site.sessions import SessionPatterns

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")
GSI3 = Index("GSI3", "GSI3PK", "GSI3SK", projection="KEYS_ONLY")
"""The newest papers of all collections. The document doesn't have this index."""

AUTHORS_MAX = 75
"""Maximum number of authors: with the paper and its topics, they fit into the 100 actions of a transaction."""
TOPICS_MAX = 20
EDITORS_MAX = 20
LISTED_CHARACTERS_MAX = 250
"""A collection with a longer name isn't listed: its key would be too long."""
FURTHER_MAX = 40
FURTHER_CHARACTERS_MAX = 2000
DETAILS = ("doi", "url", "volume", "issue", "pages", "publisher", "editors", "further")
"""Bibliographic fields of a paper."""
DRAFT_KEPT = timedelta(days=30)
"""How long a superseded draft is stored."""

Status = Literal["draft", "published", "superseded"]
Role = Literal["author", "contributor", "editor"]
Id = Annotated[str, StringConstraints(min_length=1, max_length=250)]
"""With 4 bytes per letter, it fits into a sort key (1,024 bytes)."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Abstract = Annotated[str, StringConstraints(max_length=20_000)]
Topic = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True, to_lower=True)]
Topics = Annotated[set[Topic], Field(max_length=TOPICS_MAX)]
Short = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Editors = Annotated[list[Name], Field(max_length=EDITORS_MAX)]
FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_:+.-]{0,59}$")]
Said = Annotated[str, StringConstraints(min_length=1, max_length=FURTHER_CHARACTERS_MAX)]
Further = Annotated[dict[FieldName, Said], Field(min_length=1, max_length=FURTHER_MAX)]
"""Other bibliographic fields (a note, an edition, a series), by BibTeX's names."""
Text = Annotated[str, StringConstraints(min_length=1, max_length=90_000)]
"""With 4 bytes per letter, it fits into an item (400 KB)."""
PasswordHash = Annotated[str, Field(min_length=1, max_length=500)]
VersionName = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}){0,3}$")]
Byline = Annotated[dict[Id, Role], Field(max_length=AUTHORS_MAX)]
"""Roles by handle, in the order of the byline."""


class Paper(Entity):
    """The current version of a paper. Earlier versions are in its partition.

    Listings are ordered by ``published_at``, which is the time of adding by default. A superseded draft has no
    ``published_at``: it is in no list of papers, and expires.
    """

    paper_id: Id
    title: Title
    abstract: Abstract = ""
    collection: Name
    kind: Name = "paper"
    version: VersionName = "1.0"
    revision: int = Field(default=1, ge=1, le=999_999)
    status: Status = "draft"
    published_at: datetime | None = None
    updated_at: datetime = Field(default_factory=now)
    topics: Topics = Field(default_factory=set)
    doi: Name | None = None
    url: Title | None = None
    volume: Short | None = None
    issue: Short | None = None
    pages: Short | None = None
    publisher: Short | None = None
    editors: Editors | None = None
    """The editors of the book or proceedings, by name."""
    further: Further | None = None
    superseded_by: Id | None = None
    expires_at: Ttl | None = None

    primary = Key("PAPER#{paper_id}", "PAPER#{paper_id}")
    by_collection = Key("COLLECTION#{collection}", "DATE#{published_at}", index=GSI1)
    published = Key("PUBLISHED#{collection}", "DATE#{published_at}", index=GSI2, when={"status": "published"})
    newest = Key("NEWEST", "DATE#{published_at}", index=GSI3, when={"status": "published"}, shards=4)


class PaperVersion(Entity):
    """An earlier version of a paper. The revision is padded in the key, so that 10 sorts after 2. Drafts expire."""

    paper_id: Id
    revision: int = Field(ge=1, le=999_999)
    version: VersionName
    title: Title
    abstract: Abstract = ""
    was: Literal["draft", "published"]
    replaced_at: datetime = Field(default_factory=now)
    expires_at: Ttl | None = None

    primary = Key("PAPER#{paper_id}", "VERSION#{revision:06d}")


class FullText(Entity):
    """The full text of a paper. It sorts after the parts of a paper that a page reads, and is read separately."""

    paper_id: Id
    text: Text

    primary = Key("PAPER#{paper_id}", "WORDS")


class Collection(Entity):
    """A collection with published papers. An empty one stays."""

    collection: Id

    primary = Key("COLLECTIONS", "UNDER#{collection}")


class Author(Entity):
    """An author's profile."""

    handle: Id
    name: Name
    affiliation: Name | None = None

    primary = Key("AUTHOR#{handle}", "AUTHOR#{handle}")

    @property
    def user_id(self) -> str:
        """The handle, by which sessions know an author."""
        return self.handle


class Credential(Entity):
    """The hash of an author's password."""

    handle: Id
    password_hash: PasswordHash = Field(repr=False)

    primary = Key("AUTHOR#{handle}", "CREDENTIAL")


class Membership(Entity):
    """An author's part in a paper: in the paper's partition, and by author in GSI1.

    ``position`` is the place in the byline, ``name`` the printed name.
    """

    paper_id: Id
    handle: Id
    role: Role = "author"
    position: int = Field(default=1, ge=1)
    name: Name
    published_at: datetime | None
    expires_at: Ttl | None = None

    primary = Key("PAPER#{paper_id}", "AUTHOR#{handle}")
    by_author = Key("AUTHOR#{handle}", "DATE#{published_at}", index=GSI1)


class PaperTopic(Entity):
    """A topic of a paper; in GSI2 by topic."""

    paper_id: Id
    topic: Topic
    published_at: datetime

    primary = Key("PAPER#{paper_id}", "TOPIC#{topic}")
    by_topic = Key("TOPIC#{topic}", "DATE#{published_at}", index=GSI2)


class Reference(Entity):
    """A reference of a paper to another; GSI1 has the opposite direction."""

    paper_id: Id
    cited_id: Id

    primary = Key("PAPER#{paper_id}", "WORK#{cited_id}")
    by_cited = Key("CITED#{cited_id}", "PAPER#{paper_id}", index=GSI1)


class PaperDetails(BaseModel):
    """The fields of a paper that can be edited without a new version. Omitted fields are removed."""

    title: Title
    abstract: Abstract = ""
    collection: Name
    kind: Name = "paper"
    doi: Name | None = None
    url: Title | None = None
    volume: Short | None = None
    issue: Short | None = None
    pages: Short | None = None
    publisher: Short | None = None
    editors: Editors | None = None
    further: Further | None = None


class PaperWithAuthors(NamedTuple):
    """A paper with its authors and topics: one partition, read by one Query."""

    paper: Paper
    authors: list[Membership]
    topics: list[PaperTopic]


SILENCE = {
    "KP201 Collection.primary": "each collection is written once",
    "KP306 set_text": "a new text replaces the previous one",
    "KP315 new_version": "a revision number is never reused",
    "KP407 papers_by_author": "a superseded draft has no date, so no list contains it",
    "KP407 papers_in_collection": "a superseded draft has no date, so no list contains it",
    "KP602 Paper.expires_at": "only superseded drafts expire, and no list contains them",
    "KP602 Membership.expires_at": "memberships expire with their paper",
    "KP602 PaperVersion.expires_at": "showing an expired draft version is acceptable",
    "KP602 Session.expires_at": "Sessions.of compares expires_at with the current time",
}


class Papers(SessionPatterns, Design, ignore=SILENCE):
    """A catalogue of papers."""

    table = Table("papers", partition="PK", sort="SK", indexes=[GSI1, GSI2, GSI3])

    @read("A1")
    def paper(self, paper_id: str) -> Paper | None:
        """A paper by its id."""
        ...

    @read("A1b", items=1 + AUTHORS_MAX + TOPICS_MAX)
    def paper_with_authors(self, paper_id: str) -> PaperWithAuthors | None:
        """A paper with its authors and topics, in one query."""
        ...

    @read("A2", newest_first=True)
    def papers_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """The papers of a collection, newest first, including drafts."""
        ...

    @read("A2b", newest_first=True, where={"status": "published"})
    def published_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """The published papers of a collection, newest first."""
        ...

    @read("A3", through=Membership, newest_first=True)
    def papers_by_author(self, handle: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """An author's papers, newest first."""
        ...

    @read("A4", through=PaperTopic, newest_first=True)
    def papers_on_topic(self, topic: Topic, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """The papers with a topic, newest first."""
        ...

    @read("A5")
    def author(self, handle: str) -> Author | None:
        """An author's profile."""
        ...

    @read("R1", newest_first=True)
    def paper_versions(self, paper_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[PaperVersion]:
        """The earlier versions of a paper, newest first."""
        ...

    @read("R2")
    def authors(self, handle: Each[str]) -> list[Author]:
        """The profiles of many authors."""
        ...

    @read("R3", through=Through(Reference, paper_id="cited_id"))
    def references(self, paper_id: str, limit: int = 100, cursor: Cursor | None = None) -> Page[Paper]:
        """The papers that a paper refers to."""
        ...

    @read("R4", through=Through(Reference, paper_id="paper_id"))
    def cited_by(self, cited_id: str, limit: int = 100, cursor: Cursor | None = None) -> Page[Paper]:
        """The papers that refer to a paper."""
        ...

    @read("R5")
    def collections(self, limit: int = 50, cursor: Cursor | None = None) -> Page[Collection]:
        """The collections with published papers, by name."""
        ...

    @read("R6")
    def collection(self, collection: str) -> Collection | None:
        """A collection, if it has published papers."""
        ...

    @read("R7")
    def papers(self, paper_id: Each[str]) -> list[Paper]:
        """Several papers by their ids."""
        ...

    @read("R8", newest_first=True, where={"status": "published"}, complete=True)
    def newest_papers(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Paper]:
        """The published papers of all collections, newest first."""
        ...

    @read("R9")
    def full_text(self, paper_id: str) -> FullText | None:
        """The full text of a paper, if there is one."""
        ...

    @read("R10")
    def credential(self, handle: str) -> Credential | None:
        """The hash of an author's password."""
        ...

    @write("W1")
    def add_author(self, author: Author) -> Writes[Author]:
        """Add an author's profile. Raises ItemExists for a handle in use."""
        yield Create(author)
        return author

    @write("W3")
    def add_paper(self, paper: Paper, authors: Byline) -> Writes[Paper]:
        """Add a paper with its memberships and topics, all or nothing. It is a draft, or published already.

        Raises ItemExists for an existing id, ItemNotFound for authors without a profile.
        """
        if paper.status == "superseded":
            raise Refused(
                "a new paper must be a draft or published",
                place="Papers.add_paper",
                hint="add the paper first, then supersede it",
            )
        names = yield from self._names(authors, "Papers.add_paper")
        dated = paper.published_at or now()
        added = paper.model_copy(
            update={"revision": 1, "published_at": dated, "superseded_by": None, "expires_at": None}
        )
        yield Create(added)
        yield from self._listed(added)
        for position, (handle, role) in enumerate(authors.items(), 1):
            yield Create(
                Membership(
                    paper_id=paper.paper_id,
                    handle=handle,
                    role=role,
                    position=position,
                    name=names[handle],
                    published_at=dated,
                )
            )
        for topic in sorted(paper.topics):
            yield Create(PaperTopic(paper_id=paper.paper_id, topic=topic, published_at=dated))
        return added

    @write("W4", attempts=30)
    def new_version(
        self, paper_id: Id, version: VersionName, title: Title | None = None, abstract: Abstract | None = None
    ) -> Writes[Paper]:
        """Add a new version of a paper with the same status. The previous version is kept; a draft expires after 30
        days.

        Raises ItemNotFound; Refused for a superseded paper, and for a version that isn't higher than the current one,
        even if that was written meanwhile.
        """
        paper = yield from self._current(paper_id, "Papers.new_version")
        if _numbers(version) <= _numbers(paper.version):
            raise Refused(
                f"version {version} isn't higher than {paper.version}, the version of paper {paper_id!r}",
                place="Papers.new_version",
                hint="use a higher version; 0.10 is higher than 0.9",
            )
        moment = now()
        yield Create(
            PaperVersion(
                paper_id=paper_id,
                revision=paper.revision,
                version=paper.version,
                title=paper.title,
                abstract=paper.abstract,
                was="draft" if paper.status == "draft" else "published",
                replaced_at=moment,
                expires_at=moment + DRAFT_KEPT if paper.status == "draft" else None,
            )
        )
        changes = {
            "version": version,
            "revision": paper.revision + 1,
            "title": paper.title if title is None else title,
            "abstract": paper.abstract if abstract is None else abstract,
            "updated_at": moment,
        }
        yield Update(paper, **changes).only_if(revision=paper.revision, status=paper.status)
        return paper.model_copy(update=changes)

    @write("W5", attempts=30)
    def publish(self, paper_id: Id) -> Writes[Paper]:
        """Publish a draft. Its date in every listing is today. Raises ItemNotFound, Refused."""
        whole = yield from self._whole(paper_id, "Papers.publish")
        paper = whole.paper
        if paper.status != "draft":
            raise Refused(f"paper {paper_id!r} is published", place="Papers.publish", hint="publish drafts only")
        moment = now()
        changes = {"status": "published", "published_at": moment, "updated_at": moment}
        yield Update(paper, **changes).only_if(status="draft", revision=paper.revision, topics=paper.topics)
        for member in whole.authors:
            yield Put(member.model_copy(update={"published_at": moment}))
        for topic in whole.topics:
            yield Put(topic.model_copy(update={"published_at": moment}))
        published = paper.model_copy(update=changes)
        yield from self._listed(published)
        return published

    @write("W6", attempts=30)
    def retopic(self, paper_id: Id, topics: Topics) -> Writes[Paper]:
        """Replace a paper's topics: its own set and the items of GSI2, in one transaction.

        Raises ItemNotFound; Refused for a superseded paper.
        """
        paper = yield from self._current(paper_id, "Papers.retopic")
        if paper.published_at is None:
            raise Refused(f"paper {paper_id!r} has no date", place="Papers.retopic", hint="publish the paper first")
        moment = now()
        yield Update(paper, topics=topics, updated_at=moment).only_if(
            topics=paper.topics, status=paper.status, published_at=paper.published_at
        )
        for topic in sorted(topics - paper.topics):
            yield Put(PaperTopic(paper_id=paper_id, topic=topic, published_at=paper.published_at))
        for topic in sorted(paper.topics - topics):
            yield Delete(PaperTopic, paper_id=paper_id, topic=topic)
        return paper.model_copy(update={"topics": topics, "updated_at": moment})

    @write("W7", attempts=30)
    def supersede(
        self, paper_id: Id, by: Id, days: Annotated[int, Field(ge=1, le=3650)] = DRAFT_KEPT.days
    ) -> Writes[Paper]:
        """Mark a paper as superseded by another one, and remove it from its topics.

        A published paper stays in its collection and with its authors. A draft leaves every listing, and expires after
        ``days`` with its memberships. Raises ItemNotFound; Refused if either is superseded.
        """
        if by == paper_id:
            raise Refused(
                f"paper {paper_id!r} can't supersede itself", place="Papers.supersede", hint="pass another paper"
            )
        whole = yield from self._whole(paper_id, "Papers.supersede")
        yield from self._current(by, "Papers.supersede")
        paper, moment = whole.paper, now()
        changes = {"status": "superseded", "superseded_by": by, "updated_at": moment}
        if paper.status == "draft":
            changes |= {"published_at": None, "expires_at": moment + timedelta(days=days)}
            for member in whole.authors:
                yield Put(member.model_copy(update={"published_at": None, "expires_at": changes["expires_at"]}))
        yield Update(paper, **changes).only_if(status=paper.status, revision=paper.revision, topics=paper.topics)
        yield Check(Paper, paper_id=by).only_if("status <> :gone", gone="superseded")
        for topic in whole.topics:
            yield Delete(topic)
        return paper.model_copy(update=changes)

    @write("W8", attempts=30)
    def edit_paper(self, paper_id: Id, details: PaperDetails) -> Writes[Paper]:
        """Replace a paper's details without a new version. Raises ItemNotFound; Refused for a superseded paper."""
        paper = yield from self._current(paper_id, "Papers.edit_paper")
        changes = {**details.model_dump(), "updated_at": now()}
        yield Update(paper, **changes).only_if(
            revision=paper.revision, status=paper.status, updated_at=paper.updated_at
        )
        edited = paper.model_copy(update=changes)
        if edited.collection != paper.collection:
            yield from self._listed(edited)
        return edited

    @write("W2")
    def set_text(self, paper_id: Id, text: Text) -> Writes:
        """Set the full text of a paper. Raises ItemNotFound."""
        unknown = ItemNotFound(f"there is no paper {paper_id!r}", place="Papers.set_text", hint="first call add_paper")
        yield Check(Paper, paper_id=paper_id).if_missing(unknown)
        yield Put(FullText(paper_id=paper_id, text=text))

    @write("W9")
    def set_password(self, handle: Id, old_hash: PasswordHash, password_hash: PasswordHash) -> Writes:
        """Replace an author's password. Raises ConditionFailed if the stored hash isn't ``old_hash``."""
        yield Update(Credential, handle=handle).set(password_hash=password_hash).only_if(password_hash=old_hash)

    @write("W10", attempts=10)
    def refer(self, paper_id: Id, cited_id: Id) -> Writes:
        """Add a reference. Idempotent. Raises Refused for the paper itself and a superseded paper; ItemNotFound."""
        if paper_id == cited_id:
            raise Refused(f"paper {paper_id!r} can't refer to itself", place="Papers.refer", hint="pass another paper")
        yield from self._current(paper_id, "Papers.refer")
        if (yield from self.paper.read(cited_id)) is None:
            raise ItemNotFound(f"there is no paper {cited_id!r}", place="Papers.refer", hint="first call add_paper")
        yield Check(Paper, paper_id=paper_id)
        yield Check(Paper, paper_id=cited_id)
        yield Put(Reference(paper_id=paper_id, cited_id=cited_id))

    @write("W11")
    def unrefer(self, paper_id: Id, cited_id: Id) -> Writes:
        """Remove a reference, if there is one."""
        yield Delete(Reference, paper_id=paper_id, cited_id=cited_id)

    def _listed(self, paper: Paper) -> Writes:
        """Add the collection of a published paper to the collections, unless it is there."""
        if paper.status != "published" or len(paper.collection) > LISTED_CHARACTERS_MAX:
            return
        if (yield from self.collection.read(paper.collection)) is None:
            yield Put(Collection(collection=paper.collection))

    def _names(self, authors: dict[str, Role], place: str) -> Writes[dict[str, str]]:
        """The names of authors by handle. Raises ItemNotFound for unknown handles."""
        profiles = yield from self.authors.read(list(authors))
        result = {profile.handle: profile.name for profile in profiles}
        unknown = [handle for handle in authors if handle not in result]
        if unknown:
            raise ItemNotFound(
                f"authors without a profile: {', '.join(map(repr, unknown))}", place=place, hint="first call add_author"
            )
        return result

    def _current(self, paper_id: str, place: str) -> Writes[Paper]:
        paper = yield from self.paper.read(paper_id)
        return _not_superseded(paper, paper_id, place)

    def _whole(self, paper_id: str, place: str) -> Writes[PaperWithAuthors]:
        whole = yield from self.paper_with_authors.read(paper_id)
        paper = _not_superseded(None if whole is None else whole.paper, paper_id, place)
        return PaperWithAuthors(paper, whole.authors if whole else [], whole.topics if whole else [])


def byline(authors: list[Membership]) -> list[Membership]:
    """The authors of a paper in the order of its byline. The table orders them by handle."""
    return sorted(authors, key=lambda membership: membership.position)


def _not_superseded(paper: Paper | None, paper_id: str, place: str) -> Paper:
    if paper is None:
        raise ItemNotFound(f"there is no paper {paper_id!r}", place=place, hint="first call add_paper")
    if paper.status == "superseded":
        raise Refused(
            f"paper {paper_id!r} was superseded by {paper.superseded_by!r}",
            place=place,
            hint="change that paper instead",
        )
    return paper


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
