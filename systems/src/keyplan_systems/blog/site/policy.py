"""Authorization of the API: the blog's ``keyplan.web.policy.Policy``.

User ids are filled in or looked up here, never taken from the caller. ``keyplan_systems.site.policy`` identifies and
counts callers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel

from keyplan import Page
from keyplan.errors import AccessDenied, ErrorDetail, ItemNotFound, Refused
from keyplan_systems.blog.access import WHO, Audience
from keyplan_systems.blog.accounts import is_unclaimed
from keyplan_systems.blog.entities import Comment, Post, PostSlug, PostWithContent, User
from keyplan_systems.blog.site.cards import authors_of
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site.policy import BasePolicy
from keyplan_systems.words import is_tag, slug_from, tag_from

_RANKS: Mapping[Audience, int] = {"anyone": 0, "reader": 1, "author": 2, "moderator": 3}

_FILLED: Mapping[str, Collection[str]] = {
    **{name: ("user_id",) for name, audience in WHO.items() if audience == "reader" and name != "remove_comment"},
    "create_post": ("imported",),
    "edit_post": ("edited_by", "imported"),
}
"""Parameters with the caller's id; those for imports stay empty."""
_EMPTY = {"imported"}
_OWN_POST = {"edit_post", "publish", "unpublish", "archive", "restore", "who_saw_post"}
_LISTING = {"publish", "unpublish", "archive"}
_PUBLISHED_POST = {"view_post", "like_post", "rate_post", "add_comment"}
_LOOKED_UP = {*_OWN_POST, *_PUBLISHED_POST, "comments"}
"""Patterns about a post, which is read before the call."""
_CHANGED_USER = {"set_status": "status", "set_role": "role"}
_GIVEN_POST = ("slug", "title", "excerpt", "tags")
"""Fields of a new post that a caller sets; the server sets the others."""


