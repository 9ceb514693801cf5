"""Every question against brute force on the sample; ``verify`` compares them in tests/systems/test_designs.py."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyplan import Range
from keyplan.errors import ArgumentError
from keyplan_systems.social import Comment, Follower, Following, Like, Membership, Message, Post, Social, User
from keyplan_systems.social.sample import READER, sample, user_id
from tests.systems.social.conftest import SAMPLED
from tests.systems.social.support import assert_whole, everything
from tests.systems.support import all_pages, silent, stored


def test_the_sample_is_whole_and_skewed(sampled: Social) -> None:
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


def test_the_sample_is_the_same_each_time_and_changes_nothing_again() -> None:
    with Social.open(":memory:") as social, Social.open(":memory:") as other:
        assert sample(social, 40, silent) == sample(other, 40, silent) == 40
        before = _sorted(social)
        assert _sorted(other) == before
        assert sample(social, 40, silent) == 0
        assert _sorted(social) == before
        sample(social, 60, silent)
        assert_whole(social)


def _sorted(social: Social) -> list[dict[str, Any]]:
    return sorted(stored(social), key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def test_feeds(sampled: Social) -> None:
    there = everything(sampled)
    for number in (READER, 0, 5, 100):
        followed = {value.followed_id for value in there[Following] if value.user_id == user_id(number)}
        wanted = sorted(
            (value for value in there[Post] if value.user_id in followed),
            key=lambda value: (value.created_at, value.post_id),
            reverse=True,
        )
        assert all_pages(sampled.feed, user_id(number), limit=33) == wanted


def test_profiles_and_posts(sampled: Social) -> None:
    there = everything(sampled)
    for user in there[User]:
        assert sampled.profile(user.user_id) == user
        assert sampled.user_by_handle(user.handle.upper()) == user
    assert sampled.profile("nobody") is None
    for post in there[Post][:50]:
        assert sampled.post_by_id(post.post_id) == post
    assert sampled.post_by_id("none") is None
    mine = [value for value in there[Post] if value.user_id == user_id(0)]
    newest = sorted(mine, key=lambda value: value.created_at, reverse=True)
    assert all_pages(sampled.posts_of_user, user_id(0), limit=7) == newest


def test_posts_of_one_day(sampled: Social) -> None:
    mine = [value for value in everything(sampled)[Post] if value.user_id == user_id(0)]
    day = mine[0].created_at.replace(hour=0, minute=0)
    asked = Range(ge=day, lt=day + timedelta(days=1))
    wanted = [value for value in mine if value.created_at.date() == day.date()]
    page = sampled.posts_of_user(user_id(0), asked)
    assert page.items == sorted(wanted, key=lambda value: value.created_at, reverse=True)
    assert page.items


def test_what_is_said_of_a_post(sampled: Social) -> None:
    there = everything(sampled)
    busiest = max(there[Post], key=lambda value: value.likes)
    likes = [value for value in there[Like] if value.post_id == busiest.post_id]
    assert all_pages(sampled.likes_of_post, busiest.post_id, limit=20) == sorted(likes, key=lambda value: value.user_id)
    assert sampled.like_of(busiest.post_id, likes[0].user_id) == likes[0]
    talked = max(there[Post], key=lambda value: value.comments)
    comments = [value for value in there[Comment] if value.post_id == talked.post_id]
    assert all_pages(sampled.comments_on_post, talked.post_id, limit=3) == sorted(
        comments, key=lambda value: value.created_at
    )


def test_who_follows_whom(sampled: Social) -> None:
    there = everything(sampled)
    follower = [value for value in there[Follower] if value.user_id == user_id(0)]
    assert all_pages(sampled.followers, user_id(0), limit=20) == sorted(follower, key=lambda value: value.follower_id)
    following = [value for value in there[Following] if value.user_id == user_id(READER)]
    assert all_pages(sampled.following, user_id(READER), limit=20) == sorted(
        following, key=lambda value: value.followed_id
    )
    assert sampled.follows(user_id(READER), user_id(0)) is not None
    assert sampled.follows(user_id(READER), user_id(READER)) is None


def test_conversations(sampled: Social) -> None:
    there = everything(sampled)
    member = there[Membership][0].user_id
    mine = [value for value in there[Membership] if value.user_id == member]
    assert all_pages(sampled.conversations, member, limit=1) == sorted(
        mine, key=lambda value: value.last_message_at, reverse=True
    )
    name = mine[0].conversation_id
    messages = [value for value in there[Message] if value.conversation_id == name]
    assert all_pages(sampled.messages, name, limit=2) == sorted(messages, key=lambda value: value.sent_at, reverse=True)


def test_wrong_arguments_are_told_at_once(social: Social) -> None:
    with pytest.raises(ArgumentError) as raised:
        social.call("feed", {"user_id": "ann", "limit": "many", "page": "2"})
    assert len(raised.value.errors) == 2
    with pytest.raises(ArgumentError):
        social.call("posts_of_user", {"user_id": "ann", "created_at.ge": "yesterday"})
    assert social.posts_of_user("ann", Range(ge=datetime(2030, 1, 1, tzinfo=UTC))).items == []
