"""Where classes and their members stand in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyplan.analysis.rehearsal.sources import Sources
from tests.rehearsal import spelt_within

LINES = Path(spelt_within.__file__).read_text(encoding="utf-8").splitlines()


def line_of(text: str) -> int:
    """The number of the one line that begins so."""
    (number,) = (number for number, line in enumerate(LINES, 1) if line.strip().startswith(text))
    return number


@pytest.mark.parametrize("name", ["Pot", "Cloth", "Sponge", "Brush"])
def test_a_class_within_a_function_is_found(name: str) -> None:
    source = Sources().of_class(spelt_within.MADE[name])
    assert source is not None
    assert (source.file, source.line) == (spelt_within.__file__, line_of(f"class {name}("))


def test_a_member_of_a_class_is_found() -> None:
    source = Sources().of_class(spelt_within.MADE["Pot"], "by_hue")
    assert source is not None
    assert source.line == line_of("by_hue = ")


def test_a_class_that_no_file_has_is_not_found() -> None:
    made = type("Made", (), {"__module__": spelt_within.__name__})
    assert Sources().of_class(made) is None
    assert Sources().named(spelt_within.__file__, "Made.member") is None
