"""Authors write, preview and publish drafts. Concurrent edits and invalid input are reported."""

from __future__ import annotations

import pytest

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import CONTENT_BYTES_MAX, Post, User
from tests.systems.blog_site.support import Visit, text_of


def write(author: Visit, action: str = "save", **fields: str) -> str:
    """Write a post, and return the URL to which the response redirects."""
    answer = author.send("/write", action=action, **{"title": "A title", "content": "A text.", **fields})
    assert answer.status_code == 303, text_of(answer)
    return str(answer.headers["location"])


def test_a_draft_is_private_until_it_is_published(blog: Blog, author: Visit, anybody: Visit) -> None:
    where = write(author, tags="Keys, doors #Keys", content="A *text*.")
    assert where.endswith("?done=saved")
    assert "Saved." in author.get(where).text
    assert author.get("/posts/a-title").status_code == 200
    assert anybody.get("/posts/a-title").status_code == 404
    edit = where.partition("?")[0]
    assert "A title" in text_of(author.get("/desk"))
    published = author.send(f"{edit}/publish", "/desk")
    assert published.headers["location"] == "/desk?status=published&done=published"
    page = anybody.get("/posts/a-title")
    assert "<em>text</em>" in page.text
    assert "A title" in anybody.get("/").text  # the front page is rebuilt immediately
    (post,) = blog.latest_posts()
    assert post.tags == ("doors", "keys")


def test_a_post_is_published_unpublished_archived_and_restored(blog: Blog, author: Visit, anybody: Visit) -> None:
    assert write(author, "publish") == "/posts/a-title?done=published"
    (post,) = blog.latest_posts()
    for action, there, status in [
        ("unpublish", 404, "unpublished"),
        ("publish", 200, "published"),
        ("archive", 404, "archived"),
        ("restore", 404, "unpublished"),
    ]:
        answer = author.send(f"/write/{post.post_id}/{action}", "/")
        assert answer.headers["location"].startswith(f"/desk?status={status}")
        assert anybody.get("/posts/a-title").status_code == there
        assert ("A title" in anybody.get("/").text) is (there == 200)
    assert author.send(f"/write/{post.post_id}/explode", "/").status_code == 404


def test_an_archived_post_cannot_be_edited(author: Visit, blog: Blog, post: Post) -> None:
    blog.archive(post.post_id)
    edit = f"/write/{post.post_id}"
    answer = author.send(edit, title="T", content="t", version="1", slug="keys-and-doors")
    assert answer.status_code in {409, 422}
    assert author.send(f"{edit}/publish", "/").status_code == 409


def test_an_edit_of_an_old_version_shows_the_stored_and_submitted_text(blog: Blog, author: Visit, post: Post) -> None:
    edit = f"/write/{post.post_id}"
    fields = {"title": post.title, "slug": post.slug, "tags": "keys", "version": "1"}
    assert author.send(edit, **fields, content="The quicker one.").status_code == 303
    response = author.send(edit, **fields, content="The slower one, with <tags>.")
    assert response.status_code == 409
    assert "The quicker one." in response.text
    assert "The slower one, with &lt;tags&gt;." in response.text
    whole = blog.whole_post(post.post_id)
    assert whole is not None
    assert whole.content.content == "The quicker one."
    version = response.text.split('name="version" value="')[1].split('"')[0]
    assert author.send(edit, **{**fields, "version": version}, content="Both.").status_code == 303


def test_the_old_address_of_a_post_redirects_to_the_new_one(author: Visit, anybody: Visit, post: Post) -> None:
    fields = {"title": post.title, "content": "t", "version": "1", "slug": "another-way"}
    assert author.send(f"/write/{post.post_id}", **fields).status_code == 303
    assert anybody.get("/posts/keys-and-doors").headers["location"] == "/posts/another-way"


def test_the_error_for_a_duplicate_address_is_shown_next_to_its_field(author: Visit, post: Post, blog: Blog) -> None:
    answer = author.send("/write", title="Keys and doors", slug="keys-and-doors", content="Mine.", action="save")
    assert answer.status_code == 422
    assert 'id="slug-fault"' in answer.text
    assert "Mine." in answer.text
    assert len(blog.posts_of_user(post.user_id, "unpublished")) == 0


