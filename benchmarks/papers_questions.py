"""The open questions of the paper catalogue's document, answered with metered units.

``python -m benchmarks.papers_questions`` fills the embedded store with the sample, or with a given bibliography (BibTeX
or CSL-JSON), and the designs of ``papers_alternatives.py`` with the same papers. It makes the same calls on each and
prints the metered units. The README of the papers contains these tables, and a test regenerates them. No seconds are
measured.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.papers_alternatives import AuthorsApart, CardsOnMemberships, TopicsFiltered, TopicsInTable
from keyplan import Delete, Design, Put, now
from keyplan.analysis.cost.pricelist import price_list
from keyplan.client.conversations import Request, Transport
from keyplan.dynamodb.values.sizes import item_size
from keyplan_systems.papers.design import (
    Author,
    Membership,
    Paper,
    Papers,
    PaperTopic,
    PaperVersion,
    byline,
)
from keyplan_systems.papers.loader import load
from keyplan_systems.papers.sample import sample

SAMPLED = 3000
PARTITION_READS = 3000
"""Read units a second that one partition gives. Source: "Best practices for designing and using partition keys"."""
PRICES = price_list("us-east-1").usd
ITEM_OVERHEAD = 100
"""Bytes that are billed for each stored item, and each index entry, besides its own."""

GB = 1_000_000_000
Table = list[tuple[str, ...]]


class Meter:
    """Passes requests on and adds up their units, of the table and of each index."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.requests = 0
        self.reads: Counter[str] = Counter()
        self.writes: Counter[str] = Counter()

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request."""
        response = self.inner.call(operation, {**parameters, "ReturnConsumedCapacity": "INDEXES"})
        self.requests += 1
        units = self.reads if operation in {"GetItem", "BatchGetItem", "Query", "Scan"} else self.writes
        consumed = response.get("ConsumedCapacity") or []
        for one in consumed if isinstance(consumed, list) else [consumed]:
            units["table"] += one.get("Table", {}).get("CapacityUnits", 0)
            for name, index in one.get("GlobalSecondaryIndexes", {}).items():
                units[name] += index["CapacityUnits"]
        return response

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        """Carry out several."""
        return [self.call(*request) for request in requests]


def metered(design: Design, call: Callable[[], object]) -> Meter:
    """What a call costs."""
    meter = Meter(design.store.transport)
    design.store.transport = meter
    try:
        call()
    finally:
        design.store.transport = meter.inner
    return meter


@dataclass
class Catalogue:
    """A catalogue on the embedded store, and what is in it."""

    design: Papers
    papers: dict[str, tuple[Paper, list[Membership]]]
    authors: Counter[str]
    topics: Counter[str]
    collections: Counter[str]

    @property
    def busiest(self) -> str:
        """The author with most papers."""
        return self.authors.most_common(1)[0][0]


def catalogue_of(source: Path | None = None, count: int = SAMPLED) -> Catalogue:
    """The catalogue of a bibliography, or the sample."""
    design = Papers.open(":memory:")
    if source is None:
        sample(design, count, _unseen)
    else:
        load(design, source, _unseen)
    entities = [design.compiled.entities[one] for one in (Paper, Membership, PaperTopic)]
    found: dict[str, tuple[Paper, list[Membership]]] = {}
    members: list[Membership] = []
    topics: Counter[str] = Counter()
    collections: Counter[str] = Counter()
    for item in _scan(design):
        match next((one.from_item(item) for one in entities if one.primary.values(item) is not None), None):
            case Paper() as paper:
                found[paper.paper_id] = (paper, [])
                if paper.published_at is not None:
                    collections[paper.collection] += 1
            case Membership() as member:
                members.append(member)
            case PaperTopic() as topic:
                topics[topic.topic] += 1
            case _:
                pass
    for member in members:
        found[member.paper_id][1].append(member)
    listed = Counter(member.handle for member in members if member.published_at is not None)
    return Catalogue(design, found, listed, topics, collections)


def _unseen(done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def _scan(design: Design, index: str | None = None) -> Iterator[dict[str, Any]]:
    request: dict[str, Any] = {"TableName": design.store.table_name, **({"IndexName": index} if index else {})}
    while True:
        response = design.store.transport.call("Scan", request)
        yield from response["Items"]
        if "LastEvaluatedKey" not in response:
            return
        request["ExclusiveStartKey"] = response["LastEvaluatedKey"]


def _filled(kind: type[Design], catalogue: Catalogue) -> Any:
    """An alternative with the catalogue's papers: what its own write would write, in batches."""
    design = kind.open(":memory:")
    write = kind.compiled.writes["add_paper"].function
    design.batch(
        Put(action.item)
        for paper, members in catalogue.papers.values()
        for action in write(design, paper, {one.handle: one.role for one in byline(members)})
    )
    return design


