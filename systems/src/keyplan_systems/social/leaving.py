"""Export and deletion of a user's data. Each step is idempotent and the account goes last, so an interrupted deletion
can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from keyplan import Delete, Page
from keyplan.errors import ItemNotFound
from keyplan_systems.paging import as_json, items_of
from keyplan_systems.social.design import Social

__all__ = ["SocialLeaving"]

T = TypeVar("T")
PAGE = 100


class SocialLeaving:
    """Export and deletion of a user of the network."""

    stays = (
        "Your profile, your posts with their likes and comments, your follows, followers and blocks, and your side of "
        "each conversation are deleted, and your handle is free. Your comments and likes on posts of others, and your "
        "messages to others, stay without your name: there is no list of them. Delete comments before, if you want to."
    )

    def __init__(self, social: Social) -> None:
        self._social = social

    def export(self, user_id: str) -> dict[str, Any]:
        """Profile, posts, follows, blocks, and conversations with their messages. Raises ItemNotFound."""
        social = self._social
        user = social.profile(user_id)
        if user is None:
            raise ItemNotFound(f"there is no user {user_id!r}", place="account")
        return {
            "profile": as_json(user),
            "posts": [as_json(post) for post in _all(partial(social.posts_of_user, user_id))],
            "following": [as_json(link) for link in _all(partial(social.following, user_id))],
            "followers": [as_json(link) for link in _all(partial(social.followers, user_id))],
            "blocks": [as_json(block) for block in _all(partial(social.blocks, user_id))],
            "conversations": [
                as_json(part)
                | {"messages": [as_json(message) for message in _all(partial(social.messages, part.conversation_id))]}
                for part in _all(partial(social.conversations, user_id))
            ],
        }

    def leave(self, user_id: str) -> list[str]:
        """Delete a user; returns what stays. Raises ItemNotFound; ConditionFailed under contention."""
        social = self._social
        for post in _all(partial(social.posts_of_user, user_id)):
            social.delete_post(post.post_id)
            while social.sweep_post(post.post_id):
                pass
        for link in _all(partial(social.following, user_id)):
            social.unfollow(user_id, link.followed_id)
        for follower in _all(partial(social.followers, user_id)):
            social.remove_follower(user_id, follower.follower_id)
        for block in _all(partial(social.blocks, user_id)):
            social.unblock(user_id, block.blocked_id)
        parts = list(_all(partial(social.conversations, user_id)))
        social.batch([Delete(item) for item in (*parts, *_all(partial(social.notifications, user_id)))])
        social.leave(user_id)
        return ["Comments and likes under posts of others, and messages to them: by somebody who has left."]


def _all(ask: Callable[..., Page[T]]) -> Iterator[T]:
    return items_of(partial(ask, limit=PAGE))
