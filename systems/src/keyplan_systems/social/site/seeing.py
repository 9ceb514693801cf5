"""Who may see whom on the network.

Posts, followers and followings of a public user are for everybody, those of a private user for followers and the user.
A block hides two users from each other: what they posted, liked and said, wherever it is listed. Whoever is blocked
doesn't find the profile either; whoever blocks does, to be able to unblock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from keyplan.errors import ItemNotFound
from keyplan_systems.pages.people import Person
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Comment, Follower, Following, FollowRequest, Like, Notification, User

__all__ = ["Seeing", "may_see", "unblocked"]

T = TypeVar("T")
Caller = Person | None


def may_see(social: Social, person: Caller, user_id: str) -> bool:
    """Whether a visitor may read a user's posts, followers and followings."""
    if person is not None and person.user_id == user_id:
        return True
    if _hidden(social, person, [user_id]):
        return False
    user = social.profile(user_id)
    if user is None or not user.private:
        return True
    return person is not None and social.follows(person.user_id, user_id) is not None


def _hidden(social: Social, person: Caller, user_ids: Collection[str]) -> set[str]:
    """Those of several users who block a visitor, or are blocked by them: two batches of reads for a whole list."""
    others = sorted(set(user_ids) - {person.user_id}) if person is not None else []
    if person is None or not others:
        return set()
    blockers = {block.user_id for block in social.blocked_by(others, person.user_id)}
    return blockers | {block.blocked_id for block in social.blocked_of(person.user_id, others)}


def unblocked(social: Social, person: Caller, items: Sequence[T], user_of: Callable[[T], str]) -> list[T]:
    """The items of a list, without those of users whom a block hides from a visitor."""
    hidden = _hidden(social, person, [user_of(item) for item in items])
    return [item for item in items if user_of(item) not in hidden]


class Seeing:
    """The same for the REST API: raises ItemNotFound for what a caller can't see, and filters lists."""

    def __init__(self, social: Social) -> None:
        self._social = social

    def user(self, caller: Caller, given: Mapping[str, Any]) -> None:
        """A call about a user, and about another where it names one."""
        for name in ("user_id", "followed_id"):
            if name in given and not may_see(self._social, caller, str(given[name])):
                raise ItemNotFound(f"{given[name]!r} is private", place="Social", hint="ask to follow: ask_to_follow")

    def post(self, caller: Caller, given: Mapping[str, Any]) -> None:
        """A call about a post."""
        post = self._social.post_by_id(str(given["post_id"]))
        if post is not None and not may_see(self._social, caller, post.user_id):
            raise ItemNotFound(f"there is no post {given['post_id']!r}", place="Social.post_by_id")

    def profiles(self, caller: Caller, users: Sequence[User]) -> list[User]:
        """Profiles, without those of users who block the caller."""
        return [user for user in users if not self.is_blocked(caller, user)]

    def is_blocked(self, caller: Caller, user: User) -> bool:
        """Whether a user blocks the caller."""
        return caller is not None and self._social.block_of(user.user_id, caller.user_id) is not None

    def listed(self, caller: Caller, items: Sequence[Any]) -> list[Any]:
        """Comments, likes, followers, followings, requests or notifications, without those that a block hides."""
        return unblocked(self._social, caller, items, _about)


def _about(item: Any) -> str:
    match item:
        case Comment() | Like():
            return item.user_id
        case Follower() | FollowRequest():
            return item.follower_id
        case Following():
            return item.followed_id
        case Notification():
            return item.by_user_id
        case _:
            raise AssertionError(item)
