"""Known flaws of published designs, and the finding that reports each. Two flaws aren't visible in a design:
the blog's document and template have different index names, and the social network has no messages between users.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from keyplan.analysis.check import Report, check
from keyplan.analysis.check.checking import refused
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.cli.designs import find
from keyplan.errors import DesignError
from tests.repository.files import ROOT

TRAFFIC: dict[str, dict[str, Any]] = {
    "blog": {"patterns": {"view": {"per_second": 1000, "peak_per_second": 10_000, "hottest": 1}}},
    "social": {"patterns": {"feed": {"items": 5000}, "followers": {"items": 1_000_000}}},
}

KNOWN = [
    ("B8 wants strong consistency of an index", "blog_sign_in", "KP100", "BlogSignIn.user_by_email"),
    ("B8: an index doesn't keep emails unique either", "blog", "KP305", "Blog.user_by_email"),
    ("two plain puts aren't atomic", "blog", "KP307", "Blog.create_post"),
    ("two posts can take one slug", "blog", "KP306", "Blog.create_post"),
    ("created_at and created_at_sk", "blog", "KP206", "Post.by_status_created"),
    ("status values are spelt in several ways", "blog", "KP205", "Post.status"),
    ("all published posts in one partition: latest", "blog", "KP202", "Post.by_status_created"),
    ("all published posts in one partition: popular", "blog", "KP202", "Post.by_status_rating"),
    ("each view rewrites the rating: two write units", "blog", "KP209", "Blog.view"),
    ("each view pays for the whole post", "blog", "KP508", "Blog.view"),
    ("10,000 views a second on one hot key", "blog", "KP501", "Post.by_status_rating"),
    ("10,000 views a second on one post", "blog", "KP501", "Post.primary"),
    ("2^n - 1 combinations of tags", "blog", "KP102", "PostTagCombo.tags"),
    ("one partition of contact messages grows for ever", "blog", "KP201", "ContactMessage.primary"),
    ("two messages of one moment", "blog", "KP204", "ContactMessage.primary"),
    ("bodies are copied into every index", "blog", "KP503", "Post"),
    ("an index that its slug items replace", "blog", "KP401", "POSTS_BY_SLUG"),
    ("a new index for every new query", "blog", "KP405", "Blog.table"),
    ("VERSION#10 sorts before VERSION#2", "cms_numbers", "KP100", "ArticleVersion.primary"),
    ("metadata and newest version in one query", "cms_latest", "KP100", "CmsLatest.article_with_latest"),
    ("publish reads, then writes without a condition", "cms", "KP308", "Cms.publish_version"),
    ("two publishers write the same version", "cms", "KP306", "Cms.publish_version"),
    ("a body over 400 KB", "cms", "KP103", "ArticleVersion.body"),
    ("timestamps have minutes", "social_minutes", "KP100", "Post.primary"),
    ("followers are asked for, following is written", "social", "KP309", "Follower"),
    ("a reader who follows 5,000", "social", "KP304", "Social.feed"),
    ("a user with a million followers", "social", "KP303", "Social.followers"),
    ("the header stands with the user, its lines with the order", "shop_details", "KP100", "ShopDetails.order_details"),
    ("scan and filter in the app", "red_flags", "KP301", "RedFlags.scanned"),
    ("a GSI for every new query", "red_flags", "KP401", "LATER"),
    ("one partition key for the whole system", "red_flags", "KP201", "Order.primary"),
    ("status as partition key", "red_flags", "KP202", "Order.by_status"),
    ("country as partition key", "red_flags", "KP202", "Order.by_country"),
    ("the current hour as partition key", "red_flags", "KP203", "Order.by_hour"),
]  # fmt: skip

"""What the five systems' documents get wrong, and the rule and the place that show it."""

