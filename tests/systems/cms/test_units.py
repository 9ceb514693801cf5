"""The requests and units in the README equal the metered requests and units (nightly also with 100,000 items)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

import keyplan_systems.cms
from keyplan_systems.cms import Article, Cms
from keyplan_systems.cms.entities import Member
from keyplan_systems.cms.publishing import token_hash
from keyplan_systems.cms.sample import sample
from tests.seeds import NEW
from tests.systems.measuring import check_rows, session_calls, text_of
from tests.systems.support import silent

README = text_of(keyplan_systems.cms)
LARGE = 7_500
"""Articles that are 100,000 items together."""
BODY = "word " * 1600
"""8 KB."""


@pytest.fixture(params=[10, *([LARGE] if NEW else [])])
def cms(request: pytest.FixtureRequest) -> Iterator[Cms]:
    """Return a store with the sample and ten articles with texts of 8 KB. The article ``m0`` has ten versions."""
    with Cms.open(":memory:") as opened:
        sample(opened, request.param, silent)
        for number in range(10):
            opened.create_article(article(f"m{number}", "measured", "units"))
            opened.publish(f"m{number}", BODY, "u_m")
        for _ in range(9):
            opened.publish("m0", BODY, "u_m")
        yield opened


def article(name: str, *tags: str) -> Article:
    """Return an article that is first in every list."""
    at = datetime(2028, 1, 1, tzinfo=UTC)
    return Article(article_id=name, title="A title", slug=name, author_id="u_m", tags=set(tags), created_at=at)


def calls(cms: Cms) -> dict[str, Callable[[], object]]:
    """Return a call of each read and write of an article, by pattern id."""
    return {
        "AP1": lambda: cms.article("m0"),
        "AP2": lambda: cms.article_with_latest("m0"),
        "AP3": lambda: cms.article_version("m0", 1),
        "AP4": lambda: cms.article_versions("m0", limit=10),
        "AP5": lambda: cms.articles_by_author("u_m", limit=5),
        "AP6": lambda: cms.articles_by_tag("measured", limit=5),
        "AP7": lambda: cms.tags_of_article("m0"),
        "R1": lambda: cms.article_history("m0"),
        "R2": lambda: cms.version_cards("m0", limit=10),
        "R3": lambda: cms.version_card("m0", 1),
        "R4": lambda: cms.articles_by_state("published", limit=5),
        "R5": lambda: cms.article_by_slug("m0"),
        "P1": lambda: cms.published_articles(limit=10),
        "P2": lambda: cms.published_by_tag("measured", limit=20),
        "P3": lambda: cms.published_by_author("u_m", limit=20),
        "P4": lambda: cms.preview(token_hash("none")),
        "AP8": lambda: cms.publish("m1", BODY, "u_m"),
        "W1": lambda: cms.create_article(article("new", "measured", "units")),
        "W2": lambda: cms.retag("m2", {"measured", "other"}),
        "W3": lambda: cms.edit("m3", "Another title", "m3"),
        "W4": lambda: cms.archive("m4"),
        "W5": lambda: cms.delete_article("m5"),
        "W6": lambda: cms.save_draft("m6", BODY, "u_m"),
        "W7": lambda: cms.unarchive("m4"),
        "W8": lambda: cms.publish_version("m6", 2),
        "W9": lambda: cms.unpublish("m6"),
        "W10": lambda: cms.restore_version("m7", 1, "u_m"),
        "W11": lambda: cms.share_preview("m7", "u_m"),
        "W12": lambda: cms.revoke_preview("none"),
    }


def calls_of_members(cms: Cms) -> dict[str, Callable[[], object]]:
    """Return a call of each pattern for members and sessions, by pattern id."""
    member = Member(member_id="u_m", email="m@example.com", name="M")
    return {
        "M1": lambda: cms.member("u_01"),
        "M2": lambda: cms.member_by_email("editor@example.com"),
        "M3": lambda: cms.members(limit=5),
        "M4": lambda: cms.credential("u_01"),
        "M5": lambda: cms.founded("cms"),
        "W13": lambda: cms.join(member, "hash"),
        "W14": lambda: cms.set_role("u_m", "editor"),
        "W15": lambda: cms.set_password("u_m", "hash", "new hash"),
        **session_calls(cms),
    }


def test_each_pattern_costs_the_units_listed_in_the_readme(cms: Cms) -> None:
    check_rows(cms, README, "Access patterns", {**calls(cms), **calls_of_members(cms)})


def test_reading_ten_versions_without_bodies_costs_less_than_a_unit() -> None:
    rows = {row.split(" | ")[0].strip("| "): row for row in README.splitlines() if row.startswith("| ")}
    assert "0.5 read" in rows["R2"]
