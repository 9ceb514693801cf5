"""Serve the systems' sites with small samples on local ports, for browser tests with one browser context per person."""

from __future__ import annotations

import logging
import os
import queue
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import uvicorn

from keyplan.systems import SiteOptions, system
from keyplan.web import app
from keyplan.web.application import Beside
from tests.repository.files import ROOT
from tests.systems.support import silent

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


HOST = "127.0.0.1"
TIMEOUT_MS = 15_000
AXE = Path(os.environ.get("KEYPLAN_AXE", ROOT / ".cache" / "node_modules" / "axe-core" / "axe.min.js"))
"""The accessibility checker, where it is: ``make test`` gets it by npm."""
REFUSED = re.compile(r"status of (?:403|404|409|410|422|429) ")
"""What the console says of a page that isn't for its visitor, which tests ask for."""

Scheme = Literal["light", "dark"]
Arrive = Callable[..., "Page"]


@contextmanager
def serving(name: str, count: int, settings: Path | None = None) -> Iterator[tuple[Any, str]]:
    """Serve a system with sample data and the given settings file, and yield its open design and address."""
    brought = system(name)
    assert brought.site is not None
    with brought.design.open(":memory:", secret="s") as design, socket.socket() as listener:
        brought.sample(design, count, silent)
        listener.bind((HOST, 0))
        listener.listen()
        site = brought.site(design, SiteOptions(b"a secret of the tests in a browser", (HOST,), settings=settings))
        served = Beside(app(design, hosts=(HOST,), policy=site.policy), site.application)
        server = uvicorn.Server(uvicorn.Config(served, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield design, f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def arriving(browser: Browser, address: str) -> Iterator[Arrive]:
    """Yield a function that opens a browser context for a person. Requests to other hosts and console messages fail the
    test.
    """
    contexts: list[BrowserContext] = []
    said: list[str] = []

    def arrive(width: int = 1280, scheme: Scheme = "light", *, scripts: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, base_url=address, java_script_enabled=scripts
        )
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(address) else said.append(request.url))
        return page

    yield arrive
    for context in contexts:
        context.close()
    assert [text for text in said if not REFUSED.search(text)] == [], said


class _Letters(logging.Handler):
    """Records the email that a site without a mail server logs."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: queue.Queue[str] = queue.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.put(record.getMessage())


@contextmanager
def letter() -> Iterator[Callable[[], str]]:
    """Yield a function that returns the link in the email that is sent within the block."""
    letters = _Letters()
    logger = logging.getLogger("keyplan.mail")
    logger.addHandler(letters)

    def link() -> str:
        match = re.search(r"http://\S+", letters.texts.get(timeout=TIMEOUT_MS / 1000))
        assert match is not None
        return match[0]

    try:
        yield link
    finally:
        logger.removeHandler(letters)


def sign_in(page: Page, label: str, login: str, password: str) -> None:
    page.goto("/sign-in")
    page.get_by_label(label).fill(login)
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)


LOOKS: tuple[tuple[int, Scheme], ...] = ((1280, "light"), (390, "dark"))
"""A desktop by day and a phone by night: each page is looked at as both, in one load of it."""
WIDTHS = (1280, 768, 390, 320)


LENGTHEN = """(() => {
  const own = "button, .button, .badge, .unseen, label, th, time, nav, pre, svg, select, .hint, .money, .number" +
    ", .counts, .cloud .small, .byline.large .small";
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (text.data.trim().length > 1 && !text.parentElement.closest(own)) text.data = "W".repeat(80);
  }
})()"""
"""Makes one long word of each text of a page, but for its own: so names, titles and texts of people may be."""


def faults_of_load(page: Page) -> list[str]:
    """The faults of a page, found in one load: wrong colors, accessibility violations (if axe is installed), and widths
    that the page exceeds.
    """
    faults: list[str] = []
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # disable colour transitions
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(int(part) for part in re.findall(r"\d+", background)[:3]) / 3
        faults += [] if (brightness > 128) is (scheme == "light") else [f"isn't {scheme}"]
        faults += [f"{width}, {scheme}: {fault}" for fault in error_details_of(page)] if AXE.exists() else []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            faults.append(f"wider than {width}")
    page.evaluate(LENGTHEN)
    for width in (WIDTHS[0], WIDTHS[2]):
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            faults.append(f"wider than {width} with long words")
    return faults


def error_details_of(page: Page) -> list[str]:
    """The violations that axe finds on a page."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{violation['id']}: {node['target']}" for violation in result["violations"] for node in violation["nodes"]]
