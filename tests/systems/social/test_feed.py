"""Feed pages are exact during concurrent writes, and take the expected requests."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyplan import Cursor, now
from keyplan.client import merged_partitions as shares
from keyplan.errors import CursorError, KeyplanError
from keyplan_systems.social import Social, design, limits
from keyplan_systems.social.bulk import add_follows, add_posts, add_users
from keyplan_systems.social.entities import Delivery, Following, Post, TimelineEntry, User
from tests.seeds import examples
from tests.systems.social.support import assert_whole, everything, people
from tests.systems.support import all_pages, recorded

NAMES = tuple("abcdefgh")


@dataclass
class Life:
    """A network in which users act at random, and the expected feed of user ``a``."""

    social: Social
    chance: random.Random
    followed: set[str] = field(default_factory=set)
    posts: dict[str, Post] = field(default_factory=dict)

    def happen(self, what: str) -> None:
        """Run a random action of a random user."""
        who = self.chance.choice(NAMES)
        other = self.chance.choice(NAMES)
        try:
            if what == "publish":
                post = self.social.publish(who, f"by {who}")
                self.posts[post.post_id] = post
            elif what == "delete" and self.posts:
                self.social.delete_post(self.posts.pop(self.chance.choice(sorted(self.posts))).post_id)
            elif what == "follow":
                self.social.follow("a", other)
                self.followed.add(other)
            elif what == "unfollow":
                self.social.unfollow("a", other)
                self.followed.remove(other)
            elif what == "others":
                self.social.follow(who, other)
                self.followed |= {other} if who == "a" else set()
        except KeyplanError:
            pass  # users can't follow themselves or follow twice

    def wanted(self) -> list[str]:
        """Return the ids of the posts of all users that ``a`` follows, newest first."""
        mine = [post for post in self.posts.values() if post.user_id in self.followed]
        return [post.post_id for post in sorted(mine, key=lambda post: (post.created_at, post.post_id), reverse=True)]


THINGS = st.sampled_from(["publish", "publish", "publish", "follow", "follow", "unfollow", "delete", "others"])


@settings(max_examples=examples(50, 100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(THINGS, min_size=5, max_size=60),
    meanwhile=st.lists(st.lists(THINGS, max_size=4), max_size=30),
    limit=st.integers(1, 9),
    on_read=st.sampled_from([0, 1, 4, 100]),
    parallel=st.sampled_from([1, 2, 20]),
    seed=st.integers(0, 1 << 30),
)
def test_feed_pages_are_exact_during_concurrent_writes(
    small: None, before: list[str], meanwhile: list[list[str]], limit: int, on_read: int, parallel: int, seed: int
) -> None:
    """``on_read`` makes all, some or no authors use fan-out on write. ``parallel`` limits the queries of a round."""
    with pytest.MonkeyPatch.context() as patch, Social.open(":memory:", secret="s") as social:
        patch.setattr(limits, "READ_MAX", on_read)
        patch.setattr(shares, "PARALLEL_MAX", parallel)
        people(social, *NAMES)
        life = Life(social, random.Random(seed))
        for what in before:
            life.happen(what)
        steady, kept = set(life.followed), set(life.wanted())
        begun = now()
        posts: list[Post] = []
        cursor: Cursor | None = None
        while True:
            page = social.feed("a", limit=limit, cursor=cursor)
            assert len(page) <= limit
            wanted = life.wanted()
            assert [element.post_id for element in page] == [
                name for name in wanted if not posts or _place(life.posts[name]) < _place(posts[-1])
            ][:limit]
            posts += page.items
            cursor = page.cursor
            if cursor is None:
                break
            for what in meanwhile.pop() if meanwhile else ():
                life.happen(what)
                steady &= life.followed
                kept &= life.posts.keys()
        places = [_place(element) for element in posts]
        assert places == sorted(set(places), reverse=True)
        given_ids = {element.post_id for element in posts}
        for name in kept:
            post = life.posts[name]
            if post.user_id in steady and post.created_at < begun:
                assert name in given_ids
        assert_whole(social)


def _place(post: Post) -> tuple[object, str]:
    return post.created_at, post.post_id


def test_a_feed_combines_fan_out_on_read_and_fan_out_on_write(small: None) -> None:
    """The thresholds are low, so both fan-out on read and fan-out on write occur."""
    with Social.open(":memory:") as social:
        people(social, *NAMES)
        for name in NAMES[1:]:
            social.follow("a", name)
        for name in NAMES[1:]:
            social.publish(name, "hello")
        ways = [element.delivery for element in social.following("a")]
        assert ways == ["read", *["write"] * 6]
        assert len(everything(social)[TimelineEntry]) == 6
        assert [page.user_id for page in all_pages(social.feed, "a", limit=2)] == list("hgfedcb")


def test_a_feed_cursor_is_valid_only_for_its_reader(social: Social) -> None:
    social.follow("ann", "ben")
    for _ in range(3):
        social.publish("ben", "hello")
    cursor = social.feed("ann", limit=2).cursor
    with pytest.raises(CursorError):
        social.feed("cid", limit=2, cursor=cursor)


# Requests


def crowd(social: Social, number: int, *, posts: int = 3) -> None:
    """Create a reader, and many authors whose posts alternate in time."""
    add_users(social, [User(user_id="me", handle="me", name="Me")])
    add_users(social, (User(user_id=f"u{one}", handle=f"u{one}", name="U") for one in range(number)))
    add_posts(social, (Post(user_id=f"u{one}", text="hello " * 20) for _ in range(posts) for one in range(number)))


def follow_all(social: Social, number: int) -> None:
    add_follows(social, (Following(user_id="me", followed_id=f"u{one}") for one in range(number)))


def rounds(social: Social, **more: object) -> tuple[list[int], float, int]:
    """Return the size of each round of parallel queries for a feed page, the units, and the number of requests."""
    recorder = recorded(social)
    social.run_read("feed", ("me",), more)
    result = [number for number in recorder.rounds if number > 1], recorder.units, len(recorder.made)
    social.store.transport = recorder.inner
    return result


def test_a_feed_page_of_200_authors_takes_eleven_rounds_of_queries() -> None:
    with Social.open(":memory:") as social:
        crowd(social, 200)
        follow_all(social, 200)
        parallel, units, requests = rounds(social)
        assert parallel == [20] * 10 + [20]  # queried again, if the page has a post of theirs
        assert requests == 222  # follows, their partitions, an empty timeline, and repeated queries
        assert units == 114
        page = social.feed("me")
        parallel, units, requests = rounds(social, cursor=page.cursor)
        assert (parallel, requests, units) == ([20] * 11, 222, 114)


def test_a_reader_who_follows_many_users_has_a_stored_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    with Social.open(":memory:") as social:
        crowd(social, 500, posts=1)
        follow_all(social, 500)
        assert len(everything(social)[TimelineEntry]) == 300
        parallel, units, requests = rounds(social)
        assert parallel == [20] * 10 + [20]
        assert requests == 223  # one more for the posts in the timeline
        assert units == 124.5
        assert len(social.feed("me")) == 20

    monkeypatch.setattr(limits, "READ_MAX", 10_000)
    with Social.open(":memory:") as social:
        crowd(social, 400, posts=1)
        follow_all(social, 400)
        assert everything(social)[TimelineEntry] == []
        parallel, units, requests = rounds(social)
        assert parallel == [20] * 20 + [20]
        assert requests == 422
        assert units == 217.5


def test_fan_out_on_write_is_limited_to_a_number_of_followers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers beyond the limit read the post on demand, so a million followers add no cost to a post."""
    monkeypatch.setattr(limits, "READ_MAX", 0)
    monkeypatch.setattr(limits, "AUDIENCE_MAX", 60)
    with Social.open(":memory:") as social:
        add_users(social, (User(user_id=f"u{number}", handle=f"u{number}", name="U") for number in range(100)))
        people(social, "star")
        add_follows(social, (Following(user_id=f"u{number}", followed_id="star") for number in range(100)))
        star = social.profile("star")
        assert star is not None
        assert (star.followers, star.audience) == (100, 60)
        recorder = recorded(social)
        social.publish("star", "hello")
        assert recorder.operations == [
            "GetItem",
            "Query",
            "TransactWriteItems",
            *["BatchWriteItem"] * 4,  # of 60 timeline entries, and then of the delivery record
        ]
        assert all(len(social.feed(f"u{number}")) == 1 for number in range(100))
        assert_whole(social)


