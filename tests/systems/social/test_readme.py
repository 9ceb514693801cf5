"""The README of the social network is correct: costs of each pattern, keys, limits and calculations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

import keyplan_systems.social
from keyplan import Entity, Range
from keyplan_systems.social import Social, limits
from keyplan_systems.social.entities import Comment, Delivery, Follower, Following, Like, Message, Post
from keyplan_systems.social.sample import READER, sample, user_id
from tests.systems.measuring import AMONG, add_others, check_rows, measured, rows_of, session_calls, text_of
from tests.systems.support import silent

README = text_of(keyplan_systems.social)
NEWEST = datetime(2126, 5, 4, 9, 30, tzinfo=UTC)
"""The time of the sample's newest post: fixed, as shards depend on it."""
COUNT = 300
"""Users of the sample that the README speaks of: the command's default."""


@pytest.fixture(params=AMONG)
def social(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Social]:
    monkeypatch.setattr("keyplan_systems.social.sample.now", lambda: NEWEST)
    with Social.open(":memory:") as opened:
        sample(opened, COUNT, silent)
        add_others(opened, request.param, of_others)
        yield opened


def of_others(number: int) -> Sequence[Entity]:
    """Return items that result from actions of users who are unrelated to the sample."""
    name, other = f"else-{number}", f"else-{number // 2}"
    return (
        Post(post_id=name, user_id=other, text="Elsewhere."),
        Comment(comment_id=name, post_id=other, user_id=name, text="Indeed."),
        Like(post_id=other, user_id=name),
        Follower(user_id=other, follower_id=name),
        Following(user_id=name, followed_id=other),
        Message(message_id=name, conversation_id=other, user_id=name, text="Are you there?"),
    )


def calls(social: Social) -> dict[str, Callable[[], object]]:
    """Return a call of each pattern, in the order in which they run."""
    star, reader = user_id(0), user_id(READER)
    post = max(social.posts_of_user(star, limit=100), key=lambda post: (bool(post.comments), post.likes))
    name = social.conversations(star).items[0]
    said = social.comments_on_post(post.post_id).items[0]
    newest = NEWEST
    quiet, other = user_id(COUNT - 1), social.posts_of_user(star, limit=2).items[1]
    delivery = Delivery(user_id=quiet, reader_id=reader)
    joined = social.join("joined", "Joined", "hash")
    return {
        "S1": lambda: social.feed(reader),
        "S2": lambda: social.profile(star),
        "S2b": lambda: social.user_by_handle("ada.young.0"),
        "S3": lambda: social.posts_of_user(star, Range(ge=newest - timedelta(days=120))),
        "S4": lambda: social.post_by_id(post.post_id),
        "S5": lambda: social.comments_on_post(post.post_id),
        "S6a": lambda: social.likes_of_post(post.post_id),
        "S6b": lambda: social.like_of(post.post_id, user_id(1)),
        "S7a": lambda: social.followers(star),
        "S7b": lambda: social.following(reader),
        "S7c": lambda: social.follows(reader, star),
        "S8a": lambda: social.conversations(star),
        "S8b": lambda: social.membership(star, name.conversation_id),
        "S9": lambda: social.messages(name.conversation_id),
        "R1": lambda: social.audience(quiet),
        "R2": lambda: social.user_tallies(star),
        "R3": lambda: social.post_tallies(post.post_id),
        "R4": social.undelivered,
        "R5": lambda: social.deliveries_of(quiet),
        "R6": lambda: social.subscription(quiet, reader),
        "W1": lambda: social.sign_up("new", "New", user_id="new"),
        "R10": lambda: social.comment_of(said.post_id, said.created_at, said.comment_id),
        "W15": lambda: social.join("newer", "Newer", "hash"),
        "W16": lambda: social.edit_profile("new", "Newer", "About me."),
        "W20": lambda: social.set_password(joined.user_id, "hash", "new hash"),
        **session_calls(social),
        "W17": lambda: social.block("new", star),
        "W18": lambda: social.unblock("new", star),
        "W19": lambda: social.delete_comment(said.post_id, said.created_at, said.comment_id),
        "R7": lambda: social.credential(quiet),
        "R8": lambda: social.block_of(quiet, star),
        "R9": lambda: social.blocks(quiet),
        "R12": lambda: social.blocked_by([quiet, star], reader),
        "R13": lambda: social.blocked_of(quiet, [reader, star]),
        "W22": lambda: social.see_notifications(star, newest),
        "R11": lambda: social.profiles([star, reader]),
        "S12": social.latest_posts,
        "W23": lambda: social.remove_follower(star, reader),
        "S10": lambda: social.notifications(star, Range(gt=newest)),
        "S10b": lambda: social.notifications_seen(star),
        "W2": lambda: social.publish(star, "hello"),
        "W4": lambda: social.comment(post.post_id, "new", "hm"),
        "W5": lambda: social.like(post.post_id, "new"),
        "W6": lambda: social.unlike(post.post_id, "new"),
        "W3": lambda: social.delete_post(post.post_id),
        "W7": lambda: social.follow("new", star),
        "W8": lambda: social.unfollow("new", star),
        "W9": lambda: social.send_message(star, "new", "hello"),
        "W10": lambda: social.mark_read(star, name.conversation_id),
        "W11": lambda: social.deliver(delivery),
        "W12": lambda: social.sweep_post("gone"),
        "W13": lambda: social.gather(star),
        "W14": lambda: social.gather_post(other.post_id),
    }


def test_patterns_cost_the_units_listed_in_the_readme(social: Social) -> None:
    check_rows(social, README, "Access patterns", calls(social))


def test_keys_in_the_readme_equal_those_of_the_design() -> None:
    shown = {tuple(row[:5]) for row in rows_of(README, "Key table")[1:]}
    wanted: set[tuple[str, ...]] = set()
    for entity in Social.compiled.entities.values():
        texts = [str(template) for _, template in entity.primary.attributes]
        index = entity.index_keys[0] if entity.index_keys else None
        texts += ["–", "–"] if index is None else [str(template) for _, template in index.attributes]
        wanted.add((entity.name, *texts))
    assert shown == wanted


def test_limits_in_the_readme_equal_those_of_the_design() -> None:
    for number in (limits.READ_MAX, limits.AUDIENCE_MAX, limits.BACKFILL_MAX, limits.POST_SPREAD_AT, limits.SHARDS):
        assert f"{number:,}" in README
    assert f"{limits.USER_SPREAD_AT:,} followers" in README


def test_reading_the_feed_sends_the_requests_listed_in_the_readme(social: Social) -> None:
    """Queries read the follows, 200 authors' partitions (some twice) and the timeline; a batch reads its posts."""
    requests, _ = measured(social, lambda: social.feed(user_id(READER)))
    assert requests == "Query GSI1, 222 × Query, BatchGetItem"
