"""The catalogue's site made for a server: its addresses, and what of its API everybody may call."""

from __future__ import annotations

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
    public = Rule("anyone", shown=_is_public)
    rules = {"published_in_collection": Rule("anyone"), "author": Rule("anyone"), "authors": Rule("anyone")}
    rules |= {"collections": Rule("anyone"), "collection": Rule("anyone"), "papers": public}
    rules |= {"paper": public, "paper_with_authors": public}
    return ServedSite(application, TablePolicy(site, rules), ())


def _is_public(_caller: Person | None, answer: Any) -> bool:
    paper = answer.paper if isinstance(answer, PaperWithAuthors) else answer
    return isinstance(paper, Paper) and paper.status != "draft" and paper.published_at is not None
