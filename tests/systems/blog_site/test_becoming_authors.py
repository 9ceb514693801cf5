"""Readers become authors: the setting ``authors``, requests to moderators, and claims of imported authors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from keyplan import now
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Credential, User
from keyplan_systems.blog.loader import load
from keyplan_systems.blog.site.application import site_application
from keyplan_systems.blog.site.settings import BlogFile
from keyplan_systems.blog.site.site import Site
from tests.systems.blog_site.support import PASSWORD, Visit, text_of
from tests.systems.blog_site.test_accounts import NEW, follow
from tests.systems.mailbox import Box


@pytest.fixture
def visit_with(site: Site) -> Callable[[str], Visit]:
    """Return a function that creates a visitor of a site with this value of the setting ``authors``."""

    def visit(authors: str) -> Visit:
        site.settings = replace(site.settings, file=BlogFile.model_validate({"authors": authors}))
        return Visit(site_application(site))

    return visit


@pytest.mark.parametrize(
    ("authors", "joined", "asked"),
    [
        ("open", "/desk?done=welcome", "/desk?done=welcome"),
        ("reviewed", "/?done=author-requested", "/account?done=author-requested"),
        ("invited", "/?done=joined", None),
    ],
)
def test_the_authors_setting_determines_how_readers_become_authors(
    blog: Blog, box: Box, visit_with: Callable[[str], Visit], authors: str, joined: str, asked: str | None
) -> None:
    visitor = visit_with(authors)
    assert ("I would like to write" in visitor.get("/sign-up").text) == (authors != "invited")
    visitor.send("/sign-up", **NEW)
    assert follow(visitor, box).headers["location"] == joined
    assert visitor.get("/write").status_code == (200 if authors == "open" else 403)

    reader = visit_with(authors)
    reader.send("/sign-up", **{**NEW, "username": "cleo", "email": "cleo@example.com", "writes": ""})
    assert follow(reader, box, username="cleo").headers["location"] == "/?done=joined"
    answer = reader.send("/account/author", "/account")
    assert answer.headers.get("location") == asked
    requests = blog.contact_messages(f"{now():%Y-%m}").items
    assert len(requests) == (2 if authors == "reviewed" else 0)


def test_a_moderator_gives_and_removes_the_author_role(blog: Blog, moderator: Visit, reader: Visit, rita: User) -> None:
    reader.send("/account/author", "/account")
    assert "@rita requests to become an author" in text_of(moderator.get(f"/inbox?month={now():%Y-%m}"))
    answer = moderator.send(f"/moderation/users/{rita.user_id}", "/moderation", role="author")
    assert answer.headers["location"] == "/moderation?order=newest&done=role"
    assert reader.get("/write").status_code == 200
    moderator.send(f"/moderation/users/{rita.user_id}", "/moderation", role="reader")
    assert reader.get("/write").status_code == 403
    assert moderator.send(f"/moderation/users/{rita.user_id}", "/moderation", role="moderator").status_code == 400


@pytest.fixture
def imported(blog: Blog, tmp_path_factory: pytest.TempPathFactory) -> User:
    """Import a post, and return its author."""
    folder = tmp_path_factory.mktemp("posts")
    (folder / "2024-01-02-old.md").write_text("---\ntitle: Old times\nauthor: Olga Old\n---\n\nA text.\n")
    load(blog, folder, lambda _done, _total: None)
    user = blog.user_by_username("olga-old")
    assert user is not None
    return user


def test_moderators_can_edit_posts_of_an_unclaimed_imported_author(
    blog: Blog, moderator: Visit, author: Visit, imported: User
) -> None:
    post = blog.posts_of_user(imported.user_id, "published").items[0]
    assert f"/write/{post.post_id}" in moderator.get("/moderation/posts").text
    assert author.get(f"/write/{post.post_id}").status_code == 404
    whole = blog.whole_post(post.post_id)
    assert whole is not None
    fields = {"title": "New times", "content": "A new text.", "slug": post.slug, "tags": ""}
    version = str(whole.content.version)
    answer = moderator.send(f"/write/{post.post_id}", f"/write/{post.post_id}", **fields, version=version, action="")
    assert answer.status_code == 303
    edited = blog.post(post.post_id)
    assert edited is not None
    assert edited.title == "New times"


def test_an_imported_author_is_assigned_to_a_user_by_email(
    blog: Blog, moderator: Visit, visit: Callable[[], Visit], box: Box, imported: User, ada: User
) -> None:
    path = f"/moderation/users/{imported.user_id}"
    assert "email address of the imported author" in moderator.get("/moderation").text
    assert moderator.send(path, "/moderation", email="ada@example.com").status_code == 409  # another user's
    assert moderator.send(path, "/moderation", email="nowhere").status_code == 422
    answer = moderator.send(path, "/moderation", email="olga@example.com")
    assert answer.headers["location"] == "/moderation?order=newest&done=assigned"
    letter = box.letters[-1]
    assert letter.to == "olga@example.com"

    olga = visit()
    olga.send("/email/verify", letter.link, token=letter.token, address="olga@example.com")
    assert [each.to for each in box.letters] == ["olga@example.com"]  # no message to the import's address
    olga.send("/password/forgotten", email="olga@example.com")
    reset = box.letters[-1]
    assert olga.send("/password/reset", reset.link, token=reset.token, new=PASSWORD).status_code == 303
    post = blog.posts_of_user(imported.user_id, "published").items[0]
    assert olga.sign_in("olga-old").get(f"/write/{post.post_id}").status_code == 200
    credential = blog.get(Credential, user_id=imported.user_id)
    assert credential is not None
    assert credential.email == "olga@example.com"

    assert moderator.get(f"/write/{post.post_id}").status_code == 404
    assert moderator.send(path, "/moderation", email="other@example.com").status_code == 409
    assert moderator.send(f"/moderation/users/{ada.user_id}", "/moderation", email="x@example.com").status_code == 409
