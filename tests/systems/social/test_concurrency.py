"""Concurrent writers in threads, tasks and processes on one file keep stored items consistent."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier

import pytest

from keyplan.errors import KeyplanError, Refused
from keyplan_systems.social import Social
from keyplan_systems.social.entities import Comment, Like, Post, conversation_of
from tests.systems.social.support import assert_whole, everything, people
from tests.systems.support import STORES, all_pages, in_processes, open_on

WORKERS = 8
NAMES = tuple(f"u{number}" for number in range(6))

LIFE = """
import random, sys
from keyplan.errors import ConditionFailed, ItemNotFound, Refused
from keyplan_systems.social import Social, design, limits
limits.READ_MAX, limits.AUDIENCE_MAX, limits.BACKFILL_MAX = 1, 3, 6
design.POST_SPREAD_AT = design.USER_SPREAD_AT = 3
chance = random.Random(int(sys.argv[2]))
names = [f"u{number}" for number in range(6)]
with Social.open(sys.argv[1], create=False) as social:
    print("ready", flush=True)
    sys.stdin.readline()
    done = 0
    for step in range(40):
        who, other = chance.choice(names), chance.choice(names)
        post = next(iter(social.posts_of_user(other, limit=1)), None)
        post_id = post.post_id if post else "none"
        try:
            match chance.randrange(10):
                case 0 | 1: social.publish(who, f"by {who}")
                case 2 | 3: social.follow(who, other)
                case 4: social.unfollow(who, other)
                case 5: social.like(post_id, who)
                case 6: social.unlike(post_id, who)
                case 7: social.comment(post_id, who, "hm")
                case 8 if step % 4: social.send_message(who, other, "hi")
                case 8: social.delete_post(post_id)
                case 9: social.block(who, other) if step % 3 else social.unblock(who, other)
            done += 1
        except (Refused, ItemNotFound, ConditionFailed):
            pass  # the last: the post was deleted between the reads and the transaction
    print(done)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "social.db"
    with Social.open(path) as social:
        people(social, *NAMES)
    return path


@pytest.mark.parametrize("store", [text for text in STORES if text != "memory"])
def test_random_actions_in_four_processes_keep_items_consistent(store: str, tmp_path: Path) -> None:
    """Four processes run all kinds of user actions. The thresholds are so low that six users reach them."""
    with open_on(Social, store, tmp_path) as social:
        people(social, *NAMES)
        said = in_processes(LIFE, [[social.store.url, str(number)] for number in range(4)])
        assert sum(int(text) for text in said) > 60
        there = everything(social)
        posts = {value.post_id for value in there[Post]}
        for left in {value.post_id for value in [*there[Like], *there[Comment]]} - posts:
            assert social.sweep_post(left) > 0  # liked during the deletion
        assert_whole(social)
        for name in NAMES:
            followed = {page.followed_id for page in all_pages(social.following, name)}
            wanted = [value for value in there[Post] if value.user_id in followed]
            pages = all_pages(social.feed, name, limit=7)
            assert pages == sorted(wanted, key=lambda value: (value.created_at, value.post_id), reverse=True)


def test_concurrent_likes_by_one_user_are_counted_once(file: Path) -> None:
    with Social.open(file) as social, ThreadPoolExecutor(WORKERS) as pool:
        post = social.publish("u0", "hello")
        barrier = Barrier(WORKERS)

        def like(number: int) -> int:
            barrier.wait()
            done = 0
            for name in NAMES:
                try:
                    social.like(post.post_id, name)
                    done += 1
                except Refused:
                    pass
            return done

        assert sum(pool.map(like, range(WORKERS))) == len(NAMES)
        result = social.post_by_id(post.post_id)
        assert result is not None
        assert result.likes == len(NAMES)
        assert_whole(social)


def test_concurrent_follows_and_unfollows_of_one_user_keep_timelines_correct(file: Path, small: None) -> None:
    """The author posts during the follows and unfollows. ``assert_whole`` checks the follower's timeline."""
    with Social.open(file) as social, ThreadPoolExecutor(4) as pool:
        social.follow("u0", "u1")

        def toggle(number: int) -> None:
            chance = random.Random(number)
            for _ in range(6):
                with suppress(Refused):
                    (social.follow if chance.random() < 0.6 else social.unfollow)("u0", "u2")

        def write(number: int) -> None:
            for _ in range(3):
                social.publish("u2", f"{number}")

        made = [pool.submit(toggle, number) for number in range(3)] + [pool.submit(write, 0)]
        for future in made:
            future.result()
        assert_whole(social)


def test_messages_sent_concurrently_by_tasks_are_all_stored(file: Path) -> None:
    async def talk(social: Social) -> None:
        pairs = [("u0", "u1"), ("u1", "u0")] * 6
        await asyncio.gather(*(social.send_message.aio(text, other, "hi") for text, other in pairs))

    with Social.open(file) as social:
        asyncio.run(talk(social))
        assert len(all_pages(social.messages, conversation_of("u0", "u1"))) == 12
        parts = [social.membership(name, conversation_of("u0", "u1")) for name in ("u0", "u1")]
        assert sum(part.unread for part in parts if part is not None) == 12
        assert_whole(social)


def test_only_one_of_several_concurrent_registrations_gets_a_handle(file: Path) -> None:
    with Social.open(file) as social, ThreadPoolExecutor(WORKERS) as pool:

        def sign_up(number: int) -> bool:
            try:
                social.sign_up("wanted", f"Number {number}")
            except KeyplanError:
                return False
            return True

        assert sum(pool.map(sign_up, range(WORKERS * 2))) == 1