def test_a_post_of_a_user_without_followers_is_one_transaction(social: Social) -> None:
    social.follow("ann", "ben")
    recorder = recorded(social)
    social.publish("ben", "hello")
    assert recorder.operations == ["GetItem", "TransactWriteItems"]


def test_an_interrupted_fan_out_is_reported_and_completed(small: None, social: Social) -> None:
    social.follow("ann", "cid")
    social.follow("ann", "ben")
    recorder = recorded(social)

    def broken(operation: str, parameters: object) -> None:
        if operation == "BatchWriteItem":
            raise KeyboardInterrupt

    recorder.before = broken
    with pytest.raises(KeyboardInterrupt):
        social.publish("ben", "hello")
    recorder.before = lambda operation, parameters: None
    assert social.feed("ann").items == []
    (left,) = social.undelivered()
    assert social.deliver(left) == 1
    assert [post.user_id for post in social.feed("ann")] == ["ben"]
    assert social.deliver(left) == 1
    assert_whole(social)


@pytest.mark.parametrize("follows", [True, False])
def test_an_interrupted_follow_is_reported_and_completed(small: None, social: Social, *, follows: bool) -> None:
    social.publish("ben", "hello")
    social.follow("ann", "cid")
    if not follows:
        social.follow("ann", "ben")
    recorder = recorded(social)

    def broken(operation: str, parameters: object) -> None:
        if operation == "BatchWriteItem":
            raise KeyboardInterrupt

    recorder.before = broken
    with pytest.raises(KeyboardInterrupt):
        (social.follow if follows else social.unfollow)("ann", "ben")
    recorder.before = lambda operation, parameters: None
    (left,) = social.undelivered()
    assert social.deliver(left) == 1
    assert len(social.feed("ann")) == int(follows)
    assert_whole(social)


