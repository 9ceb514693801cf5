"""Which posts, users and list entries a visitor sees.

Everything is public, except between two users of a block: neither sees the other's posts, likes and comments, wherever
they are listed, nor their conversation. Blocked users can't see the profile of the user who blocks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from keyplan.errors import ItemNotFound
from keyplan_systems.pages.people import Person
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Comment, Follower, Following, Like, Membership, Notification, Post, User

T = TypeVar("T")
Caller = Person | None


def may_see(social: Social, person: Caller, user_id: str) -> bool:
    """Whether a visitor sees a user's posts, followers and followed users."""
    return bool(unblocked(social, person, [user_id], str))


def unblocked(social: Social, person: Caller, items: Sequence[T], user_of: Callable[[T], str]) -> list[T]:
    """The items of a list, without those of users who block the visitor or are blocked by them: two BatchGetItem."""
    others = sorted({user_of(item) for item in items} - {person.user_id}) if person is not None else []
    if person is None or not others:
        return list(items)
    hidden = {block.user_id for block in social.blocked_by(others, person.user_id)}
    hidden |= {block.blocked_id for block in social.blocked_of(person.user_id, others)}
    return [item for item in items if user_of(item) not in hidden]


class Seeing:
    """The same rules for the REST API: checks that raise ItemNotFound, and filters of lists."""

    def __init__(self, social: Social) -> None:
        self._social = social

    def user(self, caller: Caller, given: Mapping[str, Any]) -> None:
        """Check a call about one user, or about two."""
        for name in ("user_id", "followed_id"):
            if name in given and not may_see(self._social, caller, str(given[name])):
                raise ItemNotFound(f"there is no user {given[name]!r}", place="Social.profile")

    def post(self, caller: Caller, given: Mapping[str, Any]) -> None:
        """Check a call about a post."""
        post = self._social.post_by_id(str(given["post_id"]))
        if post is not None and not may_see(self._social, caller, post.user_id):
            raise ItemNotFound(f"there is no post {given['post_id']!r}", place="Social.post_by_id")

    def conversation(self, caller: Caller, given: Mapping[str, Any]) -> None:
        """Check a call about a conversation: it is the caller's, and neither user blocks the other."""
        name = str(given["conversation_id"])
        part = None if caller is None else self._social.membership(caller.user_id, name)
        if part is None or not may_see(self._social, caller, part.with_user_id):
            raise ItemNotFound(f"you have no conversation {name!r}", place="Social.messages")

    def profiles(self, caller: Caller, users: Sequence[User]) -> list[User]:
        """Profiles, without those of users who block the caller."""
        return [user for user in users if not self.is_blocked(caller, user)]

    def is_blocked(self, caller: Caller, user: User) -> bool:
        return caller is not None and self._social.block_of(user.user_id, caller.user_id) is not None

    def listed(self, caller: Caller, items: Sequence[Any]) -> list[Any]:
        """Posts, comments, likes, follows, notifications or conversations, without those that a block hides."""
        return unblocked(self._social, caller, items, _user_of)


def _user_of(item: Post | Comment | Like | Follower | Following | Membership | Notification) -> str:
    match item:
        case Follower():
            return item.follower_id
        case Membership():
            return item.with_user_id
        case Following():
            return item.followed_id
        case Notification():
            return item.by_user_id
        case _:
            return item.user_id
