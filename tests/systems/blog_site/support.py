"""Helpers for tests of the blog's site: a browser without scripts, users and posts. ``Visit`` keeps cookies, and takes
a form's token from the page that contains the form.
"""

from __future__ import annotations

import re
from typing import Any, cast

from httpx import Response

from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.words import excerpt_from, slug_from
from tests.web.support import TestClient

PASSWORD = "correct horse battery"
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


class Visit:
    """A browser that follows redirects only if requested."""

    def __init__(self, app: Any, host: str = "http://testserver") -> None:
        self.client = TestClient(app, base_url=host, follow_redirects=False)

    def get(self, path: str, **more: Any) -> Response:
        return cast("Response", self.client.get(path, **more))

    def token(self, page: str) -> str:
        """Return the CSRF token on a page."""
        match = _TOKEN.search(self.client.get(page).text)
        assert match is not None, f"no form on {page}"
        return match.group(1)

    def send(self, path: str, page: str | None = None, **fields: str) -> Response:
        """Send a form with the form token of ``page``, by default of the page at ``path``."""
        return cast("Response", self.client.post(path, data={"csrf": self.token(page or path), **fields}))

    def sign_in(self, login: str, password: str = PASSWORD) -> Visit:
        response = self.send("/sign-in", login=login, password=password)
        assert response.status_code == 303, text_of(response)
        return self


def text_of(response: Response) -> str:
    """Return the text of a page, without HTML tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.text).split())


def make_user(blog: Blog, username: str, role: str = "author") -> User:
    """Register and return a user with the password PASSWORD."""
    user = accounts.register(
        blog,
        email=f"{username}@example.com",
        username=username,
        name=f"{username.capitalize()} Example",
        password=PASSWORD,
        role="reader" if role == "reader" else "author",
    )
    if role == "moderator":
        blog.set_role(user.user_id, "moderator")
    return user


def make_post(
    blog: Blog, user: User, title: str, content: str = "A text.", tags: tuple[str, ...] = (), *, publish: bool = True
) -> Post:
    """Create and return a post, published or not."""
    begun = Post(user_id=user.user_id, slug=slug_from(title), title=title, excerpt=excerpt_from(content), tags=tags)
    made = blog.create_post(begun, content).post
    return blog.publish(made.post_id) if publish else made