def test_a_second_post_with_the_same_title_gets_a_numbered_address(author: Visit, reader: Visit) -> None:
    for slug in ("a-title", "a-title-2", "a-title-3"):
        answer = author.send("/write", action="publish", title="A title", content="A text.")
        assert answer.headers["location"] == f"/posts/{slug}?done=published"
    assert author.send("/write", title="A title", slug="a-title", content="x").status_code == 422
    assert 'href="/write"' in author.get("/").text
    assert 'href="/write"' not in reader.get("/").text
    for path in (f"/tags/{'x' * 5000}", f"/tags/a-title,{'x' * 41}"):
        assert author.get(path).status_code == 404


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("title", "", 422),
        ("title", "   ", 422),
        ("title", "x" * 201, 422),
        ("title", "two\nlines", 422),
        ("title", "a\x00b", 422),
        ("title", "<script>alert(1)</script>", 303),
        ("title", "日本語 🎉", 303),
        ("title", "!!!", 303),
        ("content", "", 422),
        ("content", "\u200b\u3164", 422),
        ("content", "x" * CONTENT_BYTES_MAX, 303),
        ("content", "x" * (CONTENT_BYTES_MAX + 1), 422),
        ("content", "ü" * (CONTENT_BYTES_MAX // 2 + 1), 422),
        ("content", "a\x0bb", 422),
        ("tags", "one two three four five six", 422),
        ("tags", "x" * 60, 303),
        ("tags", "<b> ../ a#b &amp; ,,, ###", 303),
        ("slug", "Not A Slug", 422),
        ("slug", "../../etc", 422),
        ("slug", "x" * 101, 422),
    ],
)
def test_random_form_input_is_accepted_or_reported_next_to_its_field(
    author: Visit, anybody: Visit, blog: Blog, ada: User, field: str, value: str, status: int
) -> None:
    answer = author.send("/write", action="publish", **{"title": "A title", "content": "A text.", field: value})
    assert answer.status_code == status, text_of(answer)[:500]
    if status == 422:
        assert f'id="{field}-fault"' in answer.text
    else:
        where = str(answer.headers["location"]).partition("?")[0]
        page = anybody.get(where)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        for path in ("/", "/latest", "/tags", "/feed.atom", "/authors/ada", "/sitemap.xml"):
            assert anybody.get(path).status_code == 200, path
        (post,) = blog.latest_posts()
        for tag in post.tags:
            assert anybody.get("/tags/" + tag.replace("/", "%2F").replace("#", "%23")).status_code in {200, 404}


def test_a_post_with_a_used_title_can_be_saved_with_a_chosen_address(author: Visit) -> None:
    write(author)
    assert author.send("/write", title="A title", content="x", slug="a-title-2", action="save").status_code == 303


def test_the_preview_is_sanitized_and_saves_nothing(author: Visit, blog: Blog, ada: User) -> None:
    content = '# One\n\n<script>alert(1)</script>\n\n<a href="javascript:x">x</a> <img src=x onerror=alert(1)>'
    token = author.token("/write")
    piece = author.client.post("/write/preview", data={"csrf": token, "content": content})
    assert piece.text.startswith('<h2 id="one">One</h2>')
    for bad in ("<script", "javascript:", "onerror"):
        assert bad not in piece.text
    whole = author.send("/write", action="preview", title="T", content=content)
    assert whole.status_code == 200
    assert '<h2 id="one">One</h2>' in whole.text
    assert len(blog.posts_of_user(ada.user_id, "unpublished")) == 0


def test_the_pages_of_other_authors_drafts_return_status_404(
    author: Visit, reader: Visit, moderator: Visit, anybody: Visit, draft: Post
) -> None:
    for other in (reader, moderator, anybody):
        assert other.get("/posts/half-a-thought").status_code == 404
    assert moderator.get(f"/write/{draft.post_id}").status_code == 404
    assert (
        moderator.send(f"/write/{draft.post_id}", "/write", title="Mine", content="x", version="1").status_code == 404
    )
    assert moderator.send(f"/write/{draft.post_id}/publish", "/").status_code == 404
    assert reader.send("/posts/half-a-thought/like", "/").status_code == 404
    assert author.get("/posts/half-a-thought").status_code == 200


@pytest.mark.parametrize("post_id", ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "x" * 70, "%00", "é", "' or 1=1"])
def test_pages_of_unknown_post_ids_return_status_404(author: Visit, post_id: str) -> None:
    assert author.get(f"/write/{post_id}").status_code == 404
    assert author.send(f"/write/{post_id}/publish", "/").status_code == 404


@pytest.mark.parametrize("version", ["", "x", "-1", "99", "9" * 30])
def test_a_form_with_an_invalid_version_is_rejected(author: Visit, blog: Blog, post: Post, version: str) -> None:
    fields = {"title": post.title, "content": "Overwritten?", "slug": post.slug, "version": version}
    assert author.send(f"/write/{post.post_id}", **fields).status_code in {409, 422}
    whole = blog.whole_post(post.post_id)
    assert whole is not None
    assert whole.content.content != "Overwritten?"
