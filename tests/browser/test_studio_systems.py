"""Browser tests of the studio with all five systems: the tasks of each view by mouse and by keyboard alone, axe's
findings in both themes, and the exported page. The page is loaded once per system. ``make nightly``
(``KEYPLAN_STUDIO=all``) tests every system; other runs test only the papers, and not by keyboard.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.session.design import Design
from keyplan.studio.actions import start_json
from keyplan.studio.exported import page_file
from keyplan.studio.subject import of_design
from keyplan.systems import system
from tests.browser.sites import AXE, error_details_of
from tests.browser.studio import serving_studio
from tests.systems.support import silent

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

SYSTEMS = ("blog", "cms", "papers", "shop", "social")
VIEWS = ("map", "questions", "run", "data", "cost", "check", "change")  # planning a system takes long
THOROUGH = os.environ.get("KEYPLAN_STUDIO") == "all"
SAMPLE = 6
TIMEOUT_MS = 90_000
TABS_MAX = 150
FIRST_HIT = '.row.hit:has(.badge text:text-is("1"))'
"""The row of the first item found: the map opens there."""
FOCUSED = """node => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at === node;
}"""

WRITES: dict[str, tuple[str, str, dict[str, str]]] = {
    "blog": ("edit_profile", "User", {"user_id": "", "name": "Another name", "bio": "none"}),
    "cms": ("archive", "Article", {"article_id": ""}),
    "papers": ("set_text", "Paper", {"paper_id": "", "text": "The text."}),
    "shop": ("restock", "Product", {"product_id": "", "quantity": "5"}),
    "social": ("edit_profile", "User", {"user_id": "", "name": "Another name"}),
}
"""Of each system a write, the entity whose item it is asked for, and its arguments; those left empty are the item's."""
READS = {
    "blog": "user",
    "cms": "article_versions",
    "papers": "papers_by_author",
    "shop": "orders_of_user",
    "social": "posts_of_user",
}
EDITED = {
    "blog": ("User", "name"),
    "cms": ("Article", "title"),
    "papers": ("Author", "name"),
    "shop": ("User", "name"),
    "social": ("User", "name"),
}


@dataclass
class Visit:
    """The studio of one system in a browser."""

    name: str
    page: Page
    design: Design
    address: str
    about: dict[str, Any]

    def go(self, query: str = "") -> None:
        """Open the studio's address with a query string."""
        self.page.goto(f"{self.address}{query}")

    def write(self) -> tuple[str, dict[str, str]]:
        """The name of a write pattern, and valid arguments for it."""
        name, entity, arguments = WRITES[self.name]
        item = next(element for element in self.items() if self.entity_of(element) == entity)
        known = type(self.design).compiled.by_name[entity]
        fields = known.field_values(known.from_item(item))
        return name, {word: text or str(fields[word]) for word, text in arguments.items()}

    def items(self) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = self.design.store.transport.call(
            "Scan", {"TableName": self.design.store.table_name}
        )["Items"]
        return result

    def entity_of(self, item: dict[str, Any]) -> str:
        """The name of an item's entity, or an empty string."""
        known = type(self.design).compiled.entity_of(item)
        return "" if known is None else known.name


@pytest.fixture(scope="module", params=SYSTEMS)
def visit(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Visit]:
    """Open the studio of a system. Console messages and requests to other hosts fail the tests."""
    result = system(request.param)
    said: list[str] = []
    with result.design.open(":memory:", secret="s") as design:
        result.sample(design, SAMPLE, silent)
        with serving_studio(design) as (address, token):
            context = browser.new_context(viewport={"width": 1360, "height": 860})
            context.set_default_timeout(TIMEOUT_MS)
            page = context.new_page()
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("request", lambda request: None if request.url.startswith(address) else said.append(request.url))
            page.goto(f"{address}?token={token}")
            page.locator(".card").first.wait_for()
            yield Visit(request.param, page, design, address, start_json(of_design(design)))
            context.close()
    assert [text for text in said if not text.startswith(("blob:", "data:"))] == []


# Both do the same tasks and differ in the input device


@dataclass
class Hand:
    """Uses the studio by mouse."""

    visit: Visit

    def press(self, what: Locator) -> None:
        """Click a link or a button."""
        what.click()

    def write(self, what: Locator, text: str) -> None:
        what.fill(text)
        what.blur()

    def choose(self, what: Locator, text: str) -> None:
        what.select_option(text)

    def view(self, name: str, path: str = "") -> None:
        """Open a view. ``path`` is the view's name in the address, if it differs from its label."""
        self.visit.page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()


