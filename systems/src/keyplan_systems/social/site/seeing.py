"""Who may see whose posts: everybody those of public users; of private ones, who follows them and they themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.errors import ItemNotFound
from keyplan_systems.pages.people import Person
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Post

__all__ = ["Seeing", "may_see"]


def may_see(social: Social, person: Person | None, user_id: str) -> bool:
    """Whether a visitor may read a user's posts, followers and followings. A block hides them from both users."""
    if person is not None and person.user_id == user_id:
        return True
    if person is not None and _blocks_between(social, person.user_id, user_id):
        return False
    user = social.profile(user_id)
    if user is None or not user.private:
        return True
    return person is not None and social.follows(person.user_id, user_id) is not None


def _blocks_between(social: Social, user_id: str, other_id: str) -> bool:
    """Whether one of two users blocks the other."""
    return social.block_of(user_id, other_id) is not None or social.block_of(other_id, user_id) is not None


class Seeing:
    """The same for the arguments of the API's calls: what isn't there for a caller raises ItemNotFound."""

    def __init__(self, social: Social) -> None:
        self._social = social

    def user(self, caller: Person | None, given: Mapping[str, Any]) -> None:
        """A call about a user, and about another where it names one."""
        for name in ("user_id", "followed_id"):
            if name in given and not may_see(self._social, caller, str(given[name])):
                raise ItemNotFound(f"{given[name]!r} is private", place="Social", hint="ask to follow: ask_to_follow")

    def post(self, caller: Person | None, given: Mapping[str, Any]) -> None:
        """A call about a post."""
        post = self._social.post_by_id(str(given["post_id"]))
        if post is not None and not may_see(self._social, caller, post.user_id):
            raise ItemNotFound(f"there is no post {given['post_id']!r}", place="Social.post_by_id")

    def entry(self, caller: Person | None, entry: Any) -> bool:
        """Whether a post appears in the caller's feed."""
        return isinstance(entry, Post) and may_see(self._social, caller, entry.user_id)
