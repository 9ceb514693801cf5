"""Links to the studio in a browser: they execute nothing, need the token in each tab, and keep their view."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.studio import serving_studio
from tests.studio.school import School, fill

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def packed(text: str) -> str:
    """A text as a link carries it after ``#scratch=``."""
    deflate = zlib.compressobj(wbits=-15)
    return base64.urlsafe_b64encode(deflate.compress(text.encode()) + deflate.flush()).decode().rstrip("=")


@pytest.fixture(scope="module")
def school() -> Iterator[School]:
    with School.open(":memory:", secret="s") as opened:
        fill(opened)
        yield opened


@contextmanager
def opened(browser: Browser, school: School, *, executes: bool = True) -> Iterator[tuple[Page, str]]:
    """A tab that has the token, and the studio's address."""
    with serving_studio(school, executes=executes) as (address, token):
        page = browser.new_page()
        page.goto(f"{address}?token={token}", wait_until="networkidle")
        yield page, address
        page.close()


def marking(path: Path) -> str:
    return f"open({str(path)!r}, 'w').close()\n"


@pytest.mark.parametrize("view", ["change", "plan"])
def test_link_runs_only_after_run_is_pressed(browser: Browser, school: School, tmp_path: Path, view: str) -> None:
    mark = tmp_path / "ran"
    with opened(browser, school) as (page, address):
        page.goto(f"{address}?view={view}#scratch={packed(marking(mark))}")
        page.get_by_text("This text hasn't run.").wait_for()
        page.locator(".cm-content, .page > pre").get_by_text("open(").first.wait_for()
        page.wait_for_timeout(1500)  # a poll of the page
        assert not mark.exists()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("has no design School").wait_for()
        assert mark.exists()


@pytest.mark.nightly
def test_pasted_text_runs_only_after_run_is_pressed(browser: Browser, school: School, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    with opened(browser, school) as (page, address):
        page.goto(f"{address}?view=change")
        page.get_by_role("heading", name="No changes").wait_for()
        page.get_by_role("button", name="Edit a scratch copy").click()
        editor = page.get_by_role("textbox", name="The scratch copy of the design's module")
        editor.focus()
        page.keyboard.press("Control+End")
        editor.evaluate(
            """(node, text) => {
                const data = new DataTransfer();
                data.setData("text/plain", text);
                const init = { clipboardData: data, bubbles: true, cancelable: true };
                node.dispatchEvent(new ClipboardEvent("paste", init));
            }""",
            marking(mark),
        )
        page.get_by_text("This text hasn't run.").wait_for()
        page.keyboard.type("# ")
        page.wait_for_timeout(1500)  # a poll of the page
        assert not mark.exists()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("heading", name="No changes yet").wait_for()
        assert mark.exists()


@pytest.mark.nightly
def test_endless_loop_is_stopped_by_its_button(browser: Browser, school: School) -> None:
    with opened(browser, school) as (page, address):
        page.goto(f"{address}?view=change#scratch={packed('while True: pass')}")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_text("stopped before there was a result").wait_for()


def test_read_only_studio_ignores_the_text_of_a_link(browser: Browser, school: School, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    with opened(browser, school, executes=False) as (page, address):
        page.goto(f"{address}?view=change#scratch={packed(marking(mark))}")
        page.locator(".card").first.wait_for()
        assert page.get_by_role("link", name="Change", exact=True).count() == 0
        assert not mark.exists()


@pytest.mark.nightly
def test_new_tab_asks_for_the_token_and_keeps_its_view(browser: Browser, school: School) -> None:
    with serving_studio(school) as (address, token):
        context = browser.new_context()
        first = context.new_page()
        first.goto(f"{address}?token={token}", wait_until="networkidle")
        assert first.evaluate("localStorage.length") == 0
        page = context.new_page()
        page.goto(f"{address}?view=data&entity=Pupil#edits=%5B%5D")
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Open").click()
        page.get_by_text("This token is wrong").wait_for()
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Open").click()
        page.get_by_role("button", name="Edit year: 1").first.wait_for()
        assert page.url == f"{address}?view=data&entity=Pupil#edits=%5B%5D"
        context.close()
