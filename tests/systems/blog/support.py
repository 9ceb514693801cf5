"""Helpers for tests of the blog: users and posts, consistency checks, and a recorder of capacity units."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from keyplan.client.conversations import Request, Transport
from keyplan.testing.stored_world import check_invariants, scan
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import (
    Counter,
    Credential,
    Post,
    PostContent,
    PostImpression,
    PostSlug,
    PostTag,
    PostTagCombo,
    User,
    UserImpression,
)
from keyplan_systems.blog.posts import tag_combos
from keyplan_systems.blog.scoring import Totals, totals_of


def new_user(blog: Blog, username: str, **fields: Any) -> User:
    """Register and return a user without a password."""
    user = User(username=username, name=username.title(), **fields)
    return blog.register(user, Credential(user_id=user.user_id, email=f"{username}@example.com"))


def new_post(
    blog: Blog, user: User, slug: str, tags: tuple[str, ...] = (), content: str = "Some *text*.", **fields: Any
) -> Post:
    """Create and return a draft."""
    title = slug.replace("-", " ").title()
    return blog.create_post(Post(user_id=user.user_id, slug=slug, title=title, tags=tags, **fields), content).post


def published(blog: Blog, user: User, slug: str, tags: tuple[str, ...] = (), **fields: Any) -> Post:
    """Create, publish and return a post."""
    return blog.publish(new_post(blog, user, slug, tags, **fields).post_id)


def silent(done: int, total: int | None) -> None:
    """A progress callback that does nothing."""


def items_of(blog: Blog, *entities: type[Any]) -> list[Any]:
    """Return all stored instances of these entities."""
    return [row.instance for row in scan(blog).rows if type(row.instance) in entities]


def counted(blog: Blog, subject: str) -> Totals:
    """Return the totals of all counter shards of this subject."""
    return totals_of(value for value in items_of(blog, Counter) if value.subject == subject)


def check_books(blog: Blog, *, anonymous_views: int = 0) -> None:
    """Raise AssertionError unless each counter and each copy equals the value recomputed from the source items."""
    world = scan(blog)
    check_invariants(world)
    result: dict[type[Any], list[Any]] = {}
    for row in world.rows:
        result.setdefault(type(row.instance), []).append(row.instance)
    posts: list[Post] = result.get(Post, [])
    by_id = {post.post_id: post for post in posts}
    public = [post for post in posts if post.status == "published"]
    _check_authors(result.get(User, []), posts)
    carried = Tally(tag for post in public for tag in post.tags)
    assert {value.tag: value.posts for value in result.get(PostTag, []) if value.posts} == dict(carried)
    combos = {(value.tags, value.published_at, value.post_id) for value in result.get(PostTagCombo, [])}
    assert combos == {(combo, post.published_at, post.post_id) for post in public for combo in tag_combos(post.tags)}
    assert {value.post_id for value in result.get(PostContent, [])} == set(by_id)
    slugs = {value.slug: value.post_id for value in result.get(PostSlug, [])}
    assert all(slugs[post.slug] == post.post_id for post in posts)
    assert set(slugs.values()) <= set(by_id)
    assert len({post.slug for post in posts}) == len(posts)
    _check_counts(result, anonymous_views)


def _check_authors(users: Iterable[User], posts: list[Post]) -> None:
    tally = Tally((post.user_id, post.status) for post in posts)
    for user in users:
        counts = tuple(tally[user.user_id, status] for status in ("unpublished", "published", "archived"))
        assert (user.drafts, user.published, user.archived) == counts, user


def _check_counts(result: dict[type[Any], list[Any]], anonymous_views: int) -> None:
    counters: list[Counter] = result.get(Counter, [])
    impressions: list[PostImpression] = result.get(PostImpression, [])
    totals = totals_of(counter for counter in counters if counter.kind == "post")
    assert totals.views == len(impressions) + anonymous_views
    for post_id in {impression.post_id for impression in impressions}:
        own = totals_of(counter for counter in counters if (counter.kind, counter.subject) == ("post", post_id))
        readers = [impression for impression in impressions if impression.post_id == post_id]
        rated = [reader.stars for reader in readers if reader.stars is not None]
        assert (own.likes, own.ratings, own.stars) == (sum(reader.liked for reader in readers), len(rated), sum(rated))
    profiles = Tally(value.viewed_id for value in result.get(UserImpression, []))
    users = {counter.subject for counter in counters if counter.kind == "user"}
    for user_id in {*profiles, *users}:
        own = totals_of(counter for counter in counters if (counter.kind, counter.subject) == ("user", user_id))
        gained = sum(value.rating for value in result.get(Post, []) if value.user_id == user_id)
        assert (own.views, own.points) == (profiles[user_id], gained)


@dataclass
class Recorder:
    """A transport that forwards requests with ReturnConsumedCapacity, and records the requests and responses."""

    inner: Transport
    made: list[tuple[str, dict[str, Any], dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any], dict[str, Any]]]
    )

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        response: dict[str, Any] = {}
        self.made.append((operation, parameters, response))
        response |= self.inner.call(operation, {**parameters, "ReturnConsumedCapacity": "INDEXES"})
        return response

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _, _ in self.made]

    def units(self) -> float:
        """Return the metered units of table and indexes since the last call, and clear the recorded requests."""
        total = sum(capacity["CapacityUnits"] for capacity in self._capacities())
        self.made.clear()
        return float(total)

    def units_by_place(self) -> dict[str, float]:
        """Return the units since the last call for "table" and each index name, and clear the recorded requests."""
        places: Tally[str] = Tally()
        for capacity in self._capacities():
            places["table"] += capacity["Table"]["CapacityUnits"]
            for name, units in capacity.get("GlobalSecondaryIndexes", {}).items():
                places[name] += units["CapacityUnits"]
        self.made.clear()
        return dict(places)

    def _capacities(self) -> Iterable[dict[str, Any]]:
        for _, _, response in self.made:
            consumed = response.get("ConsumedCapacity") or []
            yield from consumed if isinstance(consumed, list) else [consumed]


def recorded(blog: Blog) -> Recorder:
    """Record the design's requests from now on, and return the recorder."""
    recorder = Recorder(blog.store.transport)
    blog.store.transport = recorder
    return recorder
