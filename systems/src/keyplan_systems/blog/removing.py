"""Permanent deletion of a post or an account with all references, and the export of a user's data.

Each step can be repeated: items that other steps need are deleted last, so an interrupted deletion restarts from the
beginning. Concurrent writes can't add references: comments expect a published post, and views, likes and ratings count
in shards of a counter, which are closed before their subject is deleted. README.md lists what stays: impressions (seen,
liked, rated) of deleted users without names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from keyplan import Delete, Page
from keyplan.errors import ConditionFailed, ItemNotFound
from keyplan_systems.blog.counting import closed, counted
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Credential, Post, PostStatus, ProviderUser, Redirect, User
from keyplan_systems.paging import as_json, items_of, pages_of
from keyplan_systems.site.files import Files
from keyplan_systems.site.searching import Search

Item = TypeVar("Item")

STATUSES: tuple[PostStatus, ...] = ("unpublished", "published", "archived")
PAGE = 100


def delete_post(blog: Blog, post_id: str) -> None:
    """Delete a post: its text, URLs, comments, impressions and counts. Raises ItemNotFound.

    A post that was never published has no counts to close.
    """
    post = blog.post(post_id)
    if post is None:
        raise ItemNotFound(f"there is no post {post_id!r}", place="Blog.post")
    if post.status == "published":
        post = blog.archive(post_id)
    others = blog.addresses_of(post_id)
    led = [Delete(Redirect, path=address.address) for address in others if address.address.startswith("/")]
    _all(blog, led)
    for said in _pages(partial(blog.comments, post_id, limit=PAGE)):
        _all(blog, [Delete(comment) for comment in said])
    if post.published_at is not None:
        _all(blog, closed("post", post_id))
        for seen in _pages(partial(blog.who_saw_post, post_id, limit=PAGE)):
            _all(blog, [Delete(impression) for impression in seen])
    blog.delete_post(post_id)


def delete_account(blog: Blog, user_id: str, files: Files, search: Search) -> list[str]:
    """Delete a user with their posts, images and sessions; their comments lose their text. Returns what stays.

    Raises ItemNotFound.
    """
    user = blog.set_status(user_id, "deleted")
    for posts in _posts_of(blog, user_id):
        for post in posts:
            delete_post(blog, post.post_id)
            search.remove(post.post_id)
    comments = 0
    for said in _pages(partial(blog.comments_of_user, user_id, limit=PAGE)):
        for comment in said:
            comments += blog.remove_comment(comment.post_id, comment.thread_id, comment.comment_id)
    for upload in blog.uploads_of(user_id):
        files.delete(upload.name)
        blog.delete(upload)
    for viewed in _pages(partial(blog.viewed_by, user_id, limit=PAGE)):
        for seen in viewed:
            _uncount(blog, Delete(seen), seen.viewed_id, {"views": -1})
    _all(blog, closed("user", user_id))
    _remove_user(blog, user)
    stays = ["Your views, likes and ratings of other posts, and views of your page, under an anonymous id."]
    if comments:
        stays.append(f"{comments} {'comment' if comments == 1 else 'comments'} without text.")
    return stays


def _uncount(blog: Blog, delete: Delete, subject: str, changes: Mapping[str, int]) -> None:
    """Delete an item and decrement another user's counter; only the item if that user was deleted."""
    try:
        blog.transact([delete, counted("user", subject, changes)])
    except ConditionFailed:
        _all(blog, [delete])


def _remove_user(blog: Blog, user: User) -> None:
    """Delete the user, their credential with its claims, and their identities, in one transaction."""
    _all(blog, [Delete(session) for session in blog.sessions(user.user_id)])
    stored = blog.get(User, user_id=user.user_id, consistent=True)
    credential = blog.get(Credential, user_id=user.user_id, consistent=True)
    actions: list[Any] = [] if stored is None else [Delete(stored)]
    if credential is not None:
        actions.append(Delete(credential))
        identities = [named.partition(":") for named in sorted(credential.providers)]
        actions += [Delete(ProviderUser, provider=text, external_id=other) for text, _, other in identities]
    if actions:
        blog.transact(actions)


def export_of(blog: Blog, user_id: str) -> dict[str, Any]:
    """All stored data of a user as JSON: profile, posts with content, comments, images, sign-ins."""
    user = blog.get(User, user_id=user_id, consistent=True)
    credential = blog.get(Credential, user_id=user_id, consistent=True)
    if user is None or credential is None:
        raise ItemNotFound(f"there is no user {user_id!r}", place="account")
    posts: list[dict[str, Any]] = []
    for page in _posts_of(blog, user_id):
        texts = {content.post_id: content.content for content in blog.contents([post.post_id for post in page])}
        posts += [as_json(post) | {"content": texts.get(post.post_id, "")} for post in page]
    comments = [as_json(comment) for comment in items_of(partial(blog.comments_of_user, user_id, limit=PAGE))]
    return {
        "profile": as_json(user),
        "email": credential.email,
        "providers": sorted(credential.providers),
        "sessions": [
            {"label": session.label, "kind": session.kind, "since": session.created_at.isoformat()}
            for session in blog.sessions(user_id)
        ],
        "posts": posts,
        "comments": comments,
        "pictures": [f"/files/{upload.name}" for upload in blog.uploads_of(user_id)],
    }


def _posts_of(blog: Blog, user_id: str) -> Iterator[list[Post]]:
    """A user's posts with any status, page by page."""
    for status in STATUSES:
        yield from _pages(partial(blog.posts_of_user, user_id, status, limit=PAGE))


def _pages(ask: Callable[..., Page[Item]]) -> Iterator[list[Item]]:
    yield from (list(page.items) for page in pages_of(ask) if page.items)


def _all(blog: Blog, deletes: list[Any]) -> None:
    if deletes:
        blog.batch(deletes)