class Keys(Hand):
    """Uses the studio by keyboard: elements are reached with Tab, and views with the palette."""

    def reach(self, what: Locator) -> None:
        """Press Tab until the element has the focus."""
        page = self.visit.page
        what.wait_for()
        wanted = what.element_handle()
        for _ in range(TABS_MAX):
            if page.evaluate(FOCUSED, wanted):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"Tab doesn't reach {what}")

    def press(self, what: Locator) -> None:
        self.reach(what)
        self.visit.page.keyboard.press("Enter")

    def write(self, what: Locator, text: str) -> None:
        self.reach(what)
        self.visit.page.keyboard.press("Control+a")
        self.visit.page.keyboard.insert_text(text)

    def choose(self, what: Locator, text: str) -> None:
        self.reach(what)
        self.visit.page.keyboard.type(text)

    def view(self, name: str, path: str = "") -> None:
        keyboard = self.visit.page.keyboard
        keyboard.press("Control+k")
        self.visit.page.get_by_role("dialog").wait_for()
        keyboard.type(f"view {name.lower()}")
        keyboard.press("Enter")
        self.visit.page.locator(f"main.view-{path or name.lower()}").wait_for()


@pytest.mark.parametrize("by", [Hand, Keys], ids=["mouse", "keys"])
def test_the_tasks_of_each_view_work_by_mouse_and_by_keyboard(visit: Visit, by: Callable[[Visit], Hand]) -> None:
    if not THOROUGH and visit.name not in (() if by is Keys else ("papers",)):
        pytest.skip("make nightly works all of them, by mouse and by keys")
    hand = by(visit)
    visit.go()
    for work in (map_work, questions_work, run_work, write_work, data_work, cost_work, check_work, change_work):
        work(visit, hand)


def map_work(visit: Visit, hand: Hand) -> None:
    """Highlight an access pattern on the map, and open one of its items."""
    page, question = visit.page, READS[visit.name]
    page.locator(".card").first.wait_for()
    hand.write(page.get_by_role("searchbox", name="Filter access patterns"), question)
    hand.press(page.locator(f'a.question:has(.name:text-is("{question}"))'))
    panel = page.get_by_role("region", name="Path of the access pattern")
    panel.get_by_role("heading", name=question).wait_for()
    page.locator(".row.hit").first.wait_for()
    if isinstance(hand, Keys):
        hand.reach(page.locator(".stage"))
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    else:
        page.locator(FIRST_HIT).first.click(position={"x": 60, "y": 12})
    item = page.get_by_role("region", name="Item", exact=True)
    item.locator(".keys dd").first.wait_for()
    hand.press(item.get_by_role("link", name="Close item"))
    item.wait_for(state="detached")


def questions_work(visit: Visit, hand: Hand) -> None:
    """Filter and sort the access patterns."""
    page = visit.page
    hand.view("Access patterns", "questions")
    page.get_by_text(f"{len(visit.about['questions'])} access patterns", exact=True).wait_for()
    hand.write(page.get_by_role("searchbox", name="Filter"), READS[visit.name])
    fewer = "count => document.querySelectorAll('tbody td.signature').length < count"
    page.wait_for_function(fewer, arg=len(visit.about["questions"]))
    hand.press(page.get_by_role("link", name="USD per million"))
    page.locator('th[aria-sort="ascending"]').wait_for()


def run_work(visit: Visit, hand: Hand) -> None:
    """Run a read; show entities and raw items."""
    page, question = visit.page, READS[visit.name]
    hand.view("Run")
    known = next(value for value in visit.about["questions"] if value["name"] == question)
    hand.choose(page.get_by_role("combobox", name="Access pattern"), f"{known['id']} {question}")
    hand.press(page.get_by_role("button", name="Run", exact=True))
    answer = page.get_by_role("region", name="Result", exact=True)
    answer.wait_for()
    hand.press(answer.get_by_role("link", name="show raw items"))
    answer.get_by_label("Raw items").wait_for()
    page.get_by_role("region", name="Requests").get_by_text("KeyConditionExpression").or_(
        page.get_by_text('"Key"')
    ).first.wait_for()


def write_work(visit: Visit, hand: Hand) -> None:
    """Check that a dry run lists the changes and writes nothing."""
    page = visit.page
    name, arguments = visit.write()
    before = visit.items()
    known = next(question for question in visit.about["questions"] if question["name"] == name)
    hand.choose(page.get_by_role("combobox", name="Access pattern"), f"{known['id']} {name}")
    for field, text in arguments.items():
        hand.write(page.locator(f'.run-form [name="{field}"]'), text)
    hand.press(page.get_by_role("button", name="Dry run"))
    page.get_by_role("heading", name="What would change").wait_for()
    assert visit.items() == before


