"""Strategies for random stores of the blog: few ids, so that items refer to each other, and only fields that affect
keys, so that a store has more items.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from keyplan_systems.blog.entities import Byline, Credential, FrontPage, Post, TagCount, User

_IDS = st.sampled_from(["1", "a#ü$"])
_SLUGS = st.sampled_from(["one", "a-b", "zwei"])
_USERNAMES = st.sampled_from(["ada", "eve", "u#1"])
_TAGS = st.sampled_from([("a",), ("a", "b#"), ("b#", "c"), ("a", "b#", "c")])
_DAY = datetime(2026, 11, 20, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
_MOMENTS = st.sampled_from([_DAY, _DAY + timedelta(hours=3), datetime(1970, 1, 1, tzinfo=UTC)])
_RATINGS = st.sampled_from([0, 9, 10, 10**14])
_POSTS = st.builds(
    Post,
    post_id=_IDS,
    user_id=_IDS,
    slug=_SLUGS,
    title=st.just("Title"),
    status=st.sampled_from(["published", "published", "unpublished", "archived"]),
    tags=_TAGS,
    rating=_RATINGS,
    created_at=_MOMENTS,
    updated_at=st.just(_DAY),
    published_at=st.none() | _MOMENTS,
)
_USERS = st.builds(
    User,
    user_id=_IDS,
    username=_USERNAMES,
    name=st.just("Name"),
    status=st.sampled_from(["active", "active", "suspended"]),
    rating=_RATINGS,
    created_at=_MOMENTS,
)
_EMAILS = st.sampled_from(["a@example.com", "b@example.com"])
_HASHES = st.sampled_from([None, "hash"])
_CREDENTIALS = st.builds(Credential, user_id=_IDS, email=_EMAILS, password_hash=_HASHES, changed_at=st.just(_DAY))
_FRONT_PAGES = st.builds(
    FrontPage,
    replica=st.integers(0, 3),
    latest=st.tuples() | st.tuples(_POSTS),
    tags=st.just((TagCount(tag="a", posts=2),)),
    bylines=st.just({"1": Byline(name="Ada", username="ada")}),
    refreshed_at=_MOMENTS,
)

STRATEGIES: dict[Any, SearchStrategy[Any]] = {
    Post: _POSTS,
    User: _USERS,
    Credential: _CREDENTIALS,
    FrontPage: _FRONT_PAGES,
    "user_id": _IDS,
    "viewed_id": _IDS,
    "author_id": _IDS,
    "edited_by": _IDS,
    "post_id": _IDS,
    "slug": _SLUGS,
    "username": _USERNAMES,
    "email": _EMAILS,
    "old_hash": _HASHES,
    "external_id": st.sampled_from(["7", "a#b"]),
    "provider": st.just("git#hub"),
    "published_at": _MOMENTS,
    "tags": _TAGS,
}
