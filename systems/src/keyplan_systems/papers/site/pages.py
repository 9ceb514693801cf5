"""The pages of the catalogue."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from starlette.responses import Response

from keyplan import ulid
from keyplan.errors import ArgumentError, Refused
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.site import Turn
from keyplan_systems.papers.design import Collection, Membership, Paper, Papers, PaperWithAuthors, byline
from keyplan_systems.papers.export import citation, collection_name, to_bibtex
from keyplan_systems.papers.searching import found_papers, keep_found
from keyplan_systems.site.kept import Kept
from keyplan_systems.site.problems import not_found
from keyplan_systems.site.searching import Search
from keyplan_systems.words import slug_from

PapersTurn = Turn[Papers]
FOUND_MAX = 30
NEWEST = 12
COUNTED = 100
"""Number of newest papers whose topics are counted."""
TOPIC_CHARACTERS_MAX = 200


def may_read(papers: Papers, person: Person | None, paper: Paper) -> bool:
    """Whether a visitor may read a paper: published ones, even if superseded later; drafts for their authors."""
    if paper.status != "draft" and paper.published_at is not None:
        return True
    return is_author(papers, person, paper.paper_id)


def is_author(papers: Papers, person: Person | None, paper_id: str) -> bool:
    """Whether a visitor is among a paper's authors."""
    whole = None if person is None else papers.paper_with_authors(paper_id)
    return whole is not None and person is not None and person.user_id in {one.handle for one in whole.authors}


@dataclass(frozen=True)
class FrontPage:
    """The contents of the front page."""

    newest: list[tuple[Paper, list[Membership]]]
    topics: list[tuple[str, int]]
    authors: list[tuple[str, str, int]]
    """The authors of the newest papers: handle, name and number of papers."""
    collections: list[Collection]
    count: int


class Front:
    """The front page, which is cached for a minute, and the search."""

    def __init__(self, index: Search, kept: Kept[str, FrontPage]) -> None:
        self._index = index
        self._kept = kept

    def show(self, turn: PapersTurn) -> Response:
        """The newest papers with authors and topics, and numbers."""
        front = self._kept.get("", lambda: self._made(turn.design))
        return turn.page("front.html", front=front)

    def _made(self, papers: Papers) -> FrontPage:
        newest = papers.newest_papers(limit=COUNTED).items
        topics = Counter(topic for paper in newest for topic in paper.topics)
        shown = [(paper, papers.paper_with_authors(paper.paper_id)) for paper in newest[:NEWEST]]
        bylines = [(paper, [] if whole is None else byline(whole.authors)) for paper, whole in shown]
        people = Counter((one.handle, one.name) for _, members in bylines for one in members)
        return FrontPage(
            bylines,
            topics.most_common(15),
            [(handle, name, number) for (handle, name), number in people.most_common(12)],
            papers.collections(limit=20).items,
            self._index.count(),
        )

    def search(self, turn: PapersTurn) -> Response:
        """The page for an id or a name, or the papers with all words of a query."""
        asked = turn.query.get("q", "").strip()[:200]
        papers = turn.design
        results: list[Paper] = []
        if asked:
            turn.limit("search", turn.address)
            known = _known_as(papers, asked)
            if known is not None:
                return turn.go(known)
            results = found_papers(papers, self._index, asked, FOUND_MAX)
        return turn.page("search.html", asked=asked, results=results)


def _known_as(papers: Papers, asked: str) -> str | None:
    """The page of the paper, author, collection or topic with exactly this id or name."""
    paper = papers.paper(asked)
    if paper is not None and may_read(papers, None, paper):
        return f"/papers/{asked}"
    if papers.author(asked) is not None:
        return f"/authors/{asked}"
    for name in dict.fromkeys((asked, slug_from(asked))):
        if name and papers.published_in_collection(name, limit=1).items:
            return f"/collections/{name}"
    if len(asked) > TOPIC_CHARACTERS_MAX:
        return None
    on_topic = papers.papers_on_topic(asked.lower(), limit=FOUND_MAX)
    return f"/topics/{asked}" if any(paper.status == "published" for paper in on_topic) else None


def collection(turn: PapersTurn) -> Response:
    name = turn.path("name")
    page = turn.design.published_in_collection(name, cursor=turn.cursor)
    if not page.items and turn.cursor is None and turn.design.collection(name) is None:
        raise not_found()
    return turn.page(
        "list.html", heading=collection_name(name), lede="Collection", papers=page.items, cursor=page.cursor
    )


def author(turn: PapersTurn) -> Response:
    result = turn.design.author(turn.path("handle"))
    if result is None:
        raise not_found()
    page = turn.design.papers_by_author(result.handle, cursor=turn.cursor)
    shown = [item for item in page.items if item.status == "published"]
    lede = result.affiliation or "Author"
    return turn.page("list.html", heading=result.name, lede=lede, papers=shown, cursor=page.cursor)


