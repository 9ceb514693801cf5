"""Modules have a docstring, functions are short, and requests take few calls."""

from __future__ import annotations

import ast

from tests.repository.files import ROOT, place, statements, written_files
from tests.repository.walks import BEFORE, walks

FUNCTION_LINES_MAX = 70

LONG_FUNCTIONS = {"tests/systems/social/test_readme.py:calls": "a call of each pattern of the network, in their order"}

MODULES = [path for folder in ("src", "systems", "tests", "benchmarks") for path in written_files(".py", ROOT / folder)]


def test_modules_have_a_docstring_and_short_functions() -> None:
    """Only the empty ``__init__`` of a folder of tests has no docstring."""
    undocumented, long = [], []
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        if not ast.get_docstring(tree) and (text or path.name != "__init__.py" or "tests" not in path.parts):
            undocumented.append(place(path))
        for node in statements(tree.body):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX and f"{place(path)}:{node.name}" not in LONG_FUNCTIONS:
                    long.append(f"{place(path)}:{node.name}")
    assert not undocumented, "each module needs a docstring that states its subject"
    assert not long, f"over {FUNCTION_LINES_MAX} lines: split them"


def test_requests_take_no_more_calls_than_before() -> None:
    """A read, a write and a read over HTTP take at most the calls and SQL statements in ``BEFORE``."""
    longer = []
    for walk in walks():
        _, _, calls, statements = walk.numbers
        _, _, calls_before, statements_before = BEFORE[walk.title]
        if calls > calls_before or statements > statements_before:
            longer.append((walk.title, walk.numbers, BEFORE[walk.title]))
    assert longer == []