def _typical(catalogue: Catalogue, paper_id: str, *topics: str) -> tuple[Paper, dict[str, Any]]:
    """A paper to be added: three authors, and an abstract as long as those of the catalogue are."""
    abstracts = [len(paper.abstract) for paper, _ in catalogue.papers.values()]
    paper = Paper(
        paper_id=paper_id,
        title="A new paper about some questions",
        abstract="x" * (sum(abstracts) // len(abstracts)),
        collection=catalogue.collections.most_common(1)[0][0],
        status="published",
        published_at=now(),
        topics=set(topics),
    )
    return paper, {one: "author" for one, _ in catalogue.authors.most_common(3)}


def _said(units: Counter[str]) -> str:
    """Units in words: ``11 (GSI1 1, table 10)``."""
    parts = [f"{name} {amount:g}" for name, amount in sorted(units.items()) if amount]
    total = f"{sum(units.values()):g}"
    return total if len(parts) < 2 else f"{total} ({', '.join(parts)})"


def question_1(catalogue: Catalogue) -> Table:
    """Does the overloaded GSI1 survive author listings? A page of the busiest author, and what its partition gives."""
    rows: Table = [("", "units per page of A3", "units per paper", "pages/s, one author", "pages/s, all authors")]
    share = catalogue.authors[catalogue.busiest] / catalogue.authors.total()
    paper, authors = _typical(catalogue, "new")
    for name, design in (
        ("current design: GSI1 overloaded", catalogue.design),
        ("`AuthorsApart`: GSI4 for authors", _filled(AuthorsApart, catalogue)),
        ("`CardsOnMemberships`: GSI1 alone", _filled(CardsOnMemberships, catalogue)),
    ):
        page = metered(design, partial(design.papers_by_author, catalogue.busiest)).reads
        added = metered(design, partial(design.add_paper, paper, authors)).writes
        most = PARTITION_READS / max(units for index, units in page.items() if index != "table")
        rows.append((name, _said(page), _said(added), f"{most:,.0f}", f"{most / share:,.0f}"))
    catalogue.design.transact(_removal(paper, authors))
    return rows


def _removal(paper: Paper, authors: Mapping[str, Any]) -> list[Delete]:
    members = [Delete(Membership, paper_id=paper.paper_id, handle=one) for one in authors]
    topics = [Delete(PaperTopic, paper_id=paper.paper_id, topic=one) for one in paper.topics]
    return [Delete(paper), *members, *topics]


def question_2(catalogue: Catalogue) -> Table:
    """Should topics be on the paper, to drop GSI2? A page of a middling topic, and a topic of a new paper."""
    rows: Table = [("", "read units per page of A4", "requests per page", "write units per topic", "storage per topic")]
    ranked = sorted(catalogue.topics.items(), key=lambda one: (-one[1], one[0]))
    topic = ranked[len(ranked) // 2][0]
    plain, authors = _typical(catalogue, "plain")
    tagged, _ = _typical(catalogue, "about", "one topic", "two topics")
    for name, design in (
        ("current design: sparse GSI2", catalogue.design),
        ("`TopicsInTable`: partitions of the table", _filled(TopicsInTable, catalogue)),
        ("`TopicsFiltered`: on the paper only", _filled(TopicsFiltered, catalogue)),
    ):
        page = metered(design, partial(design.papers_on_topic, topic))
        sizes = [_stored_bytes(design)]
        units: list[Counter[str]] = []
        for paper in (plain, tagged):
            units.append(metered(design, partial(design.add_paper, paper, authors)).writes)
            sizes.append(_stored_bytes(design))
        each = Counter({one: (units[1][one] - units[0][one]) / 2 for one in units[1]})
        stored = ((sizes[2] - sizes[1]) - (sizes[1] - sizes[0])) // 2
        rows.append((name, _said(page.reads), f"{page.requests:,}", _said(each), f"{stored:,} B"))
    for paper in (plain, tagged):
        catalogue.design.transact(_removal(paper, authors))
    return rows


def _stored_bytes(design: Design) -> int:
    """Bytes that are billed: of every item and every index entry.

    A TTL is measured as ten significant digits: one that ends in zeros takes fewer bytes, so that the size would depend
    on the time of the measurement.
    """
    indexes = [one.name for one in design.table.indexes]
    items = [item for index in (None, *indexes) for item in _scan(design, index)]
    ttl = str(design.compiled.ttl_attribute)
    return sum(item_size(item | ({ttl: {"N": "1999999999"}} if ttl in item else {})) + ITEM_OVERHEAD for item in items)


def question_3(catalogue: Catalogue) -> Table:
    """Is a TTL warranted for superseded drafts? What a million of them cost when they stay, and when they go."""
    draft, authors = _typical(catalogue, "draft", "one topic", "two topics")
    draft = draft.model_copy(update={"status": "draft", "version": "0.1"})
    successor, _ = _typical(catalogue, "successor")
    with Papers.open(":memory:") as design:
        for handle in authors:
            design.add_author(Author(handle=handle, name=handle))
        design.add_paper(successor, authors)
        before = _stored_bytes(design)
        design.add_paper(draft, authors)
        design.new_version("draft", "0.2", abstract=draft.abstract)
        living = _stored_bytes(design) - before
        ttl = metered(design, partial(design.supersede, "draft", "successor")).writes
        left = _stored_bytes(design) - before
        listed = sum(one.paper_id == "draft" for one in design.papers_by_author(next(iter(authors))))
        removed = metered(
            design,
            partial(design.batch, [*_removal(draft, authors), Delete(PaperVersion, paper_id="draft", revision=1)]),
        ).writes
        assert _stored_bytes(design) <= before
    million = 1_000_000
    storage = million * left / GB * PRICES["TimedStorage-ByteHrs"]
    by_hand = million * sum(removed.values()) * PRICES["WriteRequestUnits"]
    return [
        ("a superseded draft", "value"),
        ("size while it is a draft, with its memberships, topics and an earlier version", f"{living:,} B"),
        ("size when it is superseded", f"{left:,} B"),
        ("entries in listings when it is superseded", f"{listed}"),
        ("cost of superseding it", f"{_said(ttl)} write units"),
        ("a million drafts, stored for a month", f"${storage:,.2f}"),
        ("a million drafts, deleted manually", f"${by_hand:,.2f} ({sum(removed.values()):g} write units each)"),
        ("a million drafts, deleted by TTL", "$0.00"),
    ]


def shown(table: Table) -> Iterator[str]:
    """A table as Markdown."""
    head, *rows = table
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def main() -> None:
    """Answer the questions for the catalogue that is named, or for the sample."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bibliography", nargs="?", type=Path, help="BibTeX or CSL-JSON; the sample without it")
    parser.add_argument("--count", type=int, default=SAMPLED, help="papers of the sample")
    given = parser.parse_args()
    catalogue = catalogue_of(given.bibliography, given.count)
    busiest = catalogue.authors[catalogue.busiest]
    print(
        f"{len(catalogue.papers):,} papers, "
        f"{catalogue.authors.total():,} memberships of {len(catalogue.authors):,} authors"
    )
    print(f"busiest author: {catalogue.busiest} with {busiest:,} ({busiest / catalogue.authors.total():.1%})")
    for number, table in enumerate((question_1(catalogue), question_2(catalogue), question_3(catalogue)), 1):
        print(f"\n{number}.\n", *shown(table), sep="\n")


if __name__ == "__main__":
    main()
