"""Moderators manage users, posts and messages."""

from __future__ import annotations

import pytest

from keyplan import now
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import ContactMessage, Post, User
from tests.systems.blog_site.conftest import Clock
from tests.systems.blog_site.support import PASSWORD, Visit, text_of

MESSAGE = {"name": "Nina", "email": "nina@example.org", "subject": "A mistake", "text": "In the second line."}


def test_a_user_is_suspended_and_reactivated(
    blog: Blog, moderator: Visit, rita: User, reader: Visit, anybody: Visit
) -> None:
    assert "Rita Example" in text_of(moderator.get("/moderation"))
    answer = moderator.send(f"/moderation/users/{rita.user_id}", "/moderation", status="suspended")
    assert answer.headers["location"] == "/moderation?status=active&done=status"
    assert "Rita Example" not in text_of(moderator.get("/moderation"))
    assert "Rita Example" in text_of(moderator.get("/moderation?status=suspended&order=newest"))
    assert reader.get("/account").status_code == 303
    refused = anybody.send("/sign-in", login="rita", password=PASSWORD)
    assert "suspended" in text_of(refused)
    moderator.send(f"/moderation/users/{rita.user_id}", "/moderation", status="active")
    assert anybody.sign_in("rita").get("/account").status_code == 200


@pytest.mark.parametrize("status", ["", "deleted", "moderator", "ACTIVE"])
def test_unsupported_user_statuses_are_rejected(moderator: Visit, rita: User, blog: Blog, status: str) -> None:
    answer = moderator.send(f"/moderation/users/{rita.user_id}", "/moderation", status=status)
    assert answer.status_code == 400
    assert blog.user(rita.user_id) == rita


def test_moderators_cannot_suspend_themselves_or_unknown_users(moderator: Visit, mona: User) -> None:
    assert moderator.send(f"/moderation/users/{mona.user_id}", "/moderation", status="suspended").status_code == 409
    assert moderator.send("/moderation/users/nobody", "/moderation", status="suspended").status_code == 404


def test_moderators_unpublish_posts(moderator: Visit, post: Post, anybody: Visit) -> None:
    assert "Keys and doors" in text_of(moderator.get("/moderation/posts"))
    answer = moderator.send(f"/write/{post.post_id}/unpublish", "/moderation/posts")
    assert answer.headers["location"] == "/moderation/posts?done=unpublished"
    assert anybody.get("/posts/keys-and-doors").status_code == 404
    assert moderator.send(f"/write/{post.post_id}/publish", "/moderation/posts").status_code == 404


def test_a_suspended_authors_posts_and_page_are_hidden(
    moderator: Visit, anybody: Visit, blog: Blog, ada: User, post: Post
) -> None:
    moderator.send(f"/moderation/users/{ada.user_id}", "/moderation", status="suspended")
    for path in ("/posts/keys-and-doors", "/authors/ada"):
        assert anybody.get(path).status_code == 404
        assert moderator.get(path).status_code == 200
    for path in ("/", "/latest", "/popular", "/tags/keys", "/feed.atom", "/search?q=keys"):
        assert "Keys and doors" not in anybody.get(path).text
    assert "Add a tag" not in text_of(anybody.get("/tags/keys"))  # by tags of hidden posts
    moderator.send(f"/moderation/users/{ada.user_id}", "/moderation?status=suspended", status="active")
    assert "Keys and doors" in anybody.get("/").text


def test_comments_can_be_added_answered_hidden_and_deleted(
    reader: Visit, author: Visit, moderator: Visit, anybody: Visit, blog: Blog, post: Post
) -> None:
    page = "/posts/keys-and-doors"
    answer = reader.send(f"{page}/comments", page, text="First <b>words</b>.")
    assert answer.headers["location"].startswith(f"{page}#comment_")
    (first,) = blog.comments(post.post_id)
    author.send(f"{page}/comments", page, text="An answer.", thread=first.thread_id)
    shown = anybody.get(page).text
    assert "First &lt;b&gt;words&lt;/b&gt;." in shown
    assert shown.index("First") < shown.index("An answer.")
    place = {"thread": first.thread_id, "comment": first.comment_id}
    assert author.send(f"{page}/comments/change", page, action="remove", **place).status_code == 404
    assert author.send(f"{page}/comments/change", page, action="hide", **place).status_code == 404
    moderator.send(f"{page}/comments/change", page, action="hide", **place)
    assert "First" not in anybody.get(page).text
    assert "This comment was hidden by a moderator." in anybody.get(page).text
    assert "First" in moderator.get("/moderation/comments?status=hidden").text
    moderator.send(f"{page}/comments/change", page, action="show", **place)
    assert "First" in anybody.get(page).text
    reader.send(f"{page}/comments/change", page, action="remove", **place)
    assert "This comment was deleted." in anybody.get(page).text
    assert "An answer." in anybody.get(page).text
    assert reader.send(f"{page}/comments", page, text=" ").status_code == 422
    assert anybody.send(f"{page}/comments", "/sign-in", text="x").status_code == 403


def test_contact_messages_are_received_and_removed(moderator: Visit, anybody: Visit, blog: Blog, clock: Clock) -> None:
    assert anybody.send("/contact", **MESSAGE).headers["location"] == "/contact?done=message"
    assert "has been sent" in text_of(anybody.get("/contact?done=message"))
    (month,) = {contact_message.month for contact_message in _messages(blog)}
    page = moderator.get(f"/inbox?month={month}")
    assert "In the second line." in page.text
    fields = {
        name: page.text.split(f'name="{name}" value="')[1].split('"')[0].replace("&#43;", "+")
        for name in ("month", "at", "message")
    }
    moderator.send("/inbox", **fields, action="handled")
    (message,) = _messages(blog)
    assert message.handled
    moderator.send("/inbox", **fields, action="delete")
    assert _messages(blog) == []


def _messages(blog: Blog) -> list[ContactMessage]:
    return list(blog.contact_messages(f"{now():%Y-%m}"))


def test_messages_of_bots_that_fill_the_honeypot_field_are_discarded(anybody: Visit, blog: Blog) -> None:
    answer = anybody.send("/contact", **MESSAGE, website="https://spam.example")
    assert answer.status_code == 303
    assert _messages(blog) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("email", "nobody"), ("email", ""), ("name", ""), ("text", " \n "), ("text", "x" * 5001), ("subject", "a\nb")],
)
def test_errors_of_contact_messages_keep_the_input(anybody: Visit, blog: Blog, field: str, value: str) -> None:
    answer = anybody.send("/contact", **{**MESSAGE, field: value})
    assert answer.status_code == 422
    assert f'id="{field}-fault"' in answer.text
    assert ("Nina" if field != "name" else "A mistake") in answer.text
    assert _messages(blog) == []


@pytest.mark.parametrize("month", ["2026-13", "x", "2026-1", "9999-01", "1999-12", ""])
def test_requesting_an_invalid_month_of_messages_causes_no_error(moderator: Visit, month: str) -> None:
    assert moderator.get(f"/inbox?month={month}").status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"month": "2026-11", "at": "x", "message": "x"},
        {"month": "x", "at": "2026-11-01T00:00:00+00:00", "message": "x"},
        {"month": "2026-11", "at": "2026-11-01T00:00:00", "message": "x"},
        {"month": "2026-11", "at": "2026-11-01T00:00:00+00:00", "message": ""},
    ],
)
def test_removing_an_unknown_message_returns_status_404(moderator: Visit, fields: dict[str, str]) -> None:
    assert moderator.send("/inbox", **fields, action="delete").status_code == 404
