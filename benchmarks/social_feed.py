"""The social network's feed on read and on write: requests, units and time of a page and of a post, and the import.

Requests and units are exact on every machine; tests/systems/social asserts them. Times are the minimum of some calls on
the embedded store in a file. ``--write`` writes the tables to docs/benchmarks-systems.md; ``--graph FILE`` also
measures the import of an edge list.

Run it with ``make bench-systems``.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from keyplan.client.conversations import Request, Transport
from keyplan_systems.social import Social, limits
from keyplan_systems.social.bulk import add_follows, add_posts, add_users
from keyplan_systems.social.entities import Following, Post, User
from keyplan_systems.social.loader import load

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks-systems.md"
BEGIN, END = "<!-- social_feed: begin -->", "<!-- social_feed: end -->"
ROUNDS = 15
FRIENDS = "friendships"
TEXT = (
    "A post of the usual length says what it has to say in some hundred and forty letters, and leaves "
    "the rest to its readers: them."
)
READ_PRICE, WRITE_PRICE = 0.125, 0.625
"""USD for a million request units, on demand, in us-east-1."""


@dataclass
class Meter:
    """Counts the requests, parallel rounds and units that go by."""

    inner: Transport
    requests: int = 0
    rounds: int = 0
    units: float = 0.0

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.rounds += 1
        return self._call(operation, parameters)

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        self.rounds += 1
        return [self._call(*request) for request in requests]

    def _call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.requests += 1
        response = self.inner.call(operation, {**parameters, "ReturnConsumedCapacity": "TOTAL"})
        consumed = response.get("ConsumedCapacity") or []
        self.units += sum(one["CapacityUnits"] for one in (consumed if isinstance(consumed, list) else [consumed]))
        return response


def metered(social: Social, call: Callable[[], object]) -> Meter:
    """What a call asks."""
    meter = Meter(social.store.transport)
    social.store.transport = meter
    try:
        call()
    finally:
        social.store.transport = meter.inner
    return meter


def milliseconds(call: Callable[[], object], times: int = ROUNDS) -> float:
    """The least time of a call."""
    call()
    found: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        found.append(time.perf_counter() - begun)
    return min(found) * 1000


@contextmanager
def thresholds(read_max: int, audience_max: int) -> Iterator[None]:
    """Other thresholds for a while."""
    before = limits.READ_MAX, limits.AUDIENCE_MAX
    limits.READ_MAX, limits.AUDIENCE_MAX = read_max, audience_max
    try:
        yield
    finally:
        limits.READ_MAX, limits.AUDIENCE_MAX = before


def crowd(social: Social, number: int, posts: int) -> None:
    """A reader, and so many authors, each with posts of all times."""
    add_users(social, [User(user_id="reader", handle="reader", name="Reader")])
    add_users(social, (User(user_id=f"a{one}", handle=f"a{one}", name=f"Author {one}") for one in range(number)))
    add_posts(social, (Post(user_id=f"a{one}", text=TEXT) for _ in range(posts) for one in range(number)))
    add_follows(social, (Following(user_id="reader", followed_id=f"a{one}") for one in range(number)))


def pages(folder: Path) -> Iterator[tuple[str, ...]]:
    """A page of 20 for readers who follow 20, 200 and 5,000, each way."""
    on_read, on_write, both = (10**9, 0), (0, 10**9), (limits.READ_MAX, limits.AUDIENCE_MAX)
    for followed, posts in ((20, 20), (200, 20), (5000, 2)):
        for way, given in (("on read", on_read), ("on write", on_write), ("as in the system", both)):
            with thresholds(*given), Social.open(folder / f"{followed}-{way}.db") as social:
                crowd(social, followed, posts)
                page = partial(social.feed, "reader")
                meter, taken = metered(social, page), milliseconds(page)
                yield (
                    f"{followed:,}",
                    way,
                    f"{meter.requests:,}",
                    f"{meter.rounds:,}",
                    f"{meter.units:,.1f}",
                    f"{meter.units * READ_PRICE:,.2f}",
                    f"{taken:,.1f}",
                )


def posts_of(folder: Path) -> Iterator[tuple[str, ...]]:
    """A post of an author with 0, 100 and 1,000 timelines to deliver to."""
    for audience in (0, 100, 1000):
        with thresholds(0, audience), Social.open(folder / f"post-{audience}.db") as social:
            add_users(social, (User(user_id=f"r{one}", handle=f"r{one}", name="R") for one in range(audience + 1)))
            add_users(social, [User(user_id="author", handle="author", name="Author")])
            add_follows(social, (Following(user_id=f"r{one}", followed_id="author") for one in range(audience + 1)))
            post = partial(social.publish, "author", TEXT)
            meter, taken = metered(social, post), milliseconds(post, 5)
            yield (
                f"{audience:,}",
                f"{meter.requests:,}",
                f"{meter.units:,.1f}",
                f"{meter.units * WRITE_PRICE:,.2f}",
                f"{taken:,.1f}",
            )


def imported(folder: Path, graph: Path) -> str:
    """The import of an edge list, in words."""
    with Social.open(folder / "graph.db") as social:
        begun = time.perf_counter()
        report = load(social, graph, silent)
        first = time.perf_counter() - begun
        begun = time.perf_counter()
        load(social, graph, silent)
        again = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"Importing `{graph.name}` ({report.loaded:,} {FRIENDS}, {2 * report.loaded:,} follows) took {first:.0f} s "
        f"({2 * report.loaded / first:,.0f} follows per second) and reported {len(report.errors)} invalid line. "
        f"A second import took {again:.0f} s. The peak memory was {memory:.0f} MB, including the benchmark."
    )


def silent(done: int, total: int | None) -> None:
    """Progress."""


def table(names: list[str], rows: list[tuple[str, ...]], left: int) -> str:
    """A table in Markdown; all but the first ``left`` columns are numbers."""
    marks = ["---"] * left + ["--:"] * (len(names) - left)
    return "\n".join("| " + " | ".join(row) + " |" for row in [tuple(names), tuple(marks), *rows])


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks-systems.md")
    parser.add_argument("--graph", type=Path, help="an edge list to import")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = [
            "Reading a page of 20 posts:",
            table(
                ["follows", "feed", "requests", "rounds", "read units", "USD per million pages", "ms"],
                list(pages(folder)),
                2,
            ),
            "Writing a post:",
            table(["timelines", "requests", "units", "USD per million posts", "ms"], list(posts_of(folder)), 1),
        ]
        known = PAGE.read_text(encoding="utf-8").splitlines()
        parts += [imported(folder, options.graph)] if options.graph else [one for one in known if FRIENDS in one]
    where = f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores."
    text = "\n\n".join([*parts, where])
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
