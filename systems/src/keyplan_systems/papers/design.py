# mypy: disable-error-code="empty-body"
"""The design of the paper catalogue: papers and their authors, one table, an overloaded index and a sparse one.

Key shapes and index names follow the document; where the system departs from it, README.md says why.
"""

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

__all__ = [
    "AUTHORS_MAX",
    "DETAILS",
    "DRAFT_KEPT",
    "EDITORS_MAX",
    "FURTHER_CHARACTERS_MAX",
    "FURTHER_MAX",
    "LISTED_CHARACTERS_MAX",
    "TOPICS_MAX",
    "Author",
    "Collection",
    "Membership",
    "Paper",
    "PaperDetails",
    "PaperTopic",
    "PaperVersion",
    "PaperWithAuthors",
    "Papers",
    "Reference",
    "Role",
    "Status",
    "byline",
]

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")

AUTHORS_MAX = 75
"""Authors of a paper: with its topics and the paper itself they fit the 100 actions of one transaction."""
TOPICS_MAX = 20
EDITORS_MAX = 20
LISTED_CHARACTERS_MAX = 250
"""A collection with a longer name isn't among the collections: its key would be too long."""
FURTHER_MAX = 40
FURTHER_CHARACTERS_MAX = 2000
DETAILS = ("doi", "url", "volume", "issue", "pages", "publisher", "editors", "further")
"""What a bibliography says of a paper besides its title, its text and where it appeared."""
DRAFT_KEPT = timedelta(days=30)
"""How long a superseded draft can still be read."""

Status = Literal["draft", "published", "superseded"]
Role = Literal["author", "contributor", "editor"]
Id = Annotated[str, StringConstraints(min_length=1, max_length=250)]
"""With 4 bytes a letter it fits a sort key, which takes 1,024."""
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
"""What else a bibliography says of a paper (a note, an edition, a series), by the names that BibTeX has for it."""
VersionName = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}){0,3}$")]
Byline = Annotated[dict[Id, Role], Field(max_length=AUTHORS_MAX)]
"""Who took part, in the order of the byline: the handle and the role of each."""


class Paper(Entity):
    """A paper as it is now. Its earlier versions stand behind it in its partition.

    ``published_at`` is the date that listings go by; a paper that is added without one gets that moment. A superseded
    draft has none: it leaves every listing at once, and expires some days later.
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
    """Who edited what it appeared in, by the names that are printed."""
    further: Further | None = None
    superseded_by: Id | None = None
    expires_at: Ttl | None = None

    primary = Key("PAPER#{paper_id}", "PAPER#{paper_id}")
    by_collection = Key("COLLECTION#{collection}", "DATE#{published_at}", index=GSI1)
    published = Key("PUBLISHED#{collection}", "DATE#{published_at}", index=GSI2, when={"status": "published"})


class PaperVersion(Entity):
    """A version that another took the place of. The number of the revision is padded in its key, so that 10 doesn't
    stand between 1 and 2. What was never published expires.
    """

    paper_id: Id
    revision: int = Field(ge=1, le=999_999)
    version: VersionName
    title: Title
    abstract: Abstract = ""
    was: Literal["draft", "published"]
    replaced_at: datetime = Field(default_factory=now)
    expires_at: Ttl | None = None

    primary = Key("PAPER#{paper_id}", "VERSION#{revision:06d}")


class Collection(Entity):
    """A collection in which something is published: what there is to look through. One that is empty again stays."""

    collection: Id

    primary = Key("COLLECTIONS", "UNDER#{collection}")


class Author(Entity):
    """An author's profile."""

    handle: Id
    name: Name
    affiliation: Name | None = None

    primary = Key("AUTHOR#{handle}", "AUTHOR#{handle}")


