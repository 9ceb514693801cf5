"""Fixtures for browser tests: a browser and a server of the design ``Library``. Tests are skipped without Chromium."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import uvicorn

from keyplan.web import app
from tests.web.library import Book, Library

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TIMEOUT_MS = 10_000
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


# Playwright runs an event loop in this thread while it drives a browser: end it after these tests
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium, to test the page in a browser")
    api = pytest.importorskip("playwright.sync_api", reason="playwright isn't installed: it drives the browser")
    with api.sync_playwright() as playwright:
        quiet = ["--no-sandbox", "--disable-quic", "--disable-background-networking"]
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield started
        started.close()


@pytest.fixture
def library() -> Iterator[Library]:
    with Library.open(":memory:") as opened:
        for number in range(5):
            opened.add_book(Book(isbn=f"i{number}", title=f"Title {number}", shelf="c#", topics={"b", "a"}))
        yield opened


@pytest.fixture
def address(library: Library) -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(app(library), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page of the ``Library`` API in a browser. Console messages and requests to other hosts fail the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(TIMEOUT_MS)
    opened = context.new_page()
    result: list[str] = []
    opened.on("console", lambda message: result.append(message.text))
    opened.on("pageerror", lambda error: result.append(str(error)))
    opened.on("request", lambda request: None if request.url.startswith(address) else result.append(request.url))
    opened.goto(address, wait_until="networkidle")
    yield opened
    context.close()
    assert result == []
