"""The same calls have equal results on each store, and keep items consistent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import ItemNotFound, Refused, UniqueValueTaken
from keyplan_systems.social import Social, design
from keyplan_systems.social.entities import conversation_of
from tests.systems.social.support import assert_whole, people
from tests.systems.support import STORES, all_pages, open_on


def a_day(social: Social) -> list[Any]:
    """Add follows, posts, likes and messages, and return the results of reads without timestamps and generated ids."""
    people(social, "ann", "ben", "cid", "dot")
    result: list[Any] = [social.follow("ann", other).delivery for other in ("ben", "cid", "dot")]
    posts = [social.publish(who, f"{number} by {who}") for number in range(3) for who in ("ben", "cid", "dot")]
    for who in ("ann", "ben", "cid", "dot"):
        social.like(posts[4].post_id, who)
    social.comment(posts[4].post_id, "ann", "hm")
    social.unlike(posts[4].post_id, "ben")
    social.delete_post(posts[5].post_id)
    result.append([page.text for page in all_pages(social.feed, "ann", limit=2)])
    social.unfollow("ann", "cid")
    result.append([page.text for page in all_pages(social.feed, "ann", limit=3)])
    result.append([(post.likes, post.comments, post.shards) for post in [social.gather_post(posts[4].post_id)]])
    result.append([page.user_id for page in all_pages(social.likes_of_post, posts[4].post_id, limit=1)])
    result.append([post.text for post in social.posts_of_user("ben")])
    for who, to in (("ann", "ben"), ("ben", "ann"), ("ann", "dot")):
        social.send_message(who, to, f"{who} to {to}")
    result.append(
        [
            (conversation.with_user_id, conversation.last_text, conversation.unread)
            for conversation in social.conversations("ann")
        ]
    )
    result.append([page.text for page in all_pages(social.messages, conversation_of("ben", "ann"), limit=1)])
    for wrong in (
        lambda: social.follow("ann", "ann"),
        lambda: social.follow("ann", "ben"),
        lambda: social.like(posts[4].post_id, "ann"),
        lambda: social.like("none", "ann"),
        lambda: social.sign_up("BEN", "Another"),
        lambda: social.unfollow("ann", "cid"),
    ):
        with pytest.raises((Refused, ItemNotFound, UniqueValueTaken)) as refused:
            wrong()
        result.append(type(refused.value).__name__)
    ann, ben = social.profile("ann"), social.profile("ben")
    assert ann is not None
    assert ben is not None
    result.append((ann.following, ann.followers, ben.followers, ben.posts, ben.audience))
    assert_whole(social)
    return result


@pytest.mark.parametrize("store", STORES)
def test_social_network_calls_have_the_same_results_on_every_store(
    store: str, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(design, "POST_SPREAD_AT", 3)
    with Social.open(":memory:") as social:
        wanted = a_day(social)
    assert wanted[0:3] == ["read", "write", "write"]
    with open_on(Social, store, tmp_path) as social:
        assert a_day(social) == wanted
