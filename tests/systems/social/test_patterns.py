"""Every question against brute force: by ``verify``, and on the sample."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyplan import Range
from keyplan.errors import ArgumentError
from keyplan.testing import verify
from keyplan_systems.social import Comment, Follower, Following, Like, Membership, Message, Post, Social, User
from keyplan_systems.social.sample import READER, sample, user_id
from tests.seeds import seed
from tests.systems.social.conftest import SAMPLED
from tests.systems.social.support import STRATEGIES, assert_whole, everything
from tests.systems.support import all_pages, silent, stored


def test_verified() -> None:
    report = verify(Social, stores=80, seed=seed(5), strategies=STRATEGIES)
    assert all(one.answered for one in report.patterns if one.kind == "read")


def test_the_sample_is_whole_and_skewed(sampled: Social) -> None:
    assert_whole(sampled)
    there = everything(sampled)
    followers = sorted((one.followers for one in there[User]), reverse=True)
    assert len(followers) == SAMPLED
    assert sum(followers[: SAMPLED // 10]) > sum(followers) / 3
    likes = sorted((one.likes for one in there[Post]), reverse=True)
    assert sum(likes[: len(likes) // 10]) > sum(likes) / 2
    assert likes[len(likes) // 2] <= 2
    reader = sampled.profile(user_id(READER))
    assert reader is not None
    assert reader.following == SAMPLED - 1
    ways = Counter(one.delivery for one in there[Following] if one.user_id == reader.user_id)
    assert ways == {"read": 200, "write": SAMPLED - 201}


def test_the_sample_is_the_same_each_time_and_changes_nothing_again() -> None:
    with Social.open(":memory:") as one, Social.open(":memory:") as other:
        assert sample(one, 40, silent) == sample(other, 40, silent) == 40
        before = _sorted(one)
        assert _sorted(other) == before
        assert sample(one, 40, silent) == 0
        assert _sorted(one) == before
        sample(one, 60, silent)
        assert_whole(one)


def _sorted(social: Social) -> list[dict[str, Any]]:
    return sorted(stored(social), key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def test_feeds(sampled: Social) -> None:
    there = everything(sampled)
    for number in (READER, 0, 5, 100):
        followed = {one.followed_id for one in there[Following] if one.user_id == user_id(number)}
        wanted = sorted(
            (one for one in there[Post] if one.user_id in followed),
            key=lambda one: (one.created_at, one.post_id),
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
    mine = [one for one in there[Post] if one.user_id == user_id(0)]
    newest = sorted(mine, key=lambda one: one.created_at, reverse=True)
    assert all_pages(sampled.posts_of_user, user_id(0), limit=7) == newest


def test_posts_of_one_day(sampled: Social) -> None:
    mine = [one for one in everything(sampled)[Post] if one.user_id == user_id(0)]
    day = mine[0].created_at.replace(hour=0, minute=0)
    asked = Range(ge=day, lt=day + timedelta(days=1))
    wanted = [one for one in mine if one.created_at.date() == day.date()]
    found = sampled.posts_of_user(user_id(0), asked)
    assert found.items == sorted(wanted, key=lambda one: one.created_at, reverse=True)
    assert found.items


def test_what_is_said_of_a_post(sampled: Social) -> None:
    there = everything(sampled)
    busiest = max(there[Post], key=lambda one: one.likes)
    likes = [one for one in there[Like] if one.post_id == busiest.post_id]
    assert all_pages(sampled.likes_of_post, busiest.post_id, limit=20) == sorted(likes, key=lambda one: one.user_id)
    assert sampled.like_of(busiest.post_id, likes[0].user_id) == likes[0]
    talked = max(there[Post], key=lambda one: one.comments)
    comments = [one for one in there[Comment] if one.post_id == talked.post_id]
    assert all_pages(sampled.comments_on_post, talked.post_id, limit=3) == sorted(
        comments, key=lambda one: one.created_at
    )


def test_who_follows_whom(sampled: Social) -> None:
    there = everything(sampled)
    follower = [one for one in there[Follower] if one.user_id == user_id(0)]
    assert all_pages(sampled.followers, user_id(0), limit=20) == sorted(follower, key=lambda one: one.follower_id)
    following = [one for one in there[Following] if one.user_id == user_id(READER)]
    assert all_pages(sampled.following, user_id(READER), limit=20) == sorted(following, key=lambda one: one.followed_id)
    assert sampled.follows(user_id(READER), user_id(0)) is not None
    assert sampled.follows(user_id(READER), user_id(READER)) is None


def test_conversations(sampled: Social) -> None:
    there = everything(sampled)
    member = there[Membership][0].user_id
    mine = [one for one in there[Membership] if one.user_id == member]
    assert all_pages(sampled.conversations, member, limit=1) == sorted(
        mine, key=lambda one: one.last_message_at, reverse=True
    )
    name = mine[0].conversation_id
    messages = [one for one in there[Message] if one.conversation_id == name]
    assert all_pages(sampled.messages, name, limit=2) == sorted(messages, key=lambda one: one.sent_at, reverse=True)


def test_wrong_arguments_are_told_at_once(social: Social) -> None:
    with pytest.raises(ArgumentError) as told:
        social.call("feed", {"user_id": "ann", "limit": "many", "page": "2"})
    assert len(told.value.faults) == 2
    with pytest.raises(ArgumentError):
        social.call("posts_of_user", {"user_id": "ann", "created_at.ge": "yesterday"})
    assert social.posts_of_user("ann", Range(ge=datetime(2030, 1, 1, tzinfo=UTC))).items == []
