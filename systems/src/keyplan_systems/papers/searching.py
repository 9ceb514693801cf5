"""The search index of the catalogue: published papers by title, topic, author and abstract, in ``papers.search`` next
to ``papers.db``. The site updates it; imports and samples rebuild it; Python calls ``keep_found`` for each paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from keyplan_systems.paging import items_of_ids, pages_of
from keyplan_systems.papers.design import Membership, Paper, Papers, byline
from keyplan_systems.site.searching import Document, Search, search_beside

PAGE = 100


def search_of(papers: Papers) -> Search:
    """The index of a catalogue. An empty one is rebuilt."""
    return search_beside(papers.store.url, partial(rebuild, papers))


def rebuild(papers: Papers, search: Search) -> int:
    """Rebuild the index from the store; returns the number of papers."""
    return search.replace_all(_documents(papers))


def _documents(papers: Papers) -> Iterator[Document]:
    for page in pages_of(partial(papers.newest_papers, limit=PAGE)):
        for paper in page:
            whole = papers.paper_with_authors(paper.paper_id)
            yield _document(paper, [] if whole is None else byline(whole.authors))


def _document(paper: Paper, authors: list[Membership]) -> Document:
    names = " ".join(f"{author.name} {author.handle}" for author in authors)
    text = f"{paper.collection} {paper.abstract}"
    return Document(paper.paper_id, paper.title, " ".join(sorted(paper.topics)), names, text)


def keep_found(papers: Papers, search: Search, paper_id: str) -> None:
    """Update a paper in the index, or remove one that isn't published."""
    whole = papers.paper_with_authors(paper_id)
    if whole is None or whole.paper.status != "published":
        search.remove(paper_id)
    else:
        search.put(_document(whole.paper, byline(whole.authors)))


def found_papers(papers: Papers, search: Search, query: str, limit: int) -> list[Paper]:
    """The published papers with all words of a query, best first, as currently stored."""
    matching = items_of_ids(search.find(query, limit), papers.papers, lambda paper: paper.paper_id)
    return [paper for paper in matching if paper.status == "published"]