class Membership(Entity):
    """An author took part in a paper; it stands in the paper's partition, and under its author in the index.

    ``position`` is the place in the byline, ``name`` the name as it is printed there.
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
    """A paper carries a topic; only these items stand in GSI2."""

    paper_id: Id
    topic: Topic
    published_at: datetime

    primary = Key("PAPER#{paper_id}", "TOPIC#{topic}")
    by_topic = Key("TOPIC#{topic}", "DATE#{published_at}", index=GSI2)


class Reference(Entity):
    """A paper refers to another; the index turns it around, to the papers that refer to one. It stands behind the
    versions in its paper's partition, so that whoever reads the paper doesn't read its references.
    """

    paper_id: Id
    cited_id: Id

    primary = Key("PAPER#{paper_id}", "WORK#{cited_id}")
    by_cited = Key("CITED#{cited_id}", "PAPER#{paper_id}", index=GSI1)


class PaperDetails(BaseModel):
    """All that can be edited of a paper without a new version of it: what isn't given, it then doesn't have."""

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
    """A paper, who took part in it, and its topics: one partition, one query."""

    paper: Paper
    authors: list[Membership]
    topics: list[PaperTopic]


SILENCE = {
    "KP201 Collection.primary": "a collection is written once, and the front page reads a page of them",
    "KP315 new_version": "a version's number is one that no version had before, expired or not",
    "KP407 papers_by_author": "a superseded draft has no date, and is in no listing",
    "KP407 papers_in_collection": "a superseded draft has no date, and is in no listing",
    "KP602 Paper.expires_at": "a superseded draft says so, is in no listing, and does no harm until it is removed",
    "KP602 Membership.expires_at": "memberships expire with their paper; without it they lead to nothing",
    "KP602 PaperVersion.expires_at": "an old draft among a paper's versions does no harm until it is removed",
}


class Papers(Design, ignore=SILENCE):
    """A catalogue of papers: five questions, one table, two indexes."""

    table = Table("papers", partition="PK", sort="SK", indexes=[GSI1, GSI2])

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
        """The papers of a collection, newest first, drafts too, with their status."""
        ...

    @read("A2b", newest_first=True, where={"status": "published"})
    def published_in_collection(self, collection: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """The published papers of a collection, newest first: what everybody may see."""
        ...

    @read("A3", through=Membership, newest_first=True)
    def papers_by_author(self, handle: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """An author's papers, newest first."""
        ...

    @read("A4", through=PaperTopic, newest_first=True)
    def papers_on_topic(self, topic: Topic, limit: int = 20, cursor: Cursor | None = None) -> Page[Paper]:
        """The papers that carry a topic, newest first."""
        ...

    @read("A5")
    def author(self, handle: str) -> Author | None:
        """An author's profile."""
        ...

    @read("R1", newest_first=True)
    def paper_versions(self, paper_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[PaperVersion]:
        """The versions of a paper that others took the place of, newest first."""
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
        """The collections in which something is published, by name."""
        ...

    @read("R6")
    def collection(self, collection: str) -> Collection | None:
        """Whether something is published in a collection."""
        ...

    @read("R7")
    def papers(self, paper_id: Each[str]) -> list[Paper]:
        """Several papers by their ids: what a search finds."""
        ...

    @write("W1")
    def add_author(self, author: Author) -> Writes[Author]:
        """Add an author's profile. Raises ItemExists for a handle that somebody has."""
        yield Create(author)
        return author

    @write("W2", attempts=10)
    def describe_author(self, handle: Id, name: Name, affiliation: Name | None = None) -> Writes[Author]:
        """Change an author's profile: both, so without an affiliation they then have none. Raises ItemNotFound."""
        author = yield from self.author.read(handle)
        if author is None:
            raise ItemNotFound(f"there is no author {handle!r}", place="Papers.author", hint="add them: add_author")
        yield Update(author, name=name, affiliation=affiliation)
        return author.model_copy(update={"name": name, "affiliation": affiliation})

    @write("W3")
    def add_paper(self, paper: Paper, authors: Byline) -> Writes[Paper]:
        """Add a paper with its memberships and topics, all or nothing. It is a draft, or published already.

        Raises ItemExists for an id that a paper has, ItemNotFound for authors without a profile.
        """
        if paper.status == "superseded":
            raise Refused(
                "a paper is added as a draft or published",
                place="Papers.add_paper",
                hint="supersede it when it is there",
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
        """Give a paper a new version, which keeps its status; what isn't given stays. The version before is kept, and
        expires after 30 days if it was a draft.

        Of two writers at the same moment the second one's version must be higher than the first one's. Raises
        ItemNotFound; Refused for a version that isn't higher, and for a superseded paper.
        """
        paper = yield from self._current(paper_id, "Papers.new_version")
        if _numbers(version) <= _numbers(paper.version):
            raise Refused(
                f"version {version} isn't higher than {paper.version}, which paper {paper_id!r} has",
                place="Papers.new_version",
                hint="versions are compared number by number: 0.10 is higher than 0.9",
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
        """Publish a draft: from now on it is dated today, in every listing. Raises ItemNotFound, Refused."""
        whole = yield from self._whole(paper_id, "Papers.publish")
        paper = whole.paper
        if paper.status != "draft":
            raise Refused(f"paper {paper_id!r} is published", place="Papers.publish", hint="only drafts are published")
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
        """Give a paper these topics and no others: its own set and the items of GSI2, in one transaction.

        Raises ItemNotFound; Refused for a superseded paper, which is listed under no topic.
        """
        paper = yield from self._current(paper_id, "Papers.retopic")
        if paper.published_at is None:
            raise Refused(f"paper {paper_id!r} has no date", place="Papers.retopic", hint="publish it first")
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
        """Mark a paper as superseded by another one. It is listed under no topic any more.

        What was published stays, and is found by its id, its collection and its authors. A draft leaves every listing,
        and expires after ``days`` with its memberships. Raises ItemNotFound for either; Refused for a superseded one.
        """
        if by == paper_id:
            raise Refused(
                f"paper {paper_id!r} can't supersede itself", place="Papers.supersede", hint="name another one"
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
        """Correct what a paper's page says, without a new version: all of it, so what isn't given it then doesn't have.

        Raises ItemNotFound; Refused for a superseded paper.
        """
        paper = yield from self._current(paper_id, "Papers.edit_paper")
        changes = {**details.model_dump(), "updated_at": now()}
        yield Update(paper, **changes).only_if(
            revision=paper.revision, status=paper.status, updated_at=paper.updated_at
        )
        edited = paper.model_copy(update=changes)
        if edited.collection != paper.collection:
            yield from self._listed(edited)
        return edited

    @write("W9", attempts=30)
    def set_byline(self, paper_id: Id, authors: Byline) -> Writes[list[Membership]]:
        """Say anew who took part in a paper, in the order of the byline.

        Raises ItemNotFound, also for authors without a profile; Refused for a superseded paper.
        """
        whole = yield from self._whole(paper_id, "Papers.set_byline")
        paper = whole.paper
        names = yield from self._names(authors, "Papers.set_byline")
        before = {author.handle: author for author in whole.authors}
        members = [
            Membership(
                paper_id=paper_id,
                handle=handle,
                role=role,
                position=position,
                name=names[handle],
                published_at=paper.published_at,
            )
            for position, (handle, role) in enumerate(authors.items(), 1)
        ]
        yield Update(paper, updated_at=now()).only_if(
            status=paper.status, published_at=paper.published_at, updated_at=paper.updated_at
        )
        for member in members:
            if before.pop(member.handle, None) != member:
                yield Put(member)
        for membership in before.values():
            yield Delete(membership)
        return members

    @write("W10", attempts=10)
    def refer(self, paper_id: Id, cited_id: Id) -> Writes:
        """A paper refers to another of the catalogue; no error where it does. Raises Refused for itself, and for a
        superseded paper; ItemNotFound.
        """
        if paper_id == cited_id:
            raise Refused(f"paper {paper_id!r} can't refer to itself", place="Papers.refer", hint="name another one")
        yield from self._current(paper_id, "Papers.refer")
        if (yield from self.paper.read(cited_id)) is None:
            raise ItemNotFound(f"there is no paper {cited_id!r}", place="Papers.refer", hint="add it first: add_paper")
        yield Check(Paper, paper_id=paper_id)
        yield Check(Paper, paper_id=cited_id)
        yield Put(Reference(paper_id=paper_id, cited_id=cited_id))

    @write("W11")
    def unrefer(self, paper_id: Id, cited_id: Id) -> Writes:
        """A paper doesn't refer to another any more; no error where it didn't."""
        yield Delete(Reference, paper_id=paper_id, cited_id=cited_id)

    def _listed(self, paper: Paper) -> Writes:
        """Let the collection of a published paper be among the collections. It is written once, and only read then."""
        if paper.status != "published" or len(paper.collection) > LISTED_CHARACTERS_MAX:
            return
        if (yield from self.collection.read(paper.collection)) is None:
            yield Put(Collection(collection=paper.collection))

    def _names(self, authors: dict[str, Role], place: str) -> Writes[dict[str, str]]:
        """The names of authors by their handles. Raises ItemNotFound for those without a profile."""
        profiles = yield from self.authors.read(list(authors))
        result = {profile.handle: profile.name for profile in profiles}
        unknown = [handle for handle in authors if handle not in result]
        if unknown:
            raise ItemNotFound(
                f"there is no author {', '.join(map(repr, unknown))}", place=place, hint="add them first: add_author"
            )
        return result

    def _current(self, paper_id: str, place: str) -> Writes[Paper]:
        """A paper that nothing has superseded."""
        paper = yield from self.paper.read(paper_id)
        return _not_superseded(paper, paper_id, place)

    def _whole(self, paper_id: str, place: str) -> Writes[PaperWithAuthors]:
        """The same with its memberships and topics."""
        whole = yield from self.paper_with_authors.read(paper_id)
        paper = _not_superseded(None if whole is None else whole.paper, paper_id, place)
        return PaperWithAuthors(paper, whole.authors if whole else [], whole.topics if whole else [])


def byline(authors: list[Membership]) -> list[Membership]:
    """Those who took part in a paper in the order in which it names them: in the table they stand by their handles."""
    return sorted(authors, key=lambda membership: membership.position)


def _not_superseded(paper: Paper | None, paper_id: str, place: str) -> Paper:
    if paper is None:
        raise ItemNotFound(f"there is no paper {paper_id!r}", place=place, hint="add it first: add_paper")
    if paper.status == "superseded":
        raise Refused(
            f"paper {paper_id!r} was superseded by {paper.superseded_by!r}",
            place=place,
            hint="work on that one instead",
        )
    return paper


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
