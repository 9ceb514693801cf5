"""Consistency checks of all stored items, for tests of the social network."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime
from itertools import permutations
from typing import Any, TypeVar

from hypothesis import strategies as st

from keyplan import Entity
from keyplan_systems.social import Social
from keyplan_systems.social.entities import (
    Block,
    Comment,
    Delivery,
    Follower,
    Following,
    Like,
    Membership,
    Message,
    Notification,
    Post,
    PostTally,
    Subscription,
    TimelineEntry,
    User,
    UserTally,
    preview_of,
)
from tests.systems.support import stored

E = TypeVar("E", bound=Entity)
_MOMENTS = [datetime(2026, 5, 4, 9, minute, 0, micro, UTC) for minute in (30, 31) for micro in (0, 1)]
_NAMES = ("user_id", "followed_id", "author_id", "reader_id", "follower_id", "to_user_id")
STRATEGIES: dict[Any, st.SearchStrategy[Any]] = {
    **dict.fromkeys(_NAMES, st.sampled_from(["ann", "ben", "a#b"])),
    "post_id": st.sampled_from(["1", "2", "3$"]),
    "created_at": st.sampled_from(_MOMENTS),
}
"""For ``verify``: values that meet, so that what one item names is there."""


def people(social: Social, *names: str) -> None:
    """Register a user for each id."""
    for name in names:
        social.sign_up(name, name.title(), user_id=name)


def everything(social: Social) -> dict[type[Entity], list[Any]]:
    """Return all stored items by entity, except claims."""
    result: dict[type[Entity], list[Any]] = defaultdict(list)
    entities = list(Social.compiled.entities.values())
    for item in stored(social):
        entity = next((compiled_entity for compiled_entity in entities if compiled_entity.matches(item)), None)
        if entity is None:
            assert "claim_of" in item, item
            continue
        result[entity.cls].append(entity.from_item(item))
    return result


def assert_whole(social: Social) -> None:
    """Check that mirrored items, counters, timelines and conversations are consistent."""
    there = everything(social)
    users: dict[str, User] = {value.user_id: value for value in there[User]}
    _follows(there, users)
    _posts(there, users)
    _timelines(there)
    _conversations(there)
    _notifications(there, users)
    assert there[Delivery] == []


def _follows(there: dict[type[Entity], list[Any]], users: dict[str, User]) -> None:
    following: list[Following] = there[Following]
    blocked = {pair for block in there[Block] for pair in permutations((block.user_id, block.blocked_id))}
    assert not [link for link in following if (link.user_id, link.followed_id) in blocked]
    assert {(element.user_id, element.followed_id) for element in following} == {
        (value.follower_id, value.user_id) for value in there[Follower]
    }
    assert {(element.followed_id, element.user_id) for element in following if element.delivery == "write"} == {
        (value.user_id, value.reader_id) for value in there[Subscription]
    }
    assert Counter(element.user_id for element in following) == +Counter(
        {name: user.following for name, user in users.items()}
    )
    tallied: Counter[str] = Counter()
    for value in there[UserTally]:
        tallied[value.user_id] += value.followers
    followers = {name: tallied[name] if user.shards else user.followers for name, user in users.items()}
    assert Counter(element.followed_id for element in following) == +Counter(followers)
    assert Counter(value.user_id for value in there[Subscription]) == +Counter(
        {name: user.audience for name, user in users.items()}
    )


def _posts(there: dict[type[Entity], list[Any]], users: dict[str, User]) -> None:
    posts: list[Post] = there[Post]
    assert Counter(post.user_id for post in posts) == +Counter({name: user.posts for name, user in users.items()})
    for what, entity in (("likes", Like), ("comments", Comment)):
        tallied: Counter[str] = Counter()
        for value in there[PostTally]:
            tallied[value.post_id] += getattr(value, what)
        counted = {post.post_id: tallied[post.post_id] if post.shards else getattr(post, what) for post in posts}
        assert Counter(value.post_id for value in there[entity]) == +Counter(counted), what


def _timelines(there: dict[type[Entity], list[Any]]) -> None:
    """Check that timelines contain all posts of authors with fan-out on write, and no other posts."""
    by_author: dict[str, list[Post]] = defaultdict(list)
    for post in there[Post]:
        by_author[post.user_id].append(post)
    wanted = {
        (value.user_id, post.post_id)
        for value in there[Following]
        if value.delivery == "write"
        for post in by_author[value.followed_id]
    }
    ids = {post.post_id for post in there[Post]}
    assert {(value.user_id, value.post_id) for value in there[TimelineEntry] if value.post_id in ids} == wanted


def _notifications(there: dict[type[Entity], list[Any]], users: dict[str, User]) -> None:
    """Check that notifications are about other users' actions, which exist unless the notification outlasts them."""
    posts: dict[str, Post] = {post.post_id: post for post in there[Post] if not post.shards}
    wanted = {
        *((like.liked_at, "like", like.user_id, like.post_id) for like in there[Like]),
        *((said.created_at, "comment", said.user_id, said.post_id) for said in there[Comment]),
        *((link.since, "follow", link.user_id, None) for link in there[Following]),
    }
    for heard in there[Notification]:
        assert heard.by_user_id != heard.user_id
        lasting = heard.kind == "follow" and users[heard.user_id].shards
        if not lasting and (heard.post_id is None or heard.post_id in posts):
            assert (heard.at, heard.kind, heard.by_user_id, heard.post_id) in wanted


def _conversations(there: dict[type[Entity], list[Any]]) -> None:
    messages: dict[str, list[Message]] = defaultdict(list)
    for value in there[Message]:
        messages[value.conversation_id].append(value)
    parts: dict[str, list[Membership]] = defaultdict(list)
    for part in there[Membership]:
        parts[part.conversation_id].append(part)
    assert messages.keys() == parts.keys()
    for name, both in parts.items():
        assert len(both) == 2
        assert {membership.user_id for membership in both} == {membership.with_user_id for membership in both}
        last = max(messages[name], key=lambda message: (message.sent_at, message.message_id))
        assert {membership.last_message_at for membership in both} == {last.sent_at}
        if sum(message.sent_at == last.sent_at for message in messages[name]) == 1:
            assert {membership.last_text for membership in both} == {preview_of(last.text)}