def test_an_interrupted_fan_out_blocks_no_write(small: None, social: Social, monkeypatch: pytest.MonkeyPatch) -> None:
    social.follow("ann", "cid")
    social.follow("ann", "ben")
    social.create(Delivery(user_id="ben", reader_id="ann"))
    monkeypatch.setattr(design, "DELIVERY_SECONDS_MAX", 0)
    social.unfollow("ann", "ben")
    (left,) = social.undelivered()
    assert social.deliver(left) == 0
    assert_whole(social)


def test_an_unfollow_waits_for_a_running_fan_out(small: None, social: Social) -> None:
    social.follow("ann", "cid")
    social.follow("ann", "ben")
    social.create(Delivery(user_id="ben", reader_id="cid"))  # unrelated
    running = social.create(Delivery(user_id="ben", reader_id="ann"))
    recorder = recorded(social)

    def ends(operation: str, parameters: object) -> None:
        if len(recorder.made) == 15:
            recorder.inner.call("DeleteItem", {"TableName": "social-media", "Key": _key(running)})

    recorder.before = ends
    social.unfollow("ann", "ben")
    assert [delivery.reader_id for delivery in social.undelivered()] == ["cid"]
    assert social.feed("ann").items == []


def _key(delivery: Delivery) -> dict[str, dict[str, str]]:
    compiled = Social.compiled.entities[Delivery]
    return compiled.item_key(compiled.primary, compiled.field_values(delivery))


def test_timeline_entries_of_deleted_posts_are_skipped(small: None, social: Social) -> None:
    social.follow("ann", "cid")
    social.follow("ann", "ben")
    posts = [social.publish("ben", str(number)) for number in range(9)]
    for post in posts[2:8]:
        social.delete_post(post.post_id)
        social.put(TimelineEntry.of(post, "ann"))  # as a delivery during the deletion would
    assert [page.text for page in all_pages(social.feed, "ann", limit=1)] == ["8", "1", "0"]
    social.put(TimelineEntry.of(posts[0], "ben"))  # a timeline entry without a post is not shown
    assert [element.text for element in social.feed("ben")] == ["0"]
