"""The sample of the paper catalogue: collections of very different size, and some authors who write most of the papers.

Paper number n is the same in every sample, whatever its size. What is there already is left as it is, so sampling again
changes nothing, not even what was published since.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial

from keyplan import Put
from keyplan.systems import Progress
from keyplan_systems.papers.design import (
    Author,
    Collection,
    Membership,
    Paper,
    Papers,
    PaperTopic,
    PaperVersion,
    Role,
    Status,
)
from keyplan_systems.papers.searching import rebuild
from keyplan_systems.sampling import drawn, in_steps, not_there, zipf
from keyplan_systems.site.searching import refill_beside

__all__ = ["NEWEST", "WholePaper", "authors", "sample", "whole_paper"]

NEWEST = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
"""When paper 0 was added; each further one was added some hours earlier."""
KEPT_UNTIL = datetime(2126, 1, 1, tzinfo=UTC)
"""The sample's superseded drafts don't expire: it is to be the same each time."""
STEP = 50
"""Papers written at a time."""
AUTHORS = 80
"""Who write the first papers."""
STEADY = 1000
"""After so many papers more authors join: a catalogue grows in people, and not only in papers."""
PAPERS_AN_AUTHOR = 25

COLLECTIONS = (("data-and-storage", 9), ("distributed-systems", 5), ("interfaces", 3), ("languages", 2), ("ethics", 1))
"""The collections with their weights."""
TOPICS: tuple[str, ...] = (
    "dynamodb", "single-table", "indexes", "cost", "consistency", "caching", "queues", "transactions", "time-series",
    "search", "testing", "privacy", "compilers", "accessibility", "replication",
)  # fmt: skip
NAMES = ("Ada", "Barbara", "Chen", "Dmitri", "Edsger", "Fatima", "Grace", "Hiro", "Ines", "Jon")
SURNAMES = ("Almeida", "Brandt", "Castillo", "Dubois", "Eriksen", "Fischer", "Gupta", "Hansen")
PLACES = ("Prosyon Research", "University of Basel", "TU Delft", "Universidad de Chile", None)
SUBJECTS = (
    "Overloaded Indexes", "Sparse Indexes", "Sharded Counters", "Write Amplification", "Item Collections",
    "Access Patterns", "Idle Costs", "Merged Feeds", "Idempotent Writes", "Cursor Stability", "Hot Keys", "Event Logs",
)  # fmt: skip
ANGLES = (
    "{} in Practice", "A Measured Look at {}", "What {} Cost", "Rethinking {}", "{} under Load", "Notes on {}",
    "{}: Lessons from Ten Tables", "Testing {}",
)  # fmt: skip
SENTENCES = (
    "We begin with the questions that an application asks, and derive the keys from them.",
    "The results were measured on three tables of different size over two months.",
    "An index that few items belong to turned out to be the cheapest way to answer a rare question.",
    "Most of the cost came from writes that changed a sort key.",
    "We describe where the model failed, and which condition would have prevented it.",
    "Readers noticed no difference between eventual and strong consistency in any listing.",
    "A single partition carried nearly half of the traffic, although its key looked harmless.",
    "Denormalised fields were kept equal by transactions, at twice the price of plain writes.",
    "The paper closes with a list of questions that remain open.",
    "All numbers can be reproduced with the scripts that accompany the text.",
)


@dataclass(frozen=True)
class WholePaper:
    """A paper with everything in its partition."""

    paper: Paper
    members: list[Membership]
    topics: list[PaperTopic]
    versions: list[PaperVersion]


def sample(design: Papers, count: int, progress: Progress) -> int:
    """Write sample papers 0 to ``count`` and all authors; gives how many papers weren't there yet.

    What belongs to a paper goes before it: if the sample is interrupted, the next one finds it missing and writes it
    whole.
    """

    def write(numbers: range) -> int:
        wholes = [whole_paper(number) for number in numbers]
        new = not_there(design, wholes, lambda whole: whole.paper, "paper_id")
        design.batch(Put(item) for whole in new for item in (*whole.members, *whole.topics, *whole.versions))
        design.batch(Put(whole.paper) for whole in new)
        shown = {whole.paper.collection for whole in new if whole.paper.status == "published"}
        design.batch(Put(Collection(collection=name)) for name in sorted(shown))
        return len(new)

    progress(0, count)
    design.batch(map(Put, not_there(design, authors(count), lambda author: author, "handle")))
    added = in_steps(count, STEP, write, progress)
    refill_beside(design.store.url, partial(rebuild, design))
    return added


def authors(count: int = 0) -> tuple[Author, ...]:
    """All authors of the first so many papers, those who write most first."""
    return tuple(_author(number) for number in range(_people(count)))


def _people(number: int) -> int:
    """The authors that there are when paper ``number`` is written."""
    return AUTHORS + max(0, number - STEADY) // PAPERS_AN_AUTHOR


@cache
def _author(number: int) -> Author:
    first, last = NAMES[number % len(NAMES)], SURNAMES[number // len(NAMES) % len(SURNAMES)]
    name = " ".join((first, *_initials(number // AUTHORS), last))
    handle = name.lower().replace(".", "").replace(" ", "-")
    return Author(handle=handle, name=name, affiliation=PLACES[number % len(PLACES)])


def _initials(namesakes: int) -> list[str]:
    """What tells an author from so many before of that name: "A.", "B.", …, "A. A."."""
    result: list[str] = []
    while namesakes:
        namesakes, letter = divmod(namesakes - 1, 26)
        result.insert(0, f"{chr(ord('A') + letter)}.")
    return result


def whole_paper(number: int) -> WholePaper:
    """Sample paper ``number``, as the catalogue's own writes would have left it."""
    chance = random.Random(f"keyplan papers {number}")  # noqa: S311 - a sample, and the same one each time
    added = NEWEST - timedelta(hours=number * 31, minutes=chance.randrange(600))
    statuses: tuple[Status, ...] = ("published", "draft", "superseded")
    status = chance.choices(statuses, (80, 14, 6 if number else 0))[0]
    was_draft = status == "superseded" and chance.random() < 0.5
    dated = None if was_draft else added
    title = chance.choice(ANGLES).format(chance.choice(SUBJECTS))
    texts = [
        " ".join(chance.sample(SENTENCES, chance.randrange(4, 8)))
        for _ in range(chance.choices((1, 2, 3, 5), (6, 3, 2, 1))[0])
    ]
    carried = set(chance.choices(TOPICS, zipf(len(TOPICS)), k=chance.randrange(4)))
    paper = Paper(
        paper_id=f"wp-{number:04d}",
        title=title,
        abstract=texts[-1],
        collection=chance.choices([element[0] for element in COLLECTIONS], [element[1] for element in COLLECTIONS])[0],
        version=_version(status, len(texts) - 1, was_draft=was_draft),
        revision=len(texts),
        status=status,
        published_at=dated,
        updated_at=added + timedelta(days=len(texts) - 1),
        topics=carried,
        superseded_by=f"wp-{number - 1:04d}" if status == "superseded" else None,
        expires_at=KEPT_UNTIL if was_draft else None,
    )
    listed = [] if dated is None or status == "superseded" else sorted(carried)
    topics = [PaperTopic(paper_id=paper.paper_id, topic=text, published_at=added) for text in listed]
    versions = [_replaced(paper, at, text, added, was_draft=was_draft) for at, text in enumerate(texts[:-1])]
    return WholePaper(paper, _members(chance, number, paper), topics, versions)


