"""Browser tests: no linked code runs automatically, design files are reloaded, and a new tab requires the token."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from keyplan.cli.designs import find
from keyplan.errors import UnknownDesign
from keyplan.studio.access import Access
from keyplan.studio.actions import Studio
from keyplan.studio.design_file import DesignFile
from keyplan.studio.home import Home, remember
from keyplan.studio.items import kind_of
from keyplan.studio.sampling import sample
from keyplan.studio.subject import Endpoint, of_design, of_file
from tests.browser.studio import serving, serving_studio
from tests.studio import school as school_module
from tests.studio.school import School, fill

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def packed(text: str) -> str:
    """The encoded form of a string after ``#scratch=`` in a link to the studio."""
    deflate = zlib.compressobj(wbits=-15)
    return base64.urlsafe_b64encode(deflate.compress(text.encode()) + deflate.flush()).decode().rstrip("=")


@pytest.fixture(scope="module")
def school() -> Iterator[School]:
    with School.open(":memory:", secret="s") as opened:
        fill(opened)
        yield opened


@contextmanager
def opened(browser: Browser, school: School, *, executes: bool = True) -> Iterator[tuple[Page, str]]:
    """Serve a studio, and yield a tab that has the token, and the studio's address."""
    with serving_studio(school, executes=executes) as (address, token):
        page = browser.new_page()
        page.goto(f"{address}?token={token}", wait_until="networkidle")
        yield page, address
        page.close()


def marking(path: Path) -> str:
    return f"open({str(path)!r}, 'w').close()\n"


@pytest.mark.parametrize("view", ["change", "plan"])
def test_code_in_links_runs_only_if_run_is_pressed(browser: Browser, school: School, tmp_path: Path, view: str) -> None:
    mark = tmp_path / "ran"
    with opened(browser, school) as (page, address):
        page.goto(f"{address}?view={view}#scratch={packed(marking(mark))}")
        page.get_by_text("This text hasn't run.").wait_for()
        page.locator(".cm-content, .page > pre").get_by_text("open(").first.wait_for()
        page.wait_for_timeout(1500)  # the page polls once
        assert not mark.exists()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("has no design School").wait_for()
        assert mark.exists()


@pytest.mark.nightly
def test_pasted_code_runs_only_after_run_is_pressed(browser: Browser, school: School, tmp_path: Path) -> None:
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
        page.wait_for_timeout(1500)  # the page polls once
        assert not mark.exists()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("heading", name="No changes yet").wait_for()
        assert mark.exists()


@pytest.mark.nightly
def test_the_stop_button_stops_an_endless_loop(browser: Browser, school: School) -> None:
    with opened(browser, school) as (page, address):
        page.goto(f"{address}?view=change#scratch={packed('while True: pass')}")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_text("the run was stopped before it returned a result").wait_for()


