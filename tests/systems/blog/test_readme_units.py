"""The units in the README's tables equal the metered units, on a sample of 60 posts, and nightly with 100,000 items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import ContactMessage
from keyplan_systems.blog.sample import sample, whole_post
from tests.seeds import NEW
from tests.systems.blog.read_arguments import SAMPLED, arguments, completed
from tests.systems.blog.support import new_user, published, recorded, silent
from tests.systems.blog.test_readme import rows
from tests.systems.measuring import session_calls

LARGE = 5_000
"""Posts that are 100,000 items together."""
NUMBER = r"([\d.]+)(?:–([\d.]+))?"
EACH = {"posts_by_tags": 10, "users": 2, "tags": 5, "counters": 2, "posts": 1}
"""The number of posts, users, tags, shards or authors in a call, for rows with costs per item."""
TEXT_MAX = 2.5
"""Units that the longest text of the sample takes, which the table leaves open."""


@pytest.fixture(scope="module", params=[SAMPLED, *([LARGE] if NEW else [])])
def sampled(request: pytest.FixtureRequest) -> Iterator[Blog]:
    with Blog.open(":memory:") as blog:
        sample(blog, request.param, silent)
        completed(blog)
        yield blog


def bounds(text: str, count: int) -> tuple[float, float]:
    """Return the minimum and the maximum in a table cell."""
    match = re.match(rf"{NUMBER}(?: \+ {NUMBER})?( per \w+| for 4 KB|, more for longer texts)?", text)
    assert match is not None, text
    least, most = float(match[1]), float(match[2] or match[1])
    if match[3]:
        return least + float(match[3]) * 0, most + float(match[4] or match[3]) * count
    if match[5] in {" for 4 KB", ", more for longer texts"}:
        return least, most + TEXT_MAX
    return (0.5, most * count) if match[5] else (least, most)


def test_each_read_costs_the_units_listed_in_the_readme(sampled: Blog) -> None:
    cells = {match[1]: row[3] for row in rows("Read patterns") if (match := re.match(r"`(\w+)\(", row[1]))}
    wrong: dict[str, tuple[str, float]] = {}
    for name, given in arguments().items():
        recorder = recorded(sampled)
        try:
            sampled.call(name, {**given, "limit": 10} if "limit" in given else given)
        finally:
            sampled.store.transport = recorder.inner
        units = recorder.units()
        least, most = bounds(cells[name], EACH.get(name, 1))
        if not least <= units <= most:
            wrong[name] = (cells[name], units)
    assert wrong == {}


def writes(blog: Blog) -> dict[str, Callable[[], object]]:
    """Return calls of the writes that have a total in the table, by id, in an order in which all succeed."""
    ada, eve = new_user(blog, "ada", role="author"), new_user(blog, "eve")
    post = published(blog, ada, "one", ("a",))
    other = published(blog, ada, "two", ("a",))
    at = datetime(2026, 11, 1, tzinfo=UTC)
    message = ContactMessage(message_id="m", name="n", email="a@example.com", text="t", at=at)
    first: list[Any] = []
    return {
        "W8": lambda: blog.edit_profile(eve.user_id, "Eve", "Reads."),
        "W9": lambda: blog.set_role(eve.user_id, "author"),
        "W11": lambda: blog.count_view(post.post_id),
        "W12": lambda: blog.view_post(post.post_id, eve.user_id),
        "W13": lambda: blog.like_post(post.post_id, eve.user_id),
        "W14": lambda: blog.unlike_post(post.post_id, eve.user_id),
        "W15": lambda: blog.rate_post(post.post_id, eve.user_id, 4),
        "W16": lambda: blog.view_user(eve.user_id, ada.user_id),
        **{identity: call for identity, call in session_calls(blog).items() if identity > "L2"},
        "W24": lambda: blog.end_sessions(eve.user_id),
        "W26": lambda: blog.link_provider(eve.user_id, "github", "7"),
        "W27": lambda: blog.send_message(message),
        "W28": lambda: blog.handle_message("2026-11", at, "m"),
        "W29": lambda: blog.delete_message("2026-11", at, "m"),
        "W31": lambda: blog.lead("/old", other.post_id),
        "W32": lambda: blog.note_upload(eve.user_id, "a.png"),
        "W33": lambda: first.append(blog.add_comment(post.post_id, eve.user_id, "Yes.")),
        "W35": lambda: blog.moderate_comment(post.post_id, first[0].thread_id, first[0].comment_id, "hidden"),
        "W40": lambda: blog.name_co_authors(post.post_id, (eve.user_id,)),
    }


READS = {"GetItem", "BatchGetItem", "Query"}


def test_each_write_costs_the_units_listed_in_the_readme(blog: Blog) -> None:
    cells = {row[0]: row[3] for row in rows("Write patterns")}
    wrong: dict[str, tuple[str, float, float]] = {}
    for identity, call in writes(blog).items():
        recorder = recorded(blog)
        try:
            call()
        finally:
            blog.store.transport = recorder.inner
        recorder.made[:] = [made for made in recorder.made if made[0] not in READS]
        places = recorder.units_by_place()
        table = places.pop("table")
        said = [float(part) for part in cells[identity].partition(" for ")[0].split(" + ")]
        if [table, *([sum(places.values())] if places else [])] != said:
            wrong[identity] = (cells[identity], table, sum(places.values()))
    assert wrong == {}


def test_the_largest_sample_posts_have_the_size_listed_in_the_readme() -> None:
    sizes = [len(whole_post(number).content.content.encode()) for number in range(20)]
    assert max(sizes) < TEXT_MAX * 2 * 4096
