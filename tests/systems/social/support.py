"""What the tests of the social network share: whether all that is stored goes together."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import Any, TypeVar

from hypothesis import strategies as st

from keyplan import Entity
from keyplan_systems.social import (
    Comment,
    Delivery,
    Follower,
    Following,
    Like,
    Membership,
    Message,
    Post,
    PostTally,
    Social,
    Subscription,
    TimelineEntry,
    User,
    UserTally,
)
from keyplan_systems.social.entities import preview_of
from tests.systems.support import stored

__all__ = ["STRATEGIES", "assert_whole", "everything", "people"]

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
    """Sign users up under these ids."""
    for name in names:
        social.sign_up(name, name.title(), user_id=name)


def everything(social: Social) -> dict[type[Entity], list[Any]]:
    """All that is stored, by entity; claims are left out."""
    found: dict[type[Entity], list[Any]] = defaultdict(list)
    entities = list(Social.compiled.entities.values())
    for item in stored(social):
        entity = next((one for one in entities if one.matches(item)), None)
        if entity is None:
            assert "claim_of" in item, item
            continue
        found[entity.cls].append(entity.from_item(item))
    return found


def assert_whole(social: Social) -> None:
    """Mirrors, counters, tallies, timelines and conversations go together, whatever was done."""
    there = everything(social)
    users: dict[str, User] = {one.user_id: one for one in there[User]}
    _follows(there, users)
    _posts(there, users)
    _timelines(there)
    _conversations(there)
    assert there[Delivery] == []


def _follows(there: dict[type[Entity], list[Any]], users: dict[str, User]) -> None:
    following: list[Following] = there[Following]
    assert {(one.user_id, one.followed_id) for one in following} == {
        (one.follower_id, one.user_id) for one in there[Follower]
    }
    assert {(one.followed_id, one.user_id) for one in following if one.delivery == "write"} == {
        (one.user_id, one.reader_id) for one in there[Subscription]
    }
    assert Counter(one.user_id for one in following) == +Counter({name: one.following for name, one in users.items()})
    tallied: Counter[str] = Counter()
    for one in there[UserTally]:
        tallied[one.user_id] += one.followers
    followers = {name: tallied[name] if one.shards else one.followers for name, one in users.items()}
    assert Counter(one.followed_id for one in following) == +Counter(followers)
    assert Counter(one.user_id for one in there[Subscription]) == +Counter(
        {name: one.audience for name, one in users.items()}
    )


def _posts(there: dict[type[Entity], list[Any]], users: dict[str, User]) -> None:
    posts: list[Post] = there[Post]
    assert Counter(one.user_id for one in posts) == +Counter({name: one.posts for name, one in users.items()})
    for what, entity in (("likes", Like), ("comments", Comment)):
        tallied: Counter[str] = Counter()
        for one in there[PostTally]:
            tallied[one.post_id] += getattr(one, what)
        counted = {one.post_id: tallied[one.post_id] if one.shards else getattr(one, what) for one in posts}
        assert Counter(one.post_id for one in there[entity]) == +Counter(counted), what


def _timelines(there: dict[type[Entity], list[Any]]) -> None:
    """Each post of an author on write is in the timeline, and no post of anybody else."""
    by_author: dict[str, list[Post]] = defaultdict(list)
    for post in there[Post]:
        by_author[post.user_id].append(post)
    wanted = {
        (one.user_id, post.post_id)
        for one in there[Following]
        if one.delivery == "write"
        for post in by_author[one.followed_id]
    }
    ids = {post.post_id for post in there[Post]}
    assert {(one.user_id, one.post_id) for one in there[TimelineEntry] if one.post_id in ids} == wanted


def _conversations(there: dict[type[Entity], list[Any]]) -> None:
    messages: dict[str, list[Message]] = defaultdict(list)
    for one in there[Message]:
        messages[one.conversation_id].append(one)
    parts: dict[str, list[Membership]] = defaultdict(list)
    for part in there[Membership]:
        parts[part.conversation_id].append(part)
    assert messages.keys() == parts.keys()
    for name, both in parts.items():
        assert len(both) == 2
        assert {one.user_id for one in both} == {one.with_user_id for one in both}
        last = max(messages[name], key=lambda one: (one.sent_at, one.message_id))
        assert {one.last_message_at for one in both} == {last.sent_at}
        if sum(one.sent_at == last.sent_at for one in messages[name]) == 1:
            assert {one.last_text for one in both} == {preview_of(last.text)}
