"""Browser tests of a design's page: forms, results and requests, by mouse and keyboard, on wide and narrow screens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import pytest

from tests.web.library import Library

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TIMEOUT_MS = 10_000
Scheme = Literal["light", "dark"]


def test_submitting_a_form_shows_the_result_and_its_request(page: Page) -> None:
    page.get_by_role("link", name=re.compile(r"^on_shelf\b")).click()
    pattern = page.locator("#on_shelf")
    assert pattern.get_attribute("open") is not None
    assert pattern.get_by_label("shelf", exact=True).input_value() == "c#"  # from stored items
    pattern.get_by_label("limit").fill("2")
    pattern.get_by_label("title").fill("Title")
    assert pattern.locator(".line").inner_text() == "GET /api/on_shelf?shelf=c%23&title=Title&limit=2"
    pattern.get_by_role("button", name="Try it").click()
    answer = pattern.get_by_label("Answer of on_shelf")
    answer.get_by_text("2 items").wait_for(timeout=TIMEOUT_MS)
    assert '"title": "Title 1"' in answer.inner_text()
    requests = pattern.get_by_label("Requests of on_shelf").inner_text()
    assert '"SHELF#c$c"' in requests
    assert "{shelf}" not in requests
    answer.get_by_role("button", name="Next page").click()
    answer.get_by_text("Title 3").wait_for(timeout=TIMEOUT_MS)
    assert "ExclusiveStartKey" in pattern.get_by_label("Requests of on_shelf").inner_text()
    answer.get_by_role("button", name="Next page").click()
    answer.get_by_text("1 item").wait_for(timeout=TIMEOUT_MS)
    assert answer.get_by_role("button", name="Next page").count() == 0


def test_before_a_run_the_request_is_shown_with_parameter_names(page: Page) -> None:
    page.goto(f"{page.url}#on_shelf")
    assert '"SHELF#{shelf}"' in page.locator("#on_shelf .requests").inner_text()


def test_an_error_is_shown_at_the_field_that_caused_it(page: Page) -> None:
    page.goto(f"{page.url}#copy")
    pattern = page.locator("#copy")
    number = pattern.get_by_label("number")
    number.fill("")
    pattern.get_by_role("button", name="Try it").click()
    pattern.get_by_text("400 ArgumentError").wait_for(timeout=TIMEOUT_MS)
    assert number.get_attribute("aria-invalid") == "true"
    described = (number.get_attribute("aria-describedby") or "").split()
    assert page.locator(f"#{described[0]}").inner_text() == "int"
    assert "missing" in page.locator(f"#{described[1]}").inner_text()
    assert page.evaluate("document.activeElement.name") == "number"
    number.fill("1")
    pattern.get_by_role("button", name="Try it").click()
    pattern.get_by_text("404 ItemNotFound").wait_for(timeout=TIMEOUT_MS)
    assert number.get_attribute("aria-invalid") is None


def test_a_write_can_be_executed_with_the_keyboard_alone(page: Page, library: Library) -> None:
    page.goto(f"{page.url}#add_book")
    page.wait_for_function("document.activeElement.matches('#add_book > summary')")
    page.keyboard.press("Tab")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type('{"isbn": "new", "title": "日本 <b>"}')
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    answer = page.get_by_label("Answer of add_book")
    answer.get_by_text("日本 <b>").wait_for(timeout=TIMEOUT_MS)
    assert library.book_there("new").title == "日本 <b>"
    assert "attribute_not_exists" in page.get_by_label("Requests of add_book").inner_text()


def test_invalid_json_is_reported_before_it_is_sent(page: Page) -> None:
    page.goto(f"{page.url}#add_book")
    page.get_by_label("book", exact=True).and_(page.locator("textarea")).fill("{")
    page.locator("#add_book").get_by_role("button").first.click()
    page.locator("#add_book .fault").get_by_text("isn't JSON").wait_for(timeout=TIMEOUT_MS)


def test_list_values_are_entered_on_separate_lines(page: Page) -> None:
    page.goto(f"{page.url}#books")
    pattern = page.locator("#books")
    pattern.locator("textarea").fill("i4\n\n i0 \n")
    pattern.get_by_role("button", name="Try it").click()
    pattern.get_by_text("2 items").wait_for(timeout=TIMEOUT_MS)
    assert "BatchGetItem" in pattern.locator(".requests").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "width", [320, *(pytest.param(width, marks=pytest.mark.nightly) for width in (390, 768, 1280))]
)
def test_api_pages_fit_every_width_in_both_themes(browser: Browser, address: str, width: int, scheme: Scheme) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    too_wide = page.evaluate(
        "[...document.querySelectorAll('.plan, .pattern')].filter((one) => one.scrollWidth > one.clientWidth + 1)"
        ".map((one) => one.id || one.className)"
    )
    assert [value for value in too_wide if value != "plan"] == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in background.removeprefix("rgb(").removesuffix(")").split(", ")) / 3
    assert (brightness > 128) is (scheme == "light")
    context.close()


def test_an_unreachable_server_is_reported(browser: Browser, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}#book")
    page.route("**/try/**", lambda route: route.abort())
    page.locator("#book").get_by_label("isbn").fill("1")
    page.locator("#book").get_by_role("button", name="Try it").click()
    page.locator(".problem").get_by_text("The server doesn't respond").wait_for(timeout=TIMEOUT_MS)
    context.close()
