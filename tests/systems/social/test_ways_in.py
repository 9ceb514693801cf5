"""Every question and write of the social network, in Python, awaited, by name, over REST, and on the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keyplan.web import app
from keyplan_systems.site.sessions import Session
from keyplan_systems.social import Social, limits
from keyplan_systems.social.sample import NEWEST, READER, sample, user_id
from keyplan_systems.social.system import SYSTEM
from tests.cli.support import json_of, run
from tests.systems.support import alike_in_every_way, silent
from tests.web.support import TestClient

SESSION = Session(user_id="ada", mark="0", expires_at=datetime(2030, 1, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = tmp_path_factory.mktemp("social") / "social.db"
    with pytest.MonkeyPatch.context() as patch, Social.open(result) as social:
        patch.setattr(limits, "READ_MAX", 10)
        sample(social, 40, silent)
        social.block(user_id(39), user_id(38))
        social.ask_to_follow(user_id(37), user_id(39))
        social.see_notifications(user_id(0), NEWEST)
        social.put(SESSION)
    return result


@pytest.fixture
def social(path: Path) -> Iterator[Social]:
    with Social.open(path) as opened:  # anew for each test: serving it closes it
        yield opened


def arguments(social: Social, name: str) -> dict[str, Any]:
    """Arguments with which a read has something to tell."""
    reader = {"user_id": user_id(READER)}
    post = max(social.feed(user_id(READER), limit=100), key=lambda post: (post.comments > 1, post.likes))
    said = social.comments_on_post(post.post_id).items[0]
    part = social.conversations(user_id(0)).items[0]
    delivered = next(
        element for element in social.following(user_id(READER)) if element.delivery == "write"
    ).followed_id
    known: dict[str, dict[str, Any]] = {
        "feed": {**reader, "limit": 3},
        "following": {**reader, "limit": 3},
        "follows": {**reader, "followed_id": user_id(0)},
        "followers": {"user_id": user_id(0), "limit": 3},
        "posts_of_user": {"user_id": post.user_id, "limit": 2},
        "user_by_handle": {"handle": str(getattr(social.profile(user_id(3)), "handle", ""))},
        "post_by_id": {"post_id": post.post_id},
        "comments_on_post": {"post_id": post.post_id, "limit": 1},
        "likes_of_post": {"post_id": post.post_id, "limit": 2},
        "like_of": {"post_id": post.post_id, "user_id": social.likes_of_post(post.post_id).items[0].user_id},
        "conversations": {"user_id": user_id(0)},
        "membership": {"user_id": user_id(0), "conversation_id": part.conversation_id},
        "messages": {"conversation_id": part.conversation_id, "limit": 2},
        "post_tallies": {"post_id": post.post_id},
        "audience": {"user_id": delivered},
        "subscription": {"user_id": delivered, "reader_id": user_id(READER)},
        "undelivered": {"limit": 2},
        "credential": {"user_id": user_id(0)},
        "block_of": {"user_id": user_id(39), "blocked_id": user_id(38)},
        "blocks": {"user_id": user_id(39)},
        "notifications": {"user_id": user_id(0), "limit": 3},
        "notifications_seen": {"user_id": user_id(0)},
        "follow_requests": {"user_id": user_id(39)},
        "request_of": {"user_id": user_id(39), "follower_id": user_id(37)},
        "comment_of": {"post_id": post.post_id, "created_at": said.created_at, "comment_id": said.comment_id},
    }
    known |= {"session": {"user_id": SESSION.user_id, "session_id": SESSION.session_id}}
    known |= {
        "sessions": {"user_id": SESSION.user_id},
        "blocked_by": {"user_id": user_id(39), "blocked_id": user_id(38)},
    }
    known |= {"blocked_of": {"user_id": user_id(39), "blocked_id": user_id(38)}}
    return known.get(name, reader)


EMPTY = {"user_tallies", "post_tallies", "undelivered", "deliveries_of"}
"""What a network has none of where nobody is famous and no delivery was broken off."""


@pytest.mark.parametrize("name", sorted(Social.compiled.reads.keys() - {"blocked_by", "blocked_of"}))
def test_a_read_answers_alike_in_every_way(social: Social, path: Path, name: str) -> None:
    answer = alike_in_every_way(social, path, name, arguments(social, name))
    result = answer.get("items", answer) if isinstance(answer, dict) else answer
    assert bool(result) is (name not in EMPTY)


def test_writes_work_in_every_way(social: Social, path: Path) -> None:
    given = {"user_id": user_id(3)}
    made = [
        social.publish(**given, text="one").text,
        asyncio.run(social.publish.aio(**given, text="two")).text,
        social.call("publish", {**given, "text": "three"}).text,
        json_of("call", "social", "publish", "user_id=u_0003", "text=four", "--db", str(path))["text"],
    ]
    with TestClient(app(social)) as client:
        made.append(client.post("/api/publish", json={**given, "text": "five"}).json()["text"])
        newest = client.get("/api/posts_of_user", params={"user_id": user_id(3), "limit": 5}).json()
        assert [item["text"] for item in newest["items"]] == made[::-1]
        refused = client.post("/api/follow", json={**given, "followed_id": user_id(3)})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "Refused")
        missing = client.post("/api/follow", json={**given, "followed_id": "nobody"})
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "ItemNotFound")
        wrong = client.post("/api/publish", json={**given, "text": 3, "likes": 5})
        assert wrong.status_code == 400
        assert set(client.get("/openapi.json").json()["paths"]) == {f"/api/{name}" for name in Social.compiled.patterns}


def test_the_command_line_tells_what_is_refused(social: Social, path: Path) -> None:
    result = run("call", "social", "like", "post_id=none", "user_id=u_0003", "--db", str(path))
    assert result.exit_code == 1
    assert "there is no post 'none'" in result.stderr
    result = run("import", "social", "nowhere.txt")
    assert result.exit_code == 2
    assert SYSTEM.input in result.stderr


@pytest.mark.parametrize("name", list(Social.compiled.patterns))
def test_every_pattern_is_explained(name: str) -> None:
    result = json_of("explain", "social", name)
    assert result["proof"]
    assert result["operation"] != "Scan"


def test_the_feed_is_explained_whole() -> None:
    """Four conditions, one after the other, and none of them hidden."""
    result = json_of("explain", "social", "feed")["key_condition"].split(" → ")
    assert [value.partition(",")[0] for value in result] == [
        "gsi1pk = user#{user_id}#following",
        "pk = user#{user_id}#timeline",
        "pk = user#{Following.followed_id}#post",
        "pk = user#{TimelineEntry.author_id}#post",
    ]
