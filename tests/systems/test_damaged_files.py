"""Loaders report what they can't read in randomly damaged files, and raise no error."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyplan import Design
from keyplan.errors import KeyplanError, RequestError
from keyplan.systems import system
from tests.systems.papers.test_loader import BIBTEX, CSL
from tests.systems.shop.test_loader import ORDERS, PRODUCTS
from tests.systems.support import silent

FILES: dict[str, tuple[str, str]] = {
    "a.bib": ("papers", BIBTEX),
    "a.json": ("papers", CSL),
    "products.csv": ("shop", PRODUCTS),
    "orders.csv": ("shop", ORDERS),
}
PIECES = [
    b"{", b"}", b'"', b"\\", b"@", b"#", b",", b"=", b"\n", b"\r", b"\n@article{", b"\xff", b"\x00", b"(", b"[", b"]",
    b"$", b"~", b"\\verb", b"\\begin{x}", b"null", b"1e999", b"NaN", b"\\ud800", b"-", b"9" * 40, b";", b"\xef\xbb\xbf",
]  # fmt: skip


def damaged(text: str, chance: random.Random) -> bytes:
    """Return the text after random damage."""
    data = bytearray(text.encode())
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data[at:at] = chance.choice(PIECES)
            case 1:
                del data[at : at + chance.randrange(1, 30)]
            case 2:
                data[at:at] = data[at : at + chance.randrange(1, 100)]
            case _:
                data[at : at + 1] = bytes([chance.randrange(256)])
    return bytes(data)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("seed", range(5))
def test_importing_randomly_damaged_files_raises_no_error(name: str, seed: int, tmp_path: Path) -> None:
    which, text = FILES[name]
    result = system(which)
    load: Callable[[Any, Path, Any], Any] = result.load
    design: Design
    with result.design.open(":memory:") as design:
        if name == "orders.csv":
            (tmp_path / "products.csv").write_text(PRODUCTS, encoding="utf-8")
            load(design, tmp_path / "products.csv", silent)
        for number in range(40):
            chance = random.Random(f"{seed}/{number}")
            (tmp_path / name).write_bytes(damaged(text, chance))
            try:
                report = load(design, tmp_path / name, silent)
            except RequestError:
                continue  # no table remains
            except KeyplanError as error:
                raise AssertionError(f"{seed}/{number}") from error
            assert all(fault.place.startswith(f"{name}:") for fault in report.errors)
