"""Deleting a post or an account removes all items that refer to it, except items that are documented to remain."""

from __future__ import annotations

from keyplan.testing.stored_world import scan
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Counter, Post, User
from keyplan_systems.blog.removing import delete_account, delete_post, export_of
from keyplan_systems.blog.searching import search_of
from keyplan_systems.site.files import MemoryFiles, name_of
from keyplan_systems.site.signing import Signer
from tests.systems.blog.support import check_books, new_user, published

KEPT = {"PostTag", "Counter"}
"""Tags stay, with no posts; what a post gained stays in the counters of its tags and author."""


def filled(blog: Blog, author: User, reader: User) -> Post:
    post = published(blog, author, "one", ("a", "b"))
    post = blog.edit_post(post.post_id, 1, "T", "x", "two", ("b", "c"), author.user_id).post
    blog.lead("/old/one", post.post_id)
    first = blog.add_comment(post.post_id, reader.user_id, "Yes.")
    blog.add_comment(post.post_id, author.user_id, "No.", first.thread_id)
    blog.like_post(post.post_id, reader.user_id)
    blog.rate_post(post.post_id, reader.user_id, 4)
    blog.refresh_ranking(post.post_id)
    return post


def left(blog: Blog, *ids: str) -> set[str]:
    """Return the kinds of items that contain one of the ids, except counter shards that expire."""
    rows = [row for row in scan(blog).rows if any(id_ in str(row.item) for id_ in ids)]
    return {
        type(row.instance).__name__
        for row in rows
        if not (isinstance(row.instance, Counter) and row.instance.closed and row.instance.expires_at)
    }


def test_a_deleted_post_leaves_no_items(blog: Blog, ada: User) -> None:
    reader = new_user(blog, "reader")
    post = filled(blog, ada, reader)
    other = published(blog, ada, "other", ("b",))
    delete_post(blog, post.post_id)
    assert left(blog, post.post_id) == set()
    assert [blog.slug_of(slug) for slug in ("one", "two")] == [None, None]
    assert blog.redirect("/old/one") is None
    assert [tag.post_id for tag in blog.posts_by_tags(("b",))] == [other.post_id]
    check_books(blog)
    again = published(blog, ada, "one", ("a",))
    assert blog.slug_of("one") is not None
    assert again.status == "published"


def test_a_deleted_account_leaves_only_documented_items(blog: Blog, ada: User) -> None:
    reader, files = new_user(blog, "reader"), MemoryFiles()
    post = filled(blog, ada, reader)
    blog.view_user(ada.user_id, reader.user_id)
    picture = name_of(b"picture", "png", ada.user_id)
    files.put(picture, b"picture")
    blog.note_upload(ada.user_id, picture)
    said = blog.add_comment(filled_by(blog, reader).post_id, ada.user_id, "Mine.")
    accounts.sessions_of(blog, Signer(b"a secret of the tests")).open(ada)
    taken = export_of(blog, ada.user_id)
    assert [value["content"] for value in taken["posts"]] == ["x"]
    assert {comment["text"] for comment in taken["comments"]} == {"Mine.", "No."}
    assert taken["pictures"] == [f"/files/{picture}"]

    search = search_of(blog)
    assert search.find("x", 5) == [post.post_id]
    stays = delete_account(blog, ada.user_id, files, search)
    assert len(stays) == 2
    assert left(blog, post.post_id) == set()
    assert left(blog, ada.user_id) == {"Comment"}
    kept = blog.comment(said.post_id, said.thread_id, said.comment_id)
    assert kept is not None
    assert (kept.status, kept.text) == ("removed", "")
    assert files.get(picture) is None
    assert search.find("x", 5) == []
    assert blog.user_to_sign_in(ada.username) is None
    check_books(blog)
    assert new_user(blog, ada.username).user_id != ada.user_id


def filled_by(blog: Blog, author: User) -> Post:
    return published(blog, author, "theirs", ("d",))