FOUND: dict[str, dict[str, str]] = {
    "battle_royale": {"KP303": "BattleRoyale.game BattleRoyale.games_of", "KP407": "BattleRoyale.open_games_of_map"},
    "blog": {
        "KP102": "PostTagCombo.tags",
        "KP103": "Post.content",
        "KP201": "ContactMessage.primary PostTag.by_name PostTag.by_rating",
        "KP202": "Post.by_status_created Post.by_status_rating User.by_status_created User.by_status_rating",
        "KP204": "ContactMessage.primary",
        "KP205": "Post.status",
        "KP206": "Post.by_status_created Post.by_user_status User.by_status_created",
        "KP209": "Blog.view",
        "KP305": "Blog.user_by_email Blog.user_by_username",
        "KP306": "Blog.create_post",
        "KP307": "Blog.create_post",
        "KP309": "ContactMessage PostTag PostTagCombo ProviderUser User",
        "KP401": "POSTS_BY_SLUG",
        "KP405": "Blog.table",
        "KP501": "Post.by_slug Post.by_status_created Post.by_status_rating Post.by_user_status Post.primary",
        "KP502": "Post User",
        "KP503": "Post",
        "KP504": (
            "Blog.table POSTS_BY_SLUG "
            "POSTS_BY_STATUS_CREATED_AT_2 POSTS_BY_STATUS_RATING POSTS_BY_USER_STATUS_CREATED_AT_2"
        ),
        "KP505": (
            "Blog.table POSTS_BY_SLUG "
            "POSTS_BY_STATUS_CREATED_AT_2 POSTS_BY_STATUS_RATING POSTS_BY_USER_STATUS_CREATED_AT_2"
        ),
        "KP508": "Blog.view",
    },
    "blog_sign_in": {"KP100": "BlogSignIn.user_by_email"},
    "cms": {
        "KP103": "ArticleVersion.body",
        "KP303": "Cms.tags_of_article",
        "KP306": "Cms.publish_version",
        "KP308": "Cms.publish_version",
        "KP309": "TagArticle",
    },
    "cms_latest": {"KP100": "CmsLatest.article_with_latest"},
    "cms_numbers": {"KP100": "ArticleVersion.primary"},
    "complaints": {
        "KP303": "ComplaintManagement.comments_of ComplaintManagement.complaints ComplaintManagement.escalated_to",
        "KP306": "ComplaintManagement.comment ComplaintManagement.create_complaint",
    },
    "game_scores": {"KP306": "GameScores.score"},
    "papers": {},
    "recurring_payments": {
        "KP203": "Subscription.due_payments Subscription.due_reminders",
        "KP303": (
            "RecurringPayments.due_payments RecurringPayments.due_reminders "
            "RecurringPayments.receipts RecurringPayments.subscriptions"
        ),
        "KP306": "RecurringPayments.create_receipt",
        "KP602": "Receipt.expires_at",
    },
    "red_flags": {
        "KP201": "Order.primary",
        "KP202": "Order.by_country Order.by_status",
        "KP203": "Order.by_hour",
        "KP301": "RedFlags.scanned",
        "KP401": "BY_HOUR LATER",
        "KP502": "Order",
    },
    "shop": {"KP303": "Shop.lines Shop.payments"},
    "shop_details": {"KP100": "ShopDetails.order_details"},
    "social": {
        "KP211": "Comment.date Post.date",
        "KP303": "Social.comments_on_post Social.followers Social.likes_of_post",
        "KP304": "Social.feed",
        "KP306": "Social.comment Social.publish Social.sign_up",
        "KP309": "Follower",
    },
    "social_minutes": {"KP100": "Post.primary"},
}
"""Every finding of each published design: its rule, and the places."""


@cache
def report(name: str) -> Report:
    """The check report of a module in tests/designs_as_published."""
    try:
        design = find(str(ROOT / "tests" / "designs_as_published" / f"{name}.py")).design
    except DesignError as error:
        return refused(error)
    return check(design, traffic_from(TRAFFIC.get(name, {}), design.compiled))


@pytest.mark.parametrize(("known", "name", "code", "place"), KNOWN, ids=[element[0] for element in KNOWN])
def test_each_known_flaw_of_a_published_design_is_found(known: str, name: str, code: str, place: str) -> None:
    assert (code, place) in {(finding.code, finding.place) for finding in report(name).findings}, known


@pytest.mark.parametrize("name", FOUND)
def test_each_published_design_has_the_expected_findings(name: str) -> None:
    places: dict[str, set[str]] = {}
    for finding in report(name).findings:
        places.setdefault(finding.code, set()).add(finding.place)
        assert finding.source is not None, finding
        assert finding.source.file.endswith(f"{name}.py")
    assert places == {code: set(text.split()) for code, text in FOUND[name].items()}


def test_the_write_rate_of_a_popular_post_exceeds_the_partition_limit() -> None:
    """10,000 calls/s that each move an index entry (5 + 5 units) take 100,000 units/s; a partition allows 1,000."""
    (finding,) = [
        finding
        for finding in report("blog").findings
        if (finding.code, finding.place) == ("KP501", "Post.by_status_rating")
    ]
    line, *_ = finding.arithmetic
    assert line.startswith("view: 10,000 calls/s × 10 write units (Post, key changed: old entry removed, ")
    assert "new entry written" in line
    assert line.endswith("= 100,000 units/s")


def test_the_estimate_of_a_timeline_has_one_query_per_followed_user() -> None:
    (finding,) = [finding for finding in report("social").findings if finding.code == "KP304"]
    assert finding.arithmetic == ("1 Query of Following + 5,000 partitions of Post = 5,001 requests per page",)
