"""Modules have a docstring, functions are short, and requests make a limited number of function calls."""

from __future__ import annotations

import ast
import re

from tests.repository.files import ROOT, place, written_files
from tests.repository.walks import BEFORE, walks

FUNCTION_LINES_MAX = 70

LONG_FUNCTIONS = {"tests/systems/social/test_readme.py:calls": "a call of each pattern of the network, in their order"}

MODULES = [path for folder in ("src", "systems", "tests", "benchmarks") for path in written_files(".py", ROOT / folder)]


DEFINITION = re.compile(r"^( *)(?:async def|def|class|@)", re.MULTILINE)


def test_modules_have_a_docstring() -> None:
    """Only an empty ``__init__.py`` in a folder of tests has no docstring."""
    texts = {place(path): path.read_text(encoding="utf-8") for path in MODULES}
    documented = re.compile(r'(#.*\n|\n)*"""')
    empty = {name for name, text in texts.items() if not text and re.fullmatch("tests/.*__init__.py", name)}
    assert [name for name, text in texts.items() if name not in empty and not documented.match(text)] == []


def test_functions_have_a_limited_number_of_lines() -> None:
    long = [
        f"{place(path)}:{node.name}"
        for path in MODULES
        if has_large_gap(path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_LINES_MAX
    ]
    assert set(long) <= LONG_FUNCTIONS.keys(), f"over {FUNCTION_LINES_MAX} lines: split them"


def has_large_gap(text: str) -> bool:
    """Return whether a module may have a long function, by the distances between definitions (faster than parsing)."""
    starts = [(text.count("\n", 0, match.start()), len(match[1])) for match in DEFINITION.finditer(text)]
    starts.append((text.count("\n"), 0))
    return any(
        next(later for later, inner in starts[number + 1 :] if inner <= indent) - line > FUNCTION_LINES_MAX
        for number, (line, indent) in enumerate(starts[:-1])
    )


def test_requests_take_no_more_function_calls_than_the_recorded_maximum() -> None:
    """``BEFORE`` has the maximum number of calls and SQL statements of a read, a write and a read over HTTP."""
    longer = []
    for walk in walks():
        _, _, calls, statements = walk.numbers
        _, _, calls_before, statements_before = BEFORE[walk.title]
        if calls > calls_before or statements > statements_before:
            longer.append((walk.title, walk.numbers, BEFORE[walk.title]))
    assert longer == []
