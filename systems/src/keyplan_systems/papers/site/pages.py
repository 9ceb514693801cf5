"""The pages of the catalogue."""

from __future__ import annotations

from starlette.responses import Response

from keyplan.errors import ArgumentError
from keyplan_systems.pages.site import Turn
from keyplan_systems.papers.design import Paper, Papers, PaperWithAuthors, byline
from keyplan_systems.papers.export import FORMATS, citation, collection_name
from keyplan_systems.papers.searching import found_papers
from keyplan_systems.site.problems import not_found
from keyplan_systems.site.searching import Search
from keyplan_systems.words import slug_from

__all__ = ["author", "collection", "exported", "front", "paper", "topic"]

PapersTurn = Turn[Papers]
FOUND_MAX = 30
TOPIC_CHARACTERS_MAX = 200


def front(turn: PapersTurn, search: Search) -> Response:
    """What there is to look through; or what was asked for: by its id or name, or by words."""
    asked = turn.query.get("q", "").strip()[:200]
    papers = turn.design
    results: list[Paper] = []
    if asked:
        turn.limit("search", turn.address)
        known = _known_as(papers, asked)
        if known is not None:
            return turn.go(known)
        results = found_papers(papers, search, asked, FOUND_MAX)
    page = papers.collections(cursor=turn.cursor)
    return turn.page("front.html", asked=asked, results=results, collections=page.items, cursor=page.cursor)


def _known_as(papers: Papers, asked: str) -> str | None:
    """The page of what goes by exactly this id or name, if anything does."""
    paper = papers.paper(asked)
    if paper is not None and paper.status != "draft" and paper.published_at is not None:
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
    """The published papers of a collection."""
    name = turn.path("name")
    page = turn.design.published_in_collection(name, cursor=turn.cursor)
    if not page.items and turn.cursor is None and turn.design.collection(name) is None:
        raise not_found()
    return turn.page(
        "list.html", heading=collection_name(name), lede="Collection", papers=page.items, cursor=page.cursor
    )


def author(turn: PapersTurn) -> Response:
    """An author and their published papers."""
    result = turn.design.author(turn.path("handle"))
    if result is None:
        raise not_found()
    page = turn.design.papers_by_author(result.handle, cursor=turn.cursor)
    shown = [item for item in page.items if item.status == "published"]
    lede = result.affiliation or "Author"
    return turn.page("list.html", heading=result.name, lede=lede, papers=shown, cursor=page.cursor)


def topic(turn: PapersTurn) -> Response:
    """The published papers that carry a topic."""
    name = turn.path("name").lower()
    try:
        page = turn.design.papers_on_topic(name, cursor=turn.cursor)
    except ArgumentError:  # no paper has such a topic
        raise not_found() from None
    shown = [item for item in page.items if item.status == "published"]
    if not shown and page.cursor is None and turn.cursor is None:
        raise not_found()
    return turn.page("list.html", heading=name, lede="Topic", papers=shown, cursor=page.cursor)


def paper(turn: PapersTurn) -> Response:
    """A paper: who, what, how to cite it, what it refers to and what refers to it."""
    whole = _public(turn)
    papers, result = turn.design, whole.paper
    members = byline(whole.authors)
    return turn.page(
        "paper.html",
        paper=result,
        members=members,
        topics=sorted(paper_topic.topic for paper_topic in whole.topics),
        cited=citation(result, members),
        formats=FORMATS,
        references=[
            reference for reference in papers.references(result.paper_id, limit=50) if reference.status != "draft"
        ],
        cited_by=[element for element in papers.cited_by(result.paper_id, limit=50) if element.status != "draft"],
        versions=[version for version in papers.paper_versions(result.paper_id) if version.was == "published"],
    )


def exported(turn: PapersTurn) -> Response:
    """A paper in another program's format."""
    form = FORMATS.get(turn.path("format"))
    if form is None:
        raise not_found()
    whole = _public(turn)
    # The name is fixed: an id may hold what no header can.
    headers = {"content-disposition": f'attachment; filename="paper.{form.suffix}"'}
    return Response(form.write(whole.paper, whole.authors), media_type=form.media_type, headers=headers)


def _public(turn: PapersTurn) -> PaperWithAuthors:
    """The paper of the address, if everybody may see it: drafts aren't public, nor drafts that were superseded."""
    whole = turn.design.paper_with_authors(turn.path("paper_id"))
    if whole is None or whole.paper.status == "draft" or whole.paper.published_at is None:
        raise not_found()
    return whole
