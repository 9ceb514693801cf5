"""Tests of the documentation site: the build treats warnings as errors, and search finds the expected pages."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from website.build import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("zensical", reason="zensical isn't installed: it builds the documentation site")

SEARCHES = {
    "idempotent": "Idempotent updates",
    "hot partition": "Hot partition",
    "pagination": "Pagination and cursors",
    "migrate": "migrat",
    "unique constraint": "Unique constraint",
    "TTL": "TTL",
}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any, **kwargs: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the site, and yield its address. The build checks every link and anchor."""
    handler = functools.partial(_Quiet, directory=str(build(tmp_path_factory.mktemp("website"))))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def first_result(page: Page, site: str, query: str) -> str:
    """The text of the first search result: its heading and its page."""
    page.goto(site, wait_until="networkidle")
    page.keyboard.press("/")
    page.keyboard.type(query)
    result = page.locator("ol li a", has=page.locator("mark, b, em, u")).first
    result.wait_for()
    return result.inner_text()


def test_search_lists_the_expected_section_first(browser: Browser, site: str) -> None:
    page = browser.new_page()
    page.set_default_timeout(10_000)
    for query, expected in SEARCHES.items():
        assert expected.lower() in first_result(page, site, query).lower()
    page.close()


def test_pages_of_the_documentation_load_nothing_from_other_hosts(browser: Browser, site: str) -> None:
    page = browser.new_page()
    foreign: list[str] = []
    page.on("request", lambda request: None if request.url.startswith(site) else foreign.append(request.url))
    page.goto(f"{site}designing/", wait_until="networkidle")
    assert foreign == []
    page.close()