def _members(chance: random.Random, number: int, paper: Paper) -> list[Membership]:
    count = chance.choices((1, 2, 3, 5), (4, 4, 2, 1))[0]
    writers = dict.fromkeys(drawn(chance, _people(number)) for _ in range(count))
    memberships: list[Membership] = []
    for position, author in enumerate(map(_author, writers), 1):
        role: Role = "author" if position == 1 or chance.random() < 0.8 else "contributor"
        memberships.append(
            Membership(
                paper_id=paper.paper_id,
                handle=author.handle,
                role=role,
                position=position,
                name=author.name,
                published_at=paper.published_at,
                expires_at=paper.expires_at,
            )
        )
    return memberships


def _replaced(paper: Paper, at: int, text: str, added: datetime, *, was_draft: bool) -> PaperVersion:
    """The version that revision ``at`` + 1 was, as the one after it left it."""
    draft = was_draft or paper.status == "draft"
    return PaperVersion(
        paper_id=paper.paper_id,
        revision=at + 1,
        version=_version(paper.status, at, was_draft=was_draft),
        title=paper.title,
        abstract=text,
        was="draft" if draft else "published",
        replaced_at=added + timedelta(days=at + 1),
        expires_at=KEPT_UNTIL if draft else None,
    )


def _version(status: Status, at: int, *, was_draft: bool) -> str:
    """The name of revision ``at`` + 1: drafts are 0.1, 0.2 and so on, what was published 1.0, 1.1."""
    return f"0.{at + 1}" if status == "draft" or was_draft else f"1.{at}"