class BlogPolicy(BasePolicy[User]):
    """The blog's authorization policy."""

    patterns: ClassVar[frozenset[str]] = frozenset(WHO)
    closed: ClassVar[frozenset[str]] = frozenset(name for name in patterns if WHO[name] != "anyone")

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.site = site
        self.blog = site.blog
        self.writes = frozenset(site.blog.compiled.writes)

    def filled(self, pattern: str) -> Collection[str]:
        return _FILLED.get(pattern, ())

    def fill(self, pattern: str, caller: User | None) -> Mapping[str, Any]:
        if caller is None:
            return {}
        return {name: None if name in _EMPTY else caller.user_id for name in self.filled(pattern)}

    def admit(self, pattern: str, arguments: dict[str, Any], caller: User | None) -> dict[str, Any]:
        """The arguments of the call. Raises AccessDenied, and ItemNotFound for items that the caller can't see."""
        rank = 0 if caller is None else _RANKS[caller.role]
        if rank < _RANKS[WHO[pattern]]:
            raise AccessDenied(f"{pattern} requires the role {WHO[pattern]}", place=f"Blog.{pattern}")
        if caller is not None and WHO[pattern] != "anyone" and pattern in self.writes:
            self.count("respond" if WHO[pattern] == "reader" else "write", caller.user_id)
            self.check_texts(pattern, arguments)
        if pattern == "posts_of_user" and arguments["status"] != "published":
            self._own(caller, str(arguments["user_id"]), pattern)
        if pattern in _LOOKED_UP:
            self._post(pattern, str(arguments["post_id"]), caller)
        if pattern == "remove_comment":
            self._own_comment(arguments, caller)
        if pattern == "view_user" and self.blog.user(str(arguments["viewed_id"])) is None:
            raise ItemNotFound(f"there is no user {arguments['viewed_id']!r}", place="Blog.view_user")
        if pattern in _CHANGED_USER:
            user = self.blog.user(str(arguments["user_id"]))
            if user is not None and user.role == "moderator":
                raise AccessDenied(f"a moderator's {_CHANGED_USER[pattern]} can't be changed", place=f"Blog.{pattern}")
        if pattern == "edit_post":
            _check_post(arguments)
        if pattern == "create_post" and caller is not None:
            return {**arguments, "post": _new_post(arguments["post"], caller)}
        return arguments

    def _own(self, caller: User | None, user_id: str, pattern: str) -> None:
        if caller is None or (caller.user_id != user_id and caller.role != "moderator"):
            raise AccessDenied("only the author and moderators can list unpublished posts", place=f"Blog.{pattern}")

    def _own_comment(self, arguments: Mapping[str, Any], caller: User | None) -> None:
        comment = self.blog.comment(*(str(arguments[name]) for name in ("post_id", "thread_id", "comment_id")))
        if comment is None:
            raise ItemNotFound("the comment doesn't exist", place="Blog.remove_comment")
        if caller is None or comment.user_id != caller.user_id:
            raise AccessDenied("the comment belongs to another user", place="Blog.remove_comment")

    def _post(self, pattern: str, post_id: str, caller: User | None) -> None:
        """Check that the caller can see the post, and owns it if it is to be changed."""
        post = self.blog.post(post_id)
        if post is None or not _visible(post, caller) or (pattern in _PUBLISHED_POST and post.status != "published"):
            raise ItemNotFound(f"there is no post {post_id!r}", place=f"Blog.{pattern}")
        if pattern in _OWN_POST and caller is not None and post.user_id != caller.user_id:
            moderates = caller.role == "moderator" and (pattern != "edit_post" or is_unclaimed(self.blog, post.user_id))
            if not moderates:
                raise AccessDenied("the post belongs to another user", place=f"Blog.{pattern}")

    def shown(self, pattern: str, arguments: Mapping[str, Any], answer: Any, caller: User | None) -> Any:  # noqa: ARG002
        """The result, without posts and users that the caller can't see."""
        if isinstance(answer, Page):
            return self._page(answer, caller)
        if pattern == "users":
            return [value for value in answer if _is_there(value, caller)]
        if isinstance(answer, Post | PostWithContent):
            post = answer if isinstance(answer, Post) else answer.post
            if pattern in self.closed:  # the pattern is a write, so update the pages
                listed = pattern in _LISTING or post.status == "published"
                self.site.changed(post, listed=listed)
            elif not _visible(post, caller) or not self._author_is_there(post, caller):
                return None
        if isinstance(answer, User) and not _is_there(answer, caller):
            return None
        if isinstance(answer, PostSlug):
            about = self.blog.post(answer.post_id)
            return None if about is None or not _visible(about, caller) else answer
        return answer

    def _page(self, answer: Page[Any], caller: User | None) -> Page[Any]:
        """A page without inactive users, their posts, and the text of hidden comments."""
        if caller is not None and caller.role == "moderator":
            return answer
        posts = [item for item in answer.items if isinstance(item, Post)]
        there = authors_of(self.blog, posts) if posts else {}
        own = None if caller is None else caller.user_id
        items = [
            item.model_copy(update={"text": ""}) if isinstance(item, Comment) and item.status != "shown" else item
            for item in answer.items
            if (not isinstance(item, Post) or item.user_id in there or item.user_id == own)
            and (not isinstance(item, User) or _is_there(item, caller))
        ]
        return Page(items, answer.cursor)

    def _author_is_there(self, post: Post, caller: User | None) -> bool:
        own = caller is not None and (caller.role == "moderator" or caller.user_id == post.user_id)
        return own or bool(authors_of(self.blog, [post]))


def _visible(post: Post, caller: User | None) -> bool:
    if post.status == "published":
        return True
    if caller is None:
        return False
    return caller.user_id in {post.user_id, *post.co_authors} or caller.role == "moderator"


def _is_there(user: User, caller: User | None) -> bool:
    """Whether a caller can see a user. Only moderators can see inactive users."""
    return user.status == "active" or (caller is not None and caller.role == "moderator")


def _check_post(given: Mapping[str, Any]) -> None:
    """Raises Refused for an invalid slug or tag, and for an invisible title."""
    slug = given["slug"]
    if slug_from(str(slug)) != slug:
        fault = ErrorDetail("slug", "invalid slug", f"use letters, digits and hyphens, such as {slug_from(str(slug))}")
        raise Refused("invalid slug", place="Blog", errors=[fault])
    wrong = [str(tag) for tag in given.get("tags", ()) if not is_tag(str(tag))]
    faults = [ErrorDetail("tags", f"{tag!r} is an invalid tag", f"use {tag_from(tag)!r}") for tag in wrong]
    if faults:
        raise Refused("invalid tags", place="Blog", errors=faults)


def _new_post(given: Any, caller: User) -> Any:
    """The caller's new post: only the fields that a caller sets."""
    fields: Mapping[str, Any] = given.model_dump() if isinstance(given, BaseModel) else given
    _check_post(fields)
    if fields["user_id"] != caller.user_id:
        raise AccessDenied("user_id belongs to another user", place="Blog.create_post", hint=f"use {caller.user_id}")
    return {name: fields[name] for name in (*_GIVEN_POST, "user_id") if name in fields}
