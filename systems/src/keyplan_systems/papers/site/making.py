"""The catalogue's site for a server: its routes, and the access rules of its API."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.errors import ItemNotFound
from keyplan.systems import SiteOptions
from keyplan_systems.pages.application import ServedSite, sample_logins, small_application
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.policy import Rule, TablePolicy
from keyplan_systems.pages.site import Look, SmallSite
from keyplan_systems.papers.design import Paper, Papers, PaperWithAuthors
from keyplan_systems.papers.export import collection_name
from keyplan_systems.papers.records import UNDATED
from keyplan_systems.papers.sample import DEMO_PASSWORD, DEMO_USERS
from keyplan_systems.papers.searching import keep_found, search_of
from keyplan_systems.papers.site import pages
from keyplan_systems.papers.site.people import PapersPeople
from keyplan_systems.site.kept import Kept
from keyplan_systems.site.searching import Search

FRONT_SECONDS = 60
FIELDS = {"address": "Place", "howpublished": "Published as", "isbn": "ISBN", "issn": "ISSN", "urldate": "Looked up"}
"""The labels of some bibliographic fields."""
LOOK = Look(
    system="papers",
    title="Offprints",
    tagline="A catalogue of papers, with abstracts and citations.",
    package="keyplan_systems.papers.site",
    search="/search",
    filters={
        "year": lambda moment: "" if moment is None or moment.year == UNDATED.year else f"{moment:%Y}",
        "collection": collection_name,
        "field": lambda name: FIELDS.get(name) or name.replace("-", " ").capitalize(),
        "minutes": lambda text: max(1, round(len(text.split()) / 230)),
    },
    login="Handle",
)


def make_site(papers: Papers, options: SiteOptions) -> ServedSite:
    site = SmallSite(papers, LOOK, options, PapersPeople(papers))
    search = search_of(papers)
    front = pages.Front(search, Kept(FRONT_SECONDS, time.monotonic))
    drafts = pages.Drafts(search)
    application = small_application(
        site,
        pages=(
            ("/", front.show, "anyone"),
            ("/search", front.search, "anyone"),
            ("/collections/{name:path}", pages.collection, "anyone"),
            ("/authors/{handle:path}", pages.author, "anyone"),
            ("/topics/{name:path}", pages.topic, "anyone"),
            ("/drafts", drafts.show, "person"),
            ("/papers/{paper_id:path}/as/bibtex", pages.bibtex, "anyone"),
            ("/papers/{paper_id:path}/text", pages.text, "anyone"),
            ("/papers/{paper_id:path}", pages.paper, "anyone"),
        ),
        forms=(
            ("/drafts", drafts.add, "person"),
            ("/papers/{paper_id:path}/version", drafts.add_version, "person"),
            ("/papers/{paper_id:path}/publish", drafts.publish, "person"),
        ),
    )
    logins = sample_logins(site, DEMO_USERS, DEMO_PASSWORD)
    return ServedSite(application, TablePolicy(site, rules(papers, search)), logins)


_OPEN = ("published_in_collection", "newest_papers", "author", "authors", "collections", "collection")
_OF_PAPERS = (
    *("paper", "paper_with_authors", "papers", "papers_in_collection", "papers_by_author", "papers_on_topic"),
    *("references", "cited_by"),
)


def rules(papers: Papers, search: Search) -> dict[str, Rule]:
    """The access rules of the API. Everyone reads published papers; authors read and change their drafts."""

    def seen(caller: Person | None, answers: Sequence[Any]) -> list[Any]:
        found = [answer.paper if isinstance(answer, PaperWithAuthors) else answer for answer in answers]
        return [
            answer
            for answer, paper in zip(answers, found, strict=True)
            if isinstance(paper, Paper) and pages.may_read(papers, caller, paper)
        ]

    def readable(caller: Person | None, given: dict[str, Any]) -> None:
        paper = papers.paper(str(given["paper_id"]))
        if paper is None or not pages.may_read(papers, caller, paper):
            raise ItemNotFound(f"there is no paper {given['paper_id']!r}", place="Papers.paper")

    def own(caller: Person | None, given: dict[str, Any]) -> None:
        if not pages.is_author(papers, caller, str(given["paper_id"])):
            raise ItemNotFound(f"you have no paper {given['paper_id']!r}", place="Papers.paper")

    def changed(given: Mapping[str, Any]) -> None:
        keep_found(papers, search, str(given["paper_id"]))

    return {
        **dict.fromkeys(_OPEN, Rule("anyone")),
        **dict.fromkeys(_OF_PAPERS, Rule("anyone", shown=seen)),
        **dict.fromkeys(("paper_versions", "full_text"), Rule("anyone", check=readable)),
        **dict.fromkeys(("new_version", "publish", "set_text", "retopic"), Rule("person", check=own, done=changed)),
        "end_session": Rule("person", own=("user_id",)),
    }
