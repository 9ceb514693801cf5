"""A member of the network leaves: what they may take along, what goes with them, and what stays.

Each step can be repeated, and the account itself goes last: a deletion that was interrupted is done again from the
start.
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
    """What the network knows of somebody who leaves."""

    stays = (
        "Your profile, your posts with all that was said of them, whom you follow, who follows you, your blocks and "
        "your side of each conversation go for good, and your handle is free. What you said under posts of others, "
        "what you liked and what you wrote to others stays with them, by somebody who has left, since no list is kept "
        "of what somebody said elsewhere: delete comments before, if you want them gone."
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
        """Delete a user; gives what stays. Raises ItemNotFound; ConditionFailed where somebody does something with them
        all the while.
        """
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
        for request in _all(partial(social.follow_requests, user_id)):
            social.decline_request(user_id, request.follower_id)
        parts = list(_all(partial(social.conversations, user_id)))
        social.batch([Delete(item) for item in (*parts, *_all(partial(social.notifications, user_id)))])
        social.leave(user_id)
        return ["Comments and likes under posts of others, and messages to them: by somebody who has left."]


def _all(ask: Callable[..., Page[T]]) -> Iterator[T]:
    return items_of(partial(ask, limit=PAGE))
