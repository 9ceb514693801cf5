"""The blog's site on a port, for the tests that look at it: a small sample, and people who can sign in."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from keyplan.systems import SiteOptions
from keyplan.web import app
from keyplan.web.beside import Beside
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.sample import DEMO_PASSWORD, sample
from keyplan_systems.blog.site.making import make_site
from tests.repository.files import ROOT
from tests.systems.support import silent

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["AXE", "faults_of", "serving_blog", "sign_in"]

POSTS = 40
HOST = "127.0.0.1"
AXE = Path(os.environ.get("KEYPLAN_AXE", ROOT / ".cache" / "node_modules" / "axe-core" / "axe.min.js"))
"""The accessibility checker, where it is: ``make test`` gets it by npm."""


@contextmanager
def serving_blog() -> Iterator[tuple[Blog, str]]:
    """The blog with its sample, and the address of its site."""
    with Blog.open(":memory:", secret="s") as blog, socket.socket() as listener:
        sample(blog, POSTS, silent)
        listener.bind((HOST, 0))
        listener.listen()
        site = make_site(blog, SiteOptions(b"a secret of the tests in a browser", (HOST,)))
        served = Beside(app(blog, hosts=(HOST,), policy=site.policy), site.application)
        server = uvicorn.Server(uvicorn.Config(served, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield blog, f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def sign_in(page: Page, login: str, password: str = DEMO_PASSWORD) -> None:
    """Sign in by the form, as people do."""
    page.goto("/sign-in")
    page.get_by_label("Email or username").fill(login)
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)


def faults_of(page: Page) -> list[str]:
    """What the accessibility checker finds on a page."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{one['id']}: {node['target']}" for one in found["violations"] for node in one["nodes"]]
