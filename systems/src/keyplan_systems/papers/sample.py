"""The sample of the catalogue: collections of different size; a few authors have most of the papers.

Times are relative to the first sampling. Otherwise, paper number n is the same in every sample. Sampling again adds
only what is missing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial

from keyplan import Put, now
from keyplan.systems import Progress
from keyplan_systems.papers.design import (
    Author,
    Collection,
    Credential,
    FullText,
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

HOURS_A_PAPER = 31
KEPT_UNTIL = datetime(2126, 1, 1, tzinfo=UTC)
"""The sample's superseded drafts don't expire."""
DEMO_USERS = ("ada-almeida", "barbara-almeida")
"""The authors with a password."""
DEMO_PASSWORD = "read before you cite"  # noqa: S105 - the sample's password, which the documentation publishes
DEMO_HASH = "$argon2id$v=19$m=65536,t=3,p=4$APznA8Q4IH4rTxwI4z8s3g$faz/7nex0/GR007Z6pmb6NjUGMnH1OhYsYM7X7W4Wss"
"""The hash of the password, fixed because hashing takes time."""
STEP = 50
"""Number of papers written at a time."""
AUTHORS = 80
"""Number of authors of the first papers."""
STEADY = 1000
"""The number of papers above which there are more authors."""
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
    """A paper with its parts."""

    paper: Paper
    members: list[Membership]
    topics: list[PaperTopic]
    versions: list[PaperVersion]
    text: FullText | None


def sample(design: Papers, count: int, progress: Progress) -> int:
    """Write sample papers 0 to ``count`` and all authors; returns the number of new papers.

    A paper is written after its parts, so an interrupted sample is completed by the next one.
    """
    first = design.paper(paper_id(0))
    newest = (
        now().replace(second=0, microsecond=0) if first is None or first.published_at is None else first.published_at
    )

    def write(numbers: range) -> int:
        wholes = [whole_paper(number, newest) for number in numbers]
        new = not_there(design, wholes, lambda whole: whole.paper, "paper_id")
        design.batch(Put(item) for whole in new for item in (*whole.members, *whole.topics, *whole.versions))
        design.batch(Put(whole.text) for whole in new if whole.text is not None)
        design.batch(Put(whole.paper) for whole in new)
        shown = {whole.paper.collection for whole in new if whole.paper.status == "published"}
        design.batch(Put(Collection(collection=name)) for name in sorted(shown))
        return len(new)

    progress(0, count)
    design.batch(map(Put, not_there(design, authors(count), lambda author: author, "handle")))
    credentials = [Credential(handle=handle, password_hash=DEMO_HASH) for handle in DEMO_USERS]
    design.batch(map(Put, not_there(design, credentials, lambda credential: credential, "handle")))
    added = in_steps(count, STEP, write, progress)
    refill_beside(design.store.url, partial(rebuild, design))
    return added


def authors(count: int = 0) -> tuple[Author, ...]:
    """The authors of the first ``count`` papers, those with most papers first."""
    return tuple(_author(number) for number in range(_people(count)))


def _people(number: int) -> int:
    """The number of authors at the time of a paper."""
    return AUTHORS + max(0, number - STEADY) // PAPERS_AN_AUTHOR


@cache
def _author(number: int) -> Author:
    first, last = NAMES[number % len(NAMES)], SURNAMES[number // len(NAMES) % len(SURNAMES)]
    name = " ".join((first, *_initials(number // AUTHORS), last))
    handle = name.lower().replace(".", "").replace(" ", "-")
    return Author(handle=handle, name=name, affiliation=PLACES[number % len(PLACES)])


def _initials(namesakes: int) -> list[str]:
    """Initials that distinguish authors of one name: "A.", "B.", …, "A. A."."""
    result: list[str] = []
    while namesakes:
        namesakes, letter = divmod(namesakes - 1, 26)
        result.insert(0, f"{chr(ord('A') + letter)}.")
    return result


def paper_id(number: int) -> str:
    return f"wp-{number:04d}"


def whole_paper(number: int, newest: datetime) -> WholePaper:
    """Sample paper ``number``, as the catalogue's writes would leave it. Paper 0 is published."""
    chance = random.Random(f"keyplan papers {number}")  # noqa: S311 - reproducible sample data
    added = newest - timedelta(hours=number * HOURS_A_PAPER, minutes=chance.randrange(600) if number else 0)
    statuses: tuple[Status, ...] = ("published", "draft", "superseded")
    status = chance.choices(statuses, (80, 14 if number else 0, 6 if number else 0))[0]
    was_draft = status == "superseded" and chance.random() < 0.5
    dated = None if was_draft else added
    title = chance.choice(ANGLES).format(chance.choice(SUBJECTS))
    texts = [
        " ".join(chance.sample(SENTENCES, chance.randrange(4, 8)))
        for _ in range(chance.choices((1, 2, 3, 5), (6, 3, 2, 1))[0])
    ]
    carried = set(chance.choices(TOPICS, zipf(len(TOPICS)), k=chance.randrange(4)))
    paper = Paper(
        paper_id=paper_id(number),
        title=title,
        abstract=texts[-1],
        collection=chance.choices([element[0] for element in COLLECTIONS], [element[1] for element in COLLECTIONS])[0],
        version=_version(status, len(texts) - 1, was_draft=was_draft),
        revision=len(texts),
        status=status,
        published_at=dated,
        updated_at=min(newest, added + timedelta(hours=len(texts) - 1)),
        topics=carried,
        superseded_by=paper_id(number - 1) if status == "superseded" else None,
        expires_at=KEPT_UNTIL if was_draft else None,
    )
    listed = [] if dated is None or status == "superseded" else sorted(carried)
    topics = [PaperTopic(paper_id=paper.paper_id, topic=text, published_at=added) for text in listed]
    versions = [_replaced(paper, at, text, added, was_draft=was_draft) for at, text in enumerate(texts[:-1])]
    return WholePaper(paper, _members(chance, number, paper), topics, versions, _text(chance, paper))


def _text(chance: random.Random, paper: Paper) -> FullText | None:
    """The full text of two papers in three."""
    if chance.random() < 1 / 3:
        return None
    paragraphs = [
        " ".join(chance.choices(SENTENCES, k=chance.randrange(5, 12))) for _ in range(chance.randrange(8, 25))
    ]
    return FullText(paper_id=paper.paper_id, text="\n\n".join(paragraphs))


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
    """Revision ``at`` + 1, as stored after the next revision replaced it."""
    draft = was_draft or paper.status == "draft"
    return PaperVersion(
        paper_id=paper.paper_id,
        revision=at + 1,
        version=_version(paper.status, at, was_draft=was_draft),
        title=paper.title,
        abstract=text,
        was="draft" if draft else "published",
        replaced_at=added + timedelta(hours=at + 1),
        expires_at=KEPT_UNTIL if draft else None,
    )


def _version(status: Status, at: int, *, was_draft: bool) -> str:
    """The name of revision ``at`` + 1: 0.1, 0.2, … of drafts, 1.0, 1.1, … of published papers."""
    return f"0.{at + 1}" if status == "draft" or was_draft else f"1.{at}"
