"""The pictures of the README and of docs/: the studio on the systems' samples. ``make pictures`` makes them anew."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import uvicorn

from keyplan.studio.access import Access
from keyplan.studio.actions import Studio
from keyplan.studio.application import Beside, studio_application
from keyplan.studio.subject import of_design
from keyplan.systems import system
from tests.browser.conftest import CHROMIUM
from tests.repository.files import ROOT
from tests.systems.support import silent

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOST = "127.0.0.1"
FOLDER = ROOT / "docs" / "pictures"
Scheme = Literal["light", "dark"]
RATES = '?view=cost&rates={"user":50,"orders_of_user":20,"order_details":12,"place_order":5,"record_readings":30}'
PICTURES: tuple[tuple[str, str, str, Scheme, int], ...] = (
    ("studio-map", "cms", "", "light", 1360),
    ("studio-question", "cms", "?question=articles_by_tag", "dark", 1360),
    ("studio-shop", "shop", "", "light", 1360),
    ("studio-phone", "cms", "", "dark", 390),
    ("studio-data", "shop", "?view=data&entity=Order", "light", 1360),
    (
        "studio-cost",
        "shop",
        RATES,
        "light",
        1360,
    ),
)
"""Each picture's name, the system, what the address says, the colours, and the width."""


@contextmanager
def studio(name: str) -> Iterator[tuple[str, str]]:
    """The studio of a system with its sample: its address, and its token."""
    found = system(name)
    with found.design.open(":memory:", secret="s") as design, socket.socket() as listener:
        found.sample(design, 40, silent)
        listener.bind((HOST, 0))
        listener.listen()
        access = Access(hosts=(HOST,))
        served = Beside(None, studio_application(Studio(of_design(design)), access))
        server = uvicorn.Server(uvicorn.Config(served, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}/studio/", access.token
        finally:
            server.should_exit = True
            thread.join()


def take(browser: Browser, name: str, address: str, token: str, query: str, scheme: Scheme, width: int) -> None:
    """One picture."""
    page = browser.new_page(viewport={"width": width, "height": 860}, color_scheme=scheme, device_scale_factor=1)
    page.goto(f"{address}?token={token}", wait_until="networkidle")
    page.goto(f"{address}{query}", wait_until="networkidle")
    page.wait_for_timeout(400)
    page.screenshot(path=FOLDER / f"{name}.png")
    page.close()


def main() -> None:
    """Make all of them."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this needs it

    FOLDER.mkdir(exist_ok=True)
    quiet = ["--no-sandbox", "--disable-quic", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)
        for wanted in dict.fromkeys(one[1] for one in PICTURES):
            with studio(wanted) as (address, token):
                for name, of, query, scheme, width in PICTURES:
                    if of == wanted:
                        take(browser, name, address, token, query, scheme, width)
        browser.close()


if __name__ == "__main__":
    main()
