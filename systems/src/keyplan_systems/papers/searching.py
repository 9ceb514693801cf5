"""What of the catalogue can be found by words: published papers, by their titles, topics, authors and abstracts.

Neither the site nor its API changes a paper, so no write of theirs has to keep the index. An import and the sample make
it anew; whoever writes from Python calls ``keep_found`` for each paper, or ``python -m keyplan_systems.papers.searching
papers.db`` for all. It is in ``papers.search`` beside ``papers.db``; for a store elsewhere it is in memory,
and filled when the site begins: a query for each 100 papers, and one for each paper's authors.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import partial

from keyplan_systems.paging import items_of_ids, pages_of
from keyplan_systems.papers.design import Membership, Paper, Papers, byline
from keyplan_systems.site.searching import Document, FtsSearch, Search, search_beside

__all__ = ["found_papers", "keep_found", "rebuild", "search_of"]

PAGE = 100


def search_of(papers: Papers) -> FtsSearch:
    """The index of a catalogue, in a file of its own where the store is one. An empty one is made anew."""
    return search_beside(papers.store.url, partial(rebuild, papers))


def rebuild(papers: Papers, search: Search) -> int:
    """Make the index anew from the store; gives how many papers can be found."""
    return search.replace_all(_documents(papers))


def _documents(papers: Papers) -> Iterator[Document]:
    for collections in pages_of(partial(papers.collections, limit=PAGE)):
        for collection in collections:
            for page in pages_of(partial(papers.published_in_collection, collection.collection, limit=PAGE)):
                for paper in page:
                    whole = papers.paper_with_authors(paper.paper_id)
                    yield _document(paper, [] if whole is None else byline(whole.authors))


def _document(paper: Paper, authors: list[Membership]) -> Document:
    names = " ".join(f"{author.name} {author.handle}" for author in authors)
    text = f"{paper.collection} {paper.abstract}"
    return Document(paper.paper_id, paper.title, " ".join(sorted(paper.topics)), names, text)


def keep_found(papers: Papers, search: Search, paper_id: str) -> None:
    """Bring what can be found of a paper to what it is now: nothing, unless it is published. One query."""
    whole = papers.paper_with_authors(paper_id)
    if whole is None or whole.paper.status != "published":
        search.remove(paper_id)
    else:
        search.put(_document(whole.paper, byline(whole.authors)))


def found_papers(papers: Papers, search: Search, query: str, limit: int) -> list[Paper]:
    """The published papers that have all words of a query, the best first.

    They are read from the store, so that nothing is shown that isn't published now, whatever the index says.
    """
    matching = items_of_ids(search.find(query, limit), papers.papers, lambda paper: paper.paper_id)
    return [paper for paper in matching if paper.status == "published"]


def _main(url: str) -> None:
    with Papers.open(url, create=False) as papers, contextlib.closing(search_of(papers)) as search:
        sys.stdout.write(f"{rebuild(papers, search):,} papers can be found.\n")


if __name__ == "__main__":
    _main(*sys.argv[1:2])
