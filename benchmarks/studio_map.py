"""Panning and zooming of the studio's map with 40 entities and 10,000 items, in headless Chromium.

The benchmark generates the design: 40 kinds of item collections, 10 of them in an index. The page requests five
collections of each kind with 50 items each. The map is then dragged and zoomed by mouse events. Two times are
measured: the wall-clock time of each frame, which depends on other work on the machine, and the CPU time of each task
of the page's main thread, which doesn't.

``make bench-studio`` writes docs/benchmarks-studio.md. No test asserts seconds; tests/browser asserts that panning and
zooming cause no layout.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import socket
import statistics
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from tests.browser.conftest import CHROMIUM

from keyplan import Design, Entity, Index, Key, Put, Table
from keyplan.studio.access import Access
from keyplan.studio.actions import Studio
from keyplan.studio.application import Beside, studio_application
from keyplan.studio.subject import of_design

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks-studio.md"
BEGIN, END = "<!-- studio_map: begin -->", "<!-- studio_map: end -->"
HOST = "127.0.0.1"
ENTITIES, COLLECTIONS, ROWS = 40, 5, 50
FRAME_MS_MAX = 50
MOVES = 90
CATEGORIES = ["devtools.timeline", "toplevel", "disabled-by-default-devtools.timeline"]
SHOWN = "count => Number(document.querySelector('.paper-layer')?.dataset.rows) >= count"
TIMEOUT_MS = 120_000
FRAMES = """() => {
  window.frames_ms = [];
  let last = performance.now();
  const next = (now) => { window.frames_ms.push(now - last); last = now; window.frame = requestAnimationFrame(next); };
  window.frame = requestAnimationFrame((now) => { last = now; window.frame = requestAnimationFrame(next); });
}"""


def large_design() -> type[Design]:
    """Forty entities, each in collections of its own; every fourth in an index too."""
    index = Index("GSI1", "gsi1pk", "gsi1sk")
    made: dict[str, Any] = {"table": Table("large", indexes=[index]), "__doc__": "Forty entities."}
    entities: list[type[Entity]] = []
    for number in range(ENTITIES):
        name = f"Kind{number:02d}"
        body: dict[str, Any] = {
            "__doc__": f"{name}.",
            "__module__": __name__,
            "__annotations__": {"owner": "str", "number": "int", "title": "str", "state": "str"},
            "primary": Key(f"KIND{number:02d}#{{owner}}", "ITEM#{number:04d}"),
        }
        if number % 4 == 0:
            body["by_state"] = Key(f"STATE{number:02d}#{{state}}", "{owner}#{number:04d}", index=index)
        entities.append(type(name, (Entity,), body))
    made["entities"] = entities
    return type("Large", (Design,), {**made, "table": Table("large", indexes=[index], entities=entities)})


def fill(design: Design) -> int:
    """Every collection that is shown, with all its items."""
    items = [
        entity.cls.model_validate({"owner": f"owner-{owner}", "number": number, "title": "Title", "state": "s1"})
        for entity in type(design).compiled.entities.values()
        for owner in range(COLLECTIONS)
        for number in range(ROWS)
    ]
    for start in range(0, len(items), 500):
        design.batch([Put(one) for one in items[start : start + 500]])
    return len(items)


@contextmanager
def served() -> Generator[tuple[str, int]]:
    """The studio's address with its token, and how many items there are."""
    with large_design().open(":memory:") as design, socket.socket() as listener:
        count = fill(design)
        listener.bind((HOST, 0))
        listener.listen()
        access = Access(hosts=(HOST,))
        served = Beside(None, studio_application(Studio(of_design(design)), access))
        server = uvicorn.Server(uvicorn.Config(served, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}/studio/?token={access.token}", count
        finally:
            server.should_exit = True
            thread.join()


@dataclass(frozen=True)
class Measured:
    """One gesture: each frame on the wall, and each task of the main thread by its processor time, in ms."""

    name: str
    frames_ms: list[float]
    tasks_ms: list[float]
    layouts: int

    def row(self) -> str:
        """Its line on the page."""
        frames, tasks = sorted(self.frames_ms), sorted(self.tasks_ms)
        share = sum(one > FRAME_MS_MAX for one in frames)
        times = (statistics.median(frames), _at(frames, 0.99), frames[-1])
        wall = " | ".join(f"{one:.1f}" for one in times)
        own = f"{_at(tasks, 0.99):.1f} | {tasks[-1]:.1f}"
        return f"| {self.name} | {len(frames)} | {wall} | {share} | {own} | {self.layouts} |"


def _at(ordered: list[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def gesture(browser: Browser, page: Page, name: str) -> Measured:
    """One of the gestures, traced."""
    browser.start_tracing(
        page=page, categories=["devtools.timeline", "toplevel", "disabled-by-default-devtools.timeline"]
    )
    page.evaluate(FRAMES)
    {"drag": drag, "zoom": zoom, "keys": keys}[name](page)
    frames: list[float] = page.evaluate("() => { cancelAnimationFrame(window.frame); return window.frames_ms; }")
    trace = json.loads(browser.stop_tracing())["traceEvents"]
    tasks, layouts = _tasks(trace)
    return Measured(name, frames, tasks, layouts)


def drag(page: Page) -> None:
    """Drag the map around in a curve, as a hand does."""
    page.mouse.move(700, 450)
    page.mouse.down()
    for step in range(MOVES):
        page.mouse.move(700 + 250 * ((step % 30) / 30 - 0.5), 450 - 4 * (step % 60))
        time.sleep(0.012)
    page.mouse.up()


def zoom(page: Page) -> None:
    """Zoom out to the whole, and in again."""
    page.mouse.move(700, 450)
    for step in range(MOVES):
        page.mouse.wheel(0, 100 if step < MOVES // 2 else -100)
        time.sleep(0.012)


def keys(page: Page) -> None:
    """Pan and zoom by the keyboard."""
    page.get_by_role("region", name="Map. Press the arrow keys").focus()
    for step in range(MOVES):
        page.keyboard.press(("ArrowDown", "ArrowRight", "+", "-")[step % 4])
        time.sleep(0.012)


def _tasks(events: list[dict[str, Any]]) -> tuple[list[float], int]:
    """The tasks of the busiest renderer's main thread, by their processor time; and its layouts."""
    mains = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"].get("name") == "CrRendererMain"
    }
    by_thread: dict[tuple[int, int], list[float]] = {}
    layouts: dict[tuple[int, int], int] = {}
    for one in events:
        place = (one["pid"], one["tid"])
        if place not in mains:
            continue
        if one["name"] in {"RunTask", "ThreadControllerImpl::RunTask"} and one.get("ph") == "X":
            by_thread.setdefault(place, []).append(one.get("tdur", one["dur"]) / 1000)
        elif one["name"] == "Layout":
            layouts[place] = layouts.get(place, 0) + 1
    busiest = max(by_thread, key=lambda place: sum(by_thread[place]))
    return by_thread[busiest], layouts.get(busiest, 0)


def _opening(page: Page, address: str, query: str) -> float:
    """Seconds from opening an address to the first card."""
    began = time.perf_counter()
    page.goto(f"{address.partition('?')[0]}{query}")
    page.locator(".card").first.wait_for()
    return time.perf_counter() - began


def measure() -> str:
    """Everything, as the page has it."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this needs it

    load = os.getloadavg()[0]
    with served() as (address, count), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(f"{address}&view=cost", wait_until="networkidle")  # libraries are loaded; the map isn't
        opened = {query: _opening(page, address, query) for query in ("", "?show=items")}
        began = time.perf_counter()
        page.goto(f"{address.partition('?')[0]}?show=items&rows={ROWS}&each={COLLECTIONS}")
        page.wait_for_function(
            "count => Number(document.querySelector('.paper-layer')?.dataset.rows) >= count", arg=count
        )
        page.wait_for_timeout(1500)
        first = time.perf_counter() - began - 1.5
        rows = int(page.locator(".paper-layer").get_attribute("data-rows") or 0)
        nodes = page.evaluate("document.querySelectorAll('.stage *').length")
        found = [gesture(browser, page, name) for name in ("drag", "zoom", "keys")]
        version = browser.version
        browser.close()
    counts = f"The map has {ENTITIES} entities, {count:,} items, {rows:,} rows and, at first, {nodes:,} elements"
    machine = f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    lines = [
        "| gesture | frames | median, ms | p99 | max | over 50 ms | task p99, CPU ms | task max, CPU ms | layouts |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(one.row() for one in found),
        "",
        f"The page shows key templates after {opened['']:.2f} s, and items after {opened['?show=items']:.2f} s.",
        f"{counts}; all rows are shown after {first:.1f} s.",
        f"Measured in headless Chromium {version} without a graphics processor, at 1440 × 900 pixels;",
        f"{machine}; load average before the run {load:.1f}.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure; with ``--write``, into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks-studio.md")
    given = parser.parse_args()
    found = measure()
    sys.stdout.write(f"{found}\n")
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{found}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