def test_a_read_only_studio_ignores_the_code_in_a_link(browser: Browser, school: School, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    with opened(browser, school, executes=False) as (page, address):
        page.goto(f"{address}?view=change#scratch={packed(marking(mark))}")
        page.locator(".card").first.wait_for()
        assert page.get_by_role("link", name="Change", exact=True).count() == 0
        assert not mark.exists()


VALID = Path(school_module.__file__).read_text(encoding="utf-8")


def test_an_error_in_a_design_file_is_shown_until_the_file_is_corrected(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "half_written.py"
    file.write_text("import keyplan\n\nclass School(keyplan.Design:\n", encoding="utf-8")
    with ExitStack() as stack:

        def open_studio() -> Studio:
            return Studio(of_design(stack.enter_context(find(f"{file}:School").open(":memory:"))))

        with pytest.raises(UnknownDesign) as raised:
            open_studio()
        studio = Studio(of_file(file.name), file=DesignFile(file, open_studio, raised.value))
        address, token = stack.enter_context(serving(studio))
        page = browser.new_page()
        page.goto(f"{address}?token={token}")
        page.get_by_role("alert").get_by_text(f"{file}:3").wait_for()
        assert page.locator(".at").inner_text().split() == ["3", "class", "School(keyplan.Design:"]
        file.write_text("", encoding="utf-8")
        page.get_by_role("alert").get_by_text("doesn't exist").wait_for()
        file.write_text(VALID, encoding="utf-8")
        page.locator(".card").first.wait_for()
        page.get_by_role("link", name="Change", exact=True).wait_for()
        page.close()


def test_a_saved_valid_design_is_reloaded_and_an_invalid_one_is_reported(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    file.write_text(VALID, encoding="utf-8")
    with find(f"{file}:School").open(":memory:") as design:

        def open_studio() -> Studio:
            return Studio(of_design(find(f"{file}:School").design.open(design.store)))

        studio = open_studio()
        studio.file = DesignFile(file, open_studio)
        with serving(studio) as (address, token):
            page = browser.new_page()
            page.goto(f"{address}?token={token}")
            page.locator(".card").first.wait_for()
            file.write_text(VALID.replace('@read("Q5")', "@read(Q5)"), encoding="utf-8")
            page.get_by_role("alert").get_by_text("The saved file can't be opened").wait_for()
            page.locator(".card").first.wait_for()
            file.write_text(VALID.replace("reports_between", "from_to").replace("REPORT#", "NOTE#"), encoding="utf-8")
            page.get_by_role("link", name="Q6 from_to").wait_for()
            page.locator(".row.flash").filter(has_text="NOTE#").wait_for()
            page.get_by_role("alert").wait_for(state="detached")
            page.close()


def test_a_studio_without_a_design_can_create_or_infer_a_design(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    remember("old.py:Old", None)
    with ExitStack() as stack:
        school = stack.enter_context(School.open(":memory:"))
        fill(school)
        url = "dynamodb+http://127.0.0.1:9"
        endpoint = Endpoint(url, school.store.transport, local=True, writable=True, table="school", others=False)

        def open_name(name: str, _db: str | None) -> Studio:
            if name == url:
                return Studio(endpoint.subject("school"), endpoint=endpoint)
            return Studio(of_design(stack.enter_context(find(name).open(":memory:"))))

        address, token = stack.enter_context(serving(Studio(of_file("Studio"), home=Home(open_name))))
        page = browser.new_page()
        page.goto(f"{address}?token={token}")
        page.get_by_role("region", name="Recent").get_by_role("button", name="old.py:Old").wait_for()
        page.get_by_role("button", name="Create").click()
        page.locator('.card[data-title="USER#{user_id}"]').wait_for()
        assert "class Notes(Design)" in (tmp_path / "design.py").read_text(encoding="utf-8")
        page.get_by_role("link", name="Open", exact=True).click()
        page.get_by_role("button", name="Create").click()
        page.get_by_role("alert").get_by_text("can't be written").wait_for()
        page.get_by_label("design.py, module:Class").fill(url)
        page.get_by_role("button", name="Open", exact=True).click()
        page.locator(".row").filter(has_text="PUPIL").first.wait_for()
        page.get_by_role("link", name="Design", exact=True).click()
        with page.expect_download() as started:
            page.get_by_role("button", name="Save school.py").click()
        inferred = tmp_path / "school.py"
        started.value.save_as(inferred)
        page.close()
        design = find(str(inferred)).design.open(school.store)
        kinds = {kind_of(item, design.compiled, design.compiled.table).role for item in sample(of_design(design)).items}
        assert kinds == {"entity"}


def test_the_studio_page_reconnects_after_the_server_restarts(browser: Browser, school: School) -> None:
    access = Access(hosts=("127.0.0.1",))
    page = browser.new_page()
    with serving(Studio(of_design(school)), access) as (address, token):
        page.goto(f"{address}?token={token}")
        page.locator(".card").first.wait_for()
    page.get_by_role("link", name="Q1 pupil", exact=True).click()
    lost = page.get_by_role("status").get_by_text("The studio's server doesn't respond")
    lost.wait_for()
    port = int(address.split(":")[2].partition("/")[0])
    with serving(Studio(of_design(school)), access, port):
        page.locator(".row.hit").first.wait_for()
        lost.wait_for(state="detached")
    page.get_by_role("link", name="Q2 reports", exact=True).click()
    lost.wait_for()
    with serving(Studio(of_design(school)), None, port):
        page.get_by_text("This token is invalid").wait_for()
    page.close()


def test_writing_sample_data_fills_an_empty_map(browser: Browser) -> None:
    with School.open(":memory:", secret="s") as empty, serving_studio(empty) as (address, token):
        page = browser.new_page()
        page.goto(f"{address}?token={token}")
        page.get_by_role("button", name="Write sample data").click()
        page.get_by_text(re.compile(r"chosen from all \d+ items")).wait_for()
        assert {pupil.name for pupil in empty.pupils_of_course("course-1")} == {"name-1", "name-2", "name-3"}
        assert len(empty.reports("pupil-1").items) > 1
        assert page.get_by_role("button", name="Write sample data").count() == 0
        page.close()


@pytest.mark.nightly
def test_a_new_tab_requires_the_token_and_shows_the_view_in_its_url(browser: Browser, school: School) -> None:
    with serving_studio(school) as (address, token):
        context = browser.new_context()
        first = context.new_page()
        first.goto(f"{address}?token={token}", wait_until="networkidle")
        assert first.evaluate("localStorage.length") == 0
        page = context.new_page()
        page.goto(f"{address}?view=data&entity=Pupil#edits=%5B%5D")
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Open").click()
        page.get_by_text("This token is invalid").wait_for()
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Open").click()
        page.get_by_role("gridcell", name="1", exact=True).first.wait_for()
        assert page.url == f"{address}?view=data&entity=Pupil#edits=%5B%5D"
        context.close()
