"""Writes of authors: their results and errors."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan.errors import ArgumentError, ItemNotFound, ItemTooLarge, Refused
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import CONTENT_BYTES_MAX, Post, PostContent, PostWithContent, User
from tests.systems.blog.support import check_books, new_post, published

DAY = datetime(2026, 11, 21, 9, tzinfo=UTC)


def edited(blog: Blog, post: Post, version: int, **changes: Any) -> PostWithContent:
    given = {"title": post.title, "content": "Other text.", "slug": post.slug, "tags": post.tags, "edited_by": "u"}
    return blog.edit_post(post.post_id, version, **{**given, **changes})


def test_a_created_post_is_a_draft_with_the_given_text(blog: Blog, ada: User) -> None:
    long = "word " * 100
    made = blog.create_post(Post(user_id=ada.user_id, slug="One", title="One", views=7, rating=9, likes=3), long)
    assert (made.post.slug, made.post.status, made.post.views, made.post.rating) == ("one", "unpublished", 0, 0)
    assert (made.post.words, made.content.version, made.content.edited_by) == (100, 1, ada.user_id)
    assert made.post.excerpt.startswith("word word")
    assert len(made.post.excerpt) <= 300
    assert blog.whole_post(made.post.post_id) == made
    assert [post.slug for post in blog.posts_of_user(ada.user_id, "unpublished")] == ["one"]
    assert not blog.latest_posts()
    assert not blog.popular_posts()
    check_books(blog)


def test_creating_a_post_with_a_used_slug_raises_an_error(blog: Blog, ada: User) -> None:
    first = new_post(blog, ada, "one")
    with pytest.raises(Refused) as raised:
        new_post(blog, ada, "One")
    assert [fault.place for fault in raised.value.errors] == ["slug"]
    with pytest.raises(Refused, match="already"):
        blog.create_post(Post(post_id=first.post_id, user_id=ada.user_id, slug="two", title="Two"), "x")
    check_books(blog)


@pytest.mark.parametrize(
    ("post", "content", "error"),
    [
        ({"status": "published"}, "x", Refused),
        ({"user_id": "nobody"}, "x", ItemNotFound),
        ({}, "é" * (CONTENT_BYTES_MAX // 2 + 1), ItemTooLarge),
    ],
)
def test_invalid_posts_are_rejected(
    blog: Blog, ada: User, post: dict[str, Any], content: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        blog.create_post(Post(**{"user_id": ada.user_id, "slug": "one", "title": "One", **post}), content)
    assert blog.slug_of("one") is None
    check_books(blog)


def test_a_suspended_author_cannot_create_or_publish_posts(blog: Blog, ada: User) -> None:
    draft = new_post(blog, ada, "one")
    blog.set_status(ada.user_id, "suspended")
    with pytest.raises(Refused):
        new_post(blog, ada, "two")
    with pytest.raises(Refused):
        blog.publish(draft.post_id)
    check_books(blog)
    blog.set_status(ada.user_id, "active")
    assert blog.publish(draft.post_id).status == "published"


def test_the_largest_allowed_text_fits_in_an_item(blog: Blog, ada: User) -> None:
    post = new_post(blog, ada, "s" * 200, content="x" * CONTENT_BYTES_MAX)
    whole = blog.whole_post(post.post_id)
    assert whole is not None
    assert len(whole.content.content) == CONTENT_BYTES_MAX


def test_publishing_adds_a_post_to_every_list(blog: Blog, ada: User) -> None:
    post = published(blog, ada, "one", ("c", "a", "b"))
    assert post.tags == ("a", "b", "c")
    for listed in (
        blog.latest_posts(),
        blog.popular_posts(),
        blog.posts_of_user(ada.user_id, "published"),
        blog.posts_by_tags(("a",)),
        blog.posts_by_tags(("c", "a")),
        blog.posts_by_tags(("b", "c", "a")),
        blog.published_between(),
    ):
        assert list(listed) == [post]
    assert [(tag.tag, tag.posts) for tag in blog.tags_starting("")] == [("a", 1), ("b", 1), ("c", 1)]
    assert {tag.tag for tag in blog.trending_tags()} == {"a", "b", "c"}
    assert blog.publish(post.post_id) == post
    check_books(blog)


def test_unpublishing_removes_a_post_from_every_list(blog: Blog, ada: User) -> None:
    post = published(blog, ada, "one", ("a", "b"))
    back = blog.unpublish(post.post_id)
    assert (back.status, back.published_at) == ("unpublished", post.published_at)
    for listed in (blog.latest_posts(), blog.popular_posts(), blog.posts_by_tags(("a", "b")), blog.trending_tags()):
        assert list(listed) == []
    assert blog.tags_starting("") == []
    assert blog.unpublish(post.post_id) == back
    check_books(blog)
    again = blog.publish(post.post_id)
    assert again.published_at == post.published_at
    assert list(blog.posts_by_tags(("b",))) == [again]
    check_books(blog)


def test_an_archived_post_cannot_be_published_or_edited(blog: Blog, ada: User) -> None:
    post = published(blog, ada, "one", ("a",))
    assert blog.archive(post.post_id).status == "archived"
    check_books(blog)
    for refused in (blog.publish, blog.unpublish):
        with pytest.raises(Refused):
            refused(post.post_id)
    with pytest.raises(Refused):
        edited(blog, post, 1)
    assert blog.archive(post.post_id).status == "archived"
    assert blog.restore(post.post_id).status == "unpublished"
    assert blog.restore(post.post_id).status == "unpublished"
    draft = new_post(blog, ada, "two")
    assert blog.archive(draft.post_id).status == "archived"
    check_books(blog)
    for missing in (blog.publish, blog.unpublish, blog.archive, blog.restore):
        with pytest.raises(ItemNotFound):
            missing("nowhere")


def test_an_edit_of_a_post_updates_every_field(blog: Blog, ada: User) -> None:
    post = published(blog, ada, "one", ("a", "b", "c"))
    after = edited(
        blog, post, 1, title="New", content="New *words* here.", slug="new", tags=("b", "d"), excerpt="Short"
    )
    assert (after.post.title, after.post.slug, after.post.tags) == ("New", "new", ("b", "d"))
    assert (after.post.excerpt, after.post.words, after.content.version) == ("Short", 3, 2)
    assert blog.whole_post(post.post_id) == after
    assert list(blog.posts_by_tags(("b", "d"))) == [after.post]
    assert list(blog.posts_by_tags(("a",))) == []
    check_books(blog)
    assert edited(blog, after.post, 2, content="Plain.").post.excerpt == "Plain."


def test_an_edit_of_an_outdated_post_version_is_rejected(blog: Blog, ada: User) -> None:
    post = new_post(blog, ada, "one")
    first = edited(blog, post, 1, content="first", slug="first")
    with pytest.raises(Refused) as raised:
        edited(blog, post, 1, content="second", slug="second")
    assert [fault.place for fault in raised.value.errors] == ["version"]
    assert "2" in raised.value.message
    assert blog.whole_post(post.post_id) == first
    assert blog.slug_of("second") is None
    check_books(blog)


def test_ranking_and_publishing_a_post_do_not_make_an_edit_outdated(blog: Blog, ada: User) -> None:
    post = published(blog, ada, "one")
    blog.count_view(post.post_id)
    assert blog.refresh_ranking(post.post_id) == "refreshed"
    assert edited(blog, post, 1).post.views == 1
    check_books(blog, anonymous_views=1)


def test_an_old_slug_redirects_to_its_post_which_can_reuse_the_slug(blog: Blog, ada: User) -> None:
    post = published(blog, ada, "one")
    edited(blog, post, 1, slug="two")
    result = blog.post_by_slug("one")
    assert result is not None
    assert result.slug == "two"
    with pytest.raises(Refused):
        new_post(blog, ada, "one")
    assert edited(blog, result, 2, slug="one").post.slug == "one"
    other = blog.post_by_slug("two")
    assert other is not None
    assert other.slug == "one"
    check_books(blog)


def test_changing_a_slug_to_that_of_another_post_is_rejected(blog: Blog, ada: User) -> None:
    post, _ = new_post(blog, ada, "one"), new_post(blog, ada, "two")
    with pytest.raises(Refused) as raised:
        edited(blog, post, 1, slug="two")
    assert [fault.place for fault in raised.value.errors] == ["slug"]
    assert blog.get(PostContent, post_id=post.post_id, consistent=True).version == 1  # type: ignore[union-attr]


def test_all_exceeded_limits_of_a_post_are_reported_together(blog: Blog, ada: User) -> None:
    post = new_post(blog, ada, "one")
    with pytest.raises(ArgumentError) as raised:
        edited(blog, post, 1, slug="", tags=tuple("abcdef"))
    assert [fault.place for fault in raised.value.errors] == ["slug", "tags"]
    for fields in ({"title": "x" * 301}, {"title": "  "}, {"slug": "a/b"}, {"slug": "a b"}, {"slug": "-a"}):
        with pytest.raises(ArgumentError):
            edited(blog, post, 1, **fields)
    assert edited(blog, post, 1, title=" Title  ", slug="日本語-2").post.title == "Title"
    with pytest.raises(ItemNotFound):
        blog.edit_post("nowhere", 1, "t", "c", "s", (), "u")


def test_replacing_the_maximum_number_of_tags_is_one_transaction(blog: Blog, ada: User) -> None:
    post = published(blog, ada, "one", tuple("abcde"))
    after = edited(blog, post, 1, slug="new", tags=tuple("fghij"))
    assert after.post.tags == tuple("fghij")
    assert list(blog.posts_by_tags(tuple("fghij"))) == [after.post]
    check_books(blog)


def test_lists_of_posts_are_sorted_by_publication_time(blog: Blog, ada: User) -> None:
    early, late = new_post(blog, ada, "early", ("t",)), new_post(blog, ada, "late", ("t",))
    blog.publish(late.post_id)
    time.sleep(0.002)  # lists are sorted by milliseconds
    blog.publish(early.post_id)
    wanted = ["early", "late"]
    assert [post.slug for post in blog.latest_posts()] == wanted
    assert [tag.slug for tag in blog.posts_by_tags(("t",))] == wanted
    assert [post.slug for post in blog.posts_of_user(ada.user_id, "published")] == wanted
    assert [post.slug for post in blog.published_between()] == wanted[::-1]
