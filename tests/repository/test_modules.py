"""Modules have a docstring, and functions fit on a screen."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.repository.files import ROOT, place, written_files
from tests.repository.walks import BEFORE, walks

FUNCTION_LINES_MAX = 70

LONG_FUNCTIONS = {
    "tests/systems/social/test_readme.py:calls": "a call of each pattern of the network, in their order",
}

MODULES = [path for folder in ("src", "systems", "tests", "benchmarks") for path in written_files(".py", ROOT / folder)]


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_a_module_says_what_lives_in_it(path: Path) -> None:
    """Only the empty ``__init__`` of a folder of tests says nothing."""
    text = path.read_text(encoding="utf-8")
    if path.name == "__init__.py" and "tests" in path.parts and not text:
        return
    assert ast.get_docstring(ast.parse(text)), f"{place(path)} needs a docstring: what lives there, and what doesn't"


def test_functions_fit_on_a_screen() -> None:
    """A function that doesn't fit on a screen is several."""
    lengths = {
        f"{place(path)}:{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    long = {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES_MAX and name not in LONG_FUNCTIONS}
    assert not long, f"over {FUNCTION_LINES_MAX} lines: split them"


def test_requests_take_no_more_calls_than_before() -> None:
    """A read, a write and a read over HTTP: no more function calls and SQL statements than on 21 November 2026."""
    longer = []
    for walk in walks():
        _, _, calls, statements = walk.numbers
        _, _, calls_before, statements_before = BEFORE[walk.title]
        if calls > calls_before or statements > statements_before:
            longer.append((walk.title, walk.numbers, BEFORE[walk.title]))
    assert longer == []