def data_work(visit: Visit, hand: Hand) -> None:
    """Edit a field, preview the change, and discard it."""
    page = visit.page
    entity, field = EDITED[visit.name]
    hand.view("Data")
    hand.choose(page.get_by_label("Entity"), entity)
    page.wait_for_url(re.compile(f"entity={entity}"))
    page.get_by_role("columnheader", name=field, exact=True).wait_for()
    at = page.locator(".grid-box thead th").all_inner_texts().index(field)
    cell = page.locator(f'[data-at="0 {at}"]')
    if isinstance(hand, Keys):
        hand.reach(page.locator('.grid-box [tabindex="0"]'))
        for _ in range(at):
            page.keyboard.press("ArrowRight")
    else:
        cell.click()
    page.keyboard.press("Enter")
    box = page.get_by_role("textbox", name=f"{field} of {entity}")
    box.and_(page.locator(":focus")).wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("Changed here")
    page.keyboard.press("Control+Enter" if box.evaluate("node => node.isContentEditable") else "Enter")
    if isinstance(hand, Keys):
        page.keyboard.press("Control+s")
    else:
        hand.press(page.get_by_role("button", name="Show changes"))
    page.get_by_role("region", name="Changes").get_by_text("Changed here").first.wait_for()
    hand.press(page.get_by_role("button", name="Discard", exact=True))
    page.get_by_role("region", name="Staged edits").wait_for(state="detached")


def cost_work(visit: Visit, hand: Hand) -> None:
    """Estimate the price of ten times the traffic."""
    page = visit.page
    hand.view("Cost")
    hand.press(page.get_by_role("button", name="One call of each per second"))
    page.locator(".curve canvas").wait_for()
    price = page.locator(".bar h2").inner_text()
    hand.press(page.get_by_role("button", name="Ten times the traffic"))
    page.wait_for_function("before => document.querySelector('.bar h2').innerText !== before", arg=price)


def check_work(visit: Visit, hand: Hand) -> None:
    """Show the findings, including ignored findings, and the page of a rule."""
    page = visit.page
    hand.view("Check")
    page.get_by_text("rules,").wait_for()
    ignored = page.get_by_role("link", name=re.compile(r"Show \d+ ignored"))
    if ignored.count():
        hand.press(ignored)
    hand.press(page.locator(".group h3 a").first)
    page.get_by_role("complementary", name=re.compile("^Rule KP")).wait_for()


def change_work(visit: Visit, hand: Hand) -> None:
    """Check that an error in a scratch copy is reported, and that the file is unchanged."""
    page = visit.page
    hand.view("Change")
    hand.press(page.get_by_role("button", name="Edit a scratch copy"))
    editor = page.get_by_role("textbox", name="The scratch copy of the design's module")
    if isinstance(hand, Keys):
        hand.reach(editor)
    else:
        editor.click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("1 / 0\n")
    page.get_by_text("Invalid design").wait_for()
    if isinstance(hand, Keys):
        for _ in range(TABS_MAX):
            if "Back to the file" in page.evaluate("document.activeElement.textContent"):
                break
            page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
    else:
        page.get_by_role("button", name="Back to the file").click()
    page.get_by_role("heading", name="No changes").wait_for()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core isn't there: make system gets it")
def test_axe_finds_no_accessibility_violation_in_any_view(visit: Visit) -> None:
    if not THOROUGH and visit.name != "papers":
        pytest.skip("make nightly looks at all of them")
    page, result = visit.page, list[str]()
    name, arguments = visit.write()
    read = READS[visit.name]
    more = {
        "map": f"&question={read}",
        "run": f"&question={read}&ran=1",
        "check": "&all=1",
        "cost": '&rates={"' + read + '":5}',
        "data": "&entity=" + EDITED[visit.name][0],
    }
    for view in VIEWS:
        visit.go(f"?view={view}{more.get(view, '')}")
        page.wait_for_load_state("networkidle")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            result += [f"{view}, {scheme}: {text}" for text in error_details_of(page)]
    visit.go(f"?view=run&question={name}&ran=1&" + "&".join(f"a.{word}={text}" for word, text in arguments.items()))
    page.get_by_role("heading", name="What would change").wait_for()
    result += [f"write: {text}" for text in error_details_of(page)]
    page.emulate_media(color_scheme="light")
    assert result == []


@pytest.mark.nightly
def test_the_exported_studio_page_works_from_a_file(visit: Visit, browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / f"{visit.name}.html"
    path.write_text(page_file(of_design(visit.design)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1360, "height": 860})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    page.goto(path.as_uri())
    page.locator(f'a.question:has(.name:text-is("{READS[visit.name]}"))').click()
    page.locator(".row.hit").first.wait_for()
    page.locator(FIRST_HIT).first.click(position={"x": 60, "y": 12})
    page.get_by_role("region", name="Item", exact=True).locator(".keys dd").first.wait_for()
    link = page.url
    page.keyboard.press("Control+k")
    page.keyboard.type("view access patterns")
    page.keyboard.press("Enter")
    page.get_by_text(f"{len(visit.about['questions'])} access patterns", exact=True).wait_for()
    page.get_by_role("link", name="Check", exact=True).click()
    page.get_by_text("rules,").wait_for()
    page.goto(link)
    page.get_by_role("region", name="Item", exact=True).locator(".keys dd").first.wait_for()
    page.close()
    assert said == []
