"""The catalogue's site made for a server: its addresses, and what of its API everybody may call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from keyplan.systems import SiteOptions
from keyplan_systems.pages.application import ServedSite, small_application
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.policy import Rule, TablePolicy
from keyplan_systems.pages.site import Look, SmallSite
from keyplan_systems.papers.design import Paper, Papers, PaperWithAuthors
from keyplan_systems.papers.export import collection_name
from keyplan_systems.papers.records import UNDATED
from keyplan_systems.papers.searching import search_of
from keyplan_systems.papers.site import pages

__all__ = ["make_site"]

FIELDS = {"address": "Place", "howpublished": "Published as", "isbn": "ISBN", "issn": "ISSN", "urldate": "Looked up"}
"""What the page calls further fields whose names say little."""
LOOK = Look(
    system="papers",
    title="Offprints",
    tagline="A catalogue of papers, to read about and to cite.",
    package="keyplan_systems.papers.site",
    search="/",
    filters={
        "year": lambda moment: "" if moment is None or moment.year == UNDATED.year else f"{moment:%Y}",
        "collection": collection_name,
        "field": lambda name: FIELDS.get(name) or name.replace("-", " ").capitalize(),
    },
)


def make_site(papers: Papers, options: SiteOptions) -> ServedSite:
    """The site on an open design."""
    site = SmallSite(papers, LOOK, options)
    search = search_of(papers)
    application = small_application(
        site,
        pages=(
            ("/", partial(pages.front, search=search), "anyone"),
            ("/collections/{name:path}", pages.collection, "anyone"),
            ("/authors/{handle:path}", pages.author, "anyone"),
            ("/topics/{name:path}", pages.topic, "anyone"),
            ("/papers/{paper_id:path}/as/{format}", pages.exported, "anyone"),
            ("/papers/{paper_id:path}", pages.paper, "anyone"),
        ),
    )
    return ServedSite(application, TablePolicy(site, RULES), ())


def _public(_caller: Person | None, answers: Sequence[Any]) -> list[Any]:
    """Published papers, and papers that were published before another one superseded them."""
    papers = [answer.paper if isinstance(answer, PaperWithAuthors) else answer for answer in answers]
    return [
        answer
        for answer, paper in zip(answers, papers, strict=True)
        if isinstance(paper, Paper) and paper.status != "draft" and paper.published_at is not None
    ]


_OPEN = ("published_in_collection", "author", "authors", "collections", "collection")
_OF_PAPERS = (
    *("paper", "paper_with_authors", "papers", "papers_in_collection", "papers_by_author", "papers_on_topic"),
    *("references", "cited_by"),
)
RULES = {
    **dict.fromkeys(_OPEN, Rule("anyone")),
    **dict.fromkeys(_OF_PAPERS, Rule("anyone", shown=_public)),
    "paper_versions": Rule(
        "anyone", shown=lambda _, versions: [version for version in versions if version.was == "published"]
    ),
}
"""Who may call what of the REST API: everybody reads what is published."""
