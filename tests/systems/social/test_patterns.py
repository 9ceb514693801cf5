"""The sample is consistent, and reads merge partitions. tests/systems/test_designs.py tests every read."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from keyplan import Range, now
from keyplan_systems.social import Social
from keyplan_systems.social.entities import Following, Post, User
from keyplan_systems.social.sample import READER, sample, user_id
from tests.systems.social.conftest import SAMPLED
from tests.systems.social.support import assert_whole, everything
from tests.systems.support import all_pages, silent, stored


def test_the_sample_is_consistent_and_has_popular_users_and_posts(sampled: Social) -> None:
    assert_whole(sampled)
    there = everything(sampled)
    followers = sorted((value.followers for value in there[User]), reverse=True)
    assert len(followers) == SAMPLED
    assert sum(followers[: SAMPLED // 10]) > sum(followers) / 3
    likes = sorted((value.likes for value in there[Post]), reverse=True)
    assert sum(likes[: len(likes) // 10]) > sum(likes) / 2
    assert likes[len(likes) // 2] <= 2
    reader = sampled.profile(user_id(READER))
    assert reader is not None
    assert reader.following == SAMPLED - 1
    ways = Counter(value.delivery for value in there[Following] if value.user_id == reader.user_id)
    assert ways == {"read": 200, "write": SAMPLED - 201}


def test_adding_the_sample_again_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with Social.open(":memory:") as social:
        assert sample(social, 40, silent) == 40
        newest = social.latest_posts(limit=1).items[0].created_at
        assert now() - timedelta(days=3) < newest < now()
        before = _sorted(social)
        later = now() + timedelta(days=400)
        monkeypatch.setattr("keyplan_systems.social.sample.now", lambda: later)
        assert sample(social, 40, silent) == 0
        assert _sorted(social) == before
        sample(social, 60, silent)
        assert_whole(social)


def _sorted(social: Social) -> list[dict[str, Any]]:
    return sorted(stored(social), key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def test_feeds_and_the_public_timeline_equal_the_brute_force_results(sampled: Social) -> None:
    there = everything(sampled)
    posts = sorted(there[Post], key=lambda value: (value.created_at, value.post_id), reverse=True)
    for number in (READER, 0, 5, 100):
        followed = {value.followed_id for value in there[Following] if value.user_id == user_id(number)}
        wanted = [post for post in posts if post.user_id in followed]
        assert all_pages(sampled.feed, user_id(number), limit=33) == wanted
    assert all_pages(sampled.latest_posts, limit=100) == posts


def test_posts_of_one_day_equal_the_brute_force_results(sampled: Social) -> None:
    mine = [value for value in everything(sampled)[Post] if value.user_id == user_id(0)]
    day = mine[0].created_at.replace(hour=0, minute=0)
    wanted = [value for value in mine if value.created_at.date() == day.date()]
    page = sampled.posts_of_user(user_id(0), Range(ge=day, lt=day + timedelta(days=1)))
    assert page.items == sorted(wanted, key=lambda value: value.created_at, reverse=True)
    assert page.items
