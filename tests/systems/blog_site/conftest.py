"""Fixtures: an in-memory blog with three users, its site and API, and visitors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from argon2 import PasswordHasher
from starlette.applications import Starlette

from keyplan.web import app
from keyplan.web.application import Beside
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.site.application import site_application
from keyplan_systems.blog.site.policy import BlogPolicy
from keyplan_systems.blog.site.providers import OfflineProvider
from keyplan_systems.blog.site.settings import Settings
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site import passwords
from tests.systems.blog_site.support import Visit, make_post, make_user
from tests.systems.mailbox import Box

SECRET = b"a secret of the tests, and nobody else's"


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use Argon2 with minimal parameters, so that hashing is fast."""
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    passwords._nobodys_hash.cache_clear()


@pytest.fixture
def blog() -> Iterator[Blog]:
    with Blog.open(":memory:", secret="s") as opened:
        yield opened


class Clock:
    """A clock that tests can advance."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def site(blog: Blog, clock: Clock) -> Site:
    settings = Settings(secret=SECRET, hosts=("testserver",), providers=(OfflineProvider(),), clock=clock)
    return Site(blog, settings)


@pytest.fixture
def box(site: Site) -> Box:
    """Return the mailbox with the emails that the site sends."""
    made = Box()
    site.mailing.mail = made
    return made


@pytest.fixture
def served(site: Site) -> Starlette:
    return site_application(site)


@pytest.fixture
def beside(site: Site, served: Starlette) -> Beside:
    """Return the site and the API on one server."""
    policy = BlogPolicy(site)
    return Beside(app(site.blog, hosts=("testserver",), policy=policy), served)


@pytest.fixture
def visit(served: Starlette) -> Callable[[], Visit]:
    """Return a function that creates a visitor."""
    return lambda: Visit(served)


@pytest.fixture
def anybody(visit: Callable[[], Visit]) -> Visit:
    return visit()


@pytest.fixture
def ada(blog: Blog) -> User:
    return make_user(blog, "ada")


@pytest.fixture
def rita(blog: Blog) -> User:
    return make_user(blog, "rita", "reader")


@pytest.fixture
def mona(blog: Blog) -> User:
    return make_user(blog, "mona", "moderator")


@pytest.fixture
def author(visit: Callable[[], Visit], ada: User) -> Visit:
    return visit().sign_in(ada.username)


@pytest.fixture
def reader(visit: Callable[[], Visit], rita: User) -> Visit:
    return visit().sign_in(rita.username)


@pytest.fixture
def moderator(visit: Callable[[], Visit], mona: User) -> Visit:
    return visit().sign_in(mona.username)


@pytest.fixture
def post(blog: Blog, ada: User) -> Post:
    return make_post(blog, ada, "Keys and doors", "Every key opens **one** door.", ("keys", "doors"))


@pytest.fixture
def draft(blog: Blog, ada: User) -> Post:
    return make_post(blog, ada, "Half a thought", "It isn't", ("keys",), publish=False)
