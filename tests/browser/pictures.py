"""Screenshots of the studio with sample data, for the README and docs/. ``make pictures`` updates them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from keyplan.systems import system
from tests.browser.conftest import CHROMIUM
from tests.browser.studio import serving_studio
from tests.repository.files import ROOT
from tests.systems.support import silent

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = ROOT / "docs" / "pictures"
Scheme = Literal["light", "dark"]
RATES = '?view=cost&rates={"user":50,"orders_of_user":20,"order_details":12,"place_order":5,"record_readings":30}'
PICTURES: tuple[tuple[str, str, str, Scheme, int], ...] = (
    ("studio-map", "cms", "", "light", 1360),
    ("studio-question", "cms", "?question=articles_by_tag", "dark", 1360),
    ("studio-data", "shop", "?view=data&entity=Order", "light", 1360),
    ("studio-cost", "shop", RATES, "light", 1360),
)
"""Each picture's name, the system, what the address says, the colours, and the width."""


@contextmanager
def studio(name: str) -> Iterator[tuple[str, str]]:
    """Serve the studio of a system with sample data, and yield its address and token."""
    result = system(name)
    with result.design.open(":memory:", secret="s") as design:
        result.sample(design, 40, silent)
        with serving_studio(design) as served:
            yield served


def take(browser: Browser, name: str, address: str, token: str, query: str, scheme: Scheme, width: int) -> None:
    """Save one screenshot of the studio."""
    page = browser.new_page(viewport={"width": width, "height": 860}, color_scheme=scheme, device_scale_factor=1)
    page.goto(f"{address}?token={token}", wait_until="networkidle")
    page.goto(f"{address}{query}", wait_until="networkidle")
    page.wait_for_timeout(400)
    page.screenshot(path=FOLDER / f"{name}.png")
    page.close()


def main() -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this needs it

    FOLDER.mkdir(exist_ok=True)
    quiet = ["--no-sandbox", "--disable-quic", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)
        for wanted in dict.fromkeys(element[1] for element in PICTURES):
            with studio(wanted) as (address, token):
                for name, of, query, scheme, width in PICTURES:
                    if of == wanted:
                        take(browser, name, address, token, query, scheme, width)
        browser.close()


if __name__ == "__main__":
    main()