def topic(turn: PapersTurn) -> Response:
    name = turn.path("name").lower()
    try:
        page = turn.design.papers_on_topic(name, cursor=turn.cursor)
    except ArgumentError:  # the name isn't a valid topic
        raise not_found() from None
    shown = [item for item in page.items if item.status == "published"]
    if not shown and page.cursor is None and turn.cursor is None:
        raise not_found()
    return turn.page("list.html", heading=name, lede="Topic", papers=shown, cursor=page.cursor)


def paper(turn: PapersTurn) -> Response:
    """A paper with its authors, citation, references and earlier versions."""
    return _paper_page(turn, _readable(turn))


def _paper_page(turn: PapersTurn, whole: PaperWithAuthors, status: int = 200) -> Response:
    papers, result, person = turn.design, whole.paper, turn.visitor.person
    members = byline(whole.authors)
    own = person is not None and person.user_id in {member.handle for member in members}
    return turn.page(
        "paper.html",
        status,
        paper=result,
        members=members,
        topics=sorted(paper_topic.topic for paper_topic in whole.topics),
        cited=citation(result, members),
        references=[each for each in papers.references(result.paper_id, limit=50) if may_read(papers, None, each)],
        cited_by=[each for each in papers.cited_by(result.paper_id, limit=50) if may_read(papers, None, each)],
        versions=[one for one in papers.paper_versions(result.paper_id) if own or one.was == "published"],
        text=papers.full_text(result.paper_id),
        own=own,
    )


def text(turn: PapersTurn) -> Response:
    whole = _readable(turn)
    full = turn.design.full_text(whole.paper.paper_id)
    if full is None:
        raise not_found()
    return turn.page("text.html", paper=whole.paper, members=byline(whole.authors), text=full.text)


def bibtex(turn: PapersTurn) -> Response:
    whole = _readable(turn)
    # The file name is fixed, because an id can contain characters that are invalid in a header.
    headers = {"content-disposition": 'attachment; filename="paper.bib"'}
    return Response(
        to_bibtex(whole.paper, whole.authors), media_type="application/x-bibtex; charset=utf-8", headers=headers
    )


def _readable(turn: PapersTurn) -> PaperWithAuthors:
    """The paper in the URL, if the visitor may read it. Raises Problem."""
    whole = turn.design.paper_with_authors(turn.path("paper_id"))
    if whole is None or not may_read(turn.design, turn.visitor.person, whole.paper):
        raise not_found()
    return whole


class Drafts:
    """The drafts of an author, and the forms to write and publish them."""

    def __init__(self, index: Search) -> None:
        self._index = index

    def show(self, turn: PapersTurn) -> Response:
        """The visitor's drafts, and the form for a new one."""
        page = turn.design.papers_by_author(turn.person.user_id, cursor=turn.cursor, limit=50)
        own = [item for item in page.items if item.status == "draft"]
        return turn.page("drafts.html", papers=own, cursor=page.cursor)

    def add(self, turn: PapersTurn) -> Response:
        title = turn.form.text("title", "Title", 1000)
        name = turn.form.text("collection", "Collection", 200)
        if not turn.form:
            return turn.page("drafts.html", 422, papers=[], cursor=None)
        new = Paper(paper_id=ulid().lower(), title=title, collection=slug_from(name), version="0.1")
        turn.design.add_paper(new, {turn.person.user_id: "author"})
        return turn.go(f"/papers/{new.paper_id}")

    def add_version(self, turn: PapersTurn) -> Response:
        """Add a version of the visitor's paper, with another title, abstract or full text."""
        whole, form = self._own(turn), turn.form
        title = form.text("title", "Title", 1000)
        abstract = form.text("abstract", "Abstract", 20_000, required=False, lines=True)
        words = form.text("text", "Full text", 90_000, required=False, lines=True)
        version = form.text("version", "Version", 20)
        paper_id = whole.paper.paper_id
        if form:
            try:
                turn.design.new_version(paper_id, version, title, abstract)
            except (Refused, ArgumentError) as error:
                form.fault("version", error.errors[0].message if error.errors else error.message)
        if not form:
            return _paper_page(turn, whole, 422)
        if words:
            turn.design.set_text(paper_id, words)
        keep_found(turn.design, self._index, paper_id)
        return turn.go(f"/papers/{paper_id}", "saved")

    def publish(self, turn: PapersTurn) -> Response:
        paper_id = self._own(turn).paper.paper_id
        turn.design.publish(paper_id)
        keep_found(turn.design, self._index, paper_id)
        return turn.go(f"/papers/{paper_id}", "saved")

    def _own(self, turn: PapersTurn) -> PaperWithAuthors:
        """The paper in the URL, if the visitor is an author of it. Raises Problem."""
        whole = turn.design.paper_with_authors(turn.path("paper_id"))
        if whole is None or turn.person.user_id not in {member.handle for member in whole.authors}:
            raise not_found()
        return whole
