"""Texts that were agreed upon: what a test makes is compared with what stands in ``agreed/`` beside it, in a file of
the test file's name, in a section for each text.

``KEYPLAN_AGREE=1 python -m pytest tests/workbench`` writes the sections of the tests that run anew: then read what git
says has changed.
"""

from __future__ import annotations

import difflib
import os
import re
from functools import cache
from pathlib import Path

import pytest

__all__ = ["assert_agreed"]

ROOT = Path(__file__).parents[1]
AGREE = "KEYPLAN_AGREE"
"""The environment variable that has the texts written anew."""
_HEAD = "=== "
_SHOWN_MAX = 80
"""Lines of a difference that are shown."""
_LONG_FRACTION = re.compile(r"\b\d+\.\d{9,}(?:e-?\d+)?\b")
"""A fraction whose last digits another version of Python has otherwise: since 3.12 ``sum`` adds more exactly."""
_made: list[str] = []
"""The sections of the test that runs, as far as it has made them."""


def assert_agreed(text: str) -> None:
    """Fail where the text isn't the one agreed upon for this place in the test that runs."""
    test, _, _ = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")
    file, _, name = test.partition("::")
    if _made and not _made[-1].startswith(f"{file} {name} "):
        _made.clear()
    _made.append(f"{file} {name} {len(_made) + 1}")
    section = f"{name} {len(_made)}"
    path = (ROOT / file).parent / "agreed" / Path(file).with_suffix(".txt").name
    text = _plain("\n".join(line.rstrip() for line in text.split("\n")).strip("\n"))
    if os.environ.get(AGREE):
        _write(path, {**_sections(path), section: text})
        return
    agreed = _sections(path).get(section, "")
    if text != agreed:
        lines = [*difflib.unified_diff(agreed.split("\n"), text.split("\n"), "agreed upon", "made now", "", "", 2, "")]
        shown = "\n".join([*lines[:_SHOWN_MAX], *(["..."] if len(lines) > _SHOWN_MAX else [])])
        pytest.fail(f"{path.name}, {section!r} ({AGREE}=1 writes it anew):\n{shown}", pytrace=False)


@cache
def _sections(path: Path) -> dict[str, str]:
    """The texts of a file by their names."""
    if not path.exists():
        return {}
    parts = f"\n{path.read_text(encoding='utf-8')}".split(f"\n{_HEAD}")[1:]
    pairs = (part.partition("\n") for part in parts)
    return {name: _plain(text.strip("\n")) for name, _, text in pairs}


def _plain(text: str) -> str:
    """The text with fractions of eight digits at most."""
    return _LONG_FRACTION.sub(lambda match: f"{float(match[0]):.8g}", text)


def _write(path: Path, sections: dict[str, str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(f"{_HEAD}{name}\n{text}\n" for name, text in sections.items()), encoding="utf-8")
    _sections.cache_clear()
