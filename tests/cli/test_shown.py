"""How answers stand on a terminal, of each kind and each width, as it was agreed upon; and long lists, of which the
first are shown.
"""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from keyplan.cli import cost_tables, explain, show
from keyplan.cost.bills import Payer
from keyplan.cost.estimate import estimate
from keyplan.cost.pricelist import price_list
from keyplan.cost.units import Line, Request
from tests.agreed import assert_agreed
from tests.cli.clinic import Clinic
from tests.cli.support import LIBRARY, run

ROWS: list[dict[str, Any]] = [
    {"id": "a1", "title": "The first of them", "empty": None, "tags": ["x", "y"], "text": "long " * 12, "n": 1},
    {"id": "a2", "title": "Second\nline", "empty": "", "tags": [], "text": "[b]short[/b]", "n": 2.5, "late": True},
    {"id": "a3", "title": "\x07", "empty": [], "tags": [1], "text": None, "n": None, "map": {"a": [1, "é"]}},
]
ANSWERS: dict[str, Any] = {
    "nothing": None,
    "an empty page": {"items": [], "cursor": None},
    "a page": {"items": ROWS, "cursor": "abc" * 30},
    "one": {"items": ROWS[:1]},
    "texts": {"items": ["a", 2, None, ["x", "y"], [1]]},
    "an object": ROWS[2],
    "a collection": {"order": {"id": 1, "at": "now"}, "lines": ROWS[:2], "none": [], "total": 7},
    "no list": {"items": "all of them"},
    "a number": 7,
    "a text": "[bold]plain[/bold]",
    "a list": ["a", "b"],
    "true": True,
}


def printed(answer: Any, width: int) -> str:
    out = StringIO()
    show.show_answer(
        Console(file=out, width=width, force_terminal=True, color_system="standard", highlight=False), answer
    )
    return out.getvalue().replace("\x1b", "ESC")


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_shown(name: str) -> None:
    assert_agreed("\n".join(f"{width}:\n{printed(ANSWERS[name], width)}" for width in (14, 47, 100)))


def test_the_fields_that_fit() -> None:
    names = ["id", "title", "empty", "tags", "text", "n"]
    fitting = [show._fitting(names, ROWS, width) for width in range(130)]
    lines = [f"{width}: {', '.join(shown)}" for width, shown in enumerate(fitting) if shown != fitting[width - 1]]
    assert_agreed("\n".join(lines))
    assert show._fitting(["empty"], ROWS, 100) == ["empty"]


def test_a_console_without_a_terminal_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert (show.console().width, show.console().stderr) == (120, False)
    assert show.console(stderr=True).stderr
    monkeypatch.setenv("COLUMNS", "77")
    assert show.console().width == 77


@pytest.mark.parametrize("number", [1, 11, 12, 13, 14])
def test_the_first_requests_are_shown(number: int) -> None:
    payer = Payer(estimate(Clinic), price_list("us-east-1"))
    pattern = payer.estimate.patterns[0]
    requests = tuple(Request("Query", (Line("read", "", at + 0.5, f"why {at}"),)) for at in range(number))
    out = StringIO()
    cost_tables.show_pattern(Console(file=out, width=100), payer, replace(pattern, requests=requests))
    lines = out.getvalue().splitlines()
    assert sum("why" in line for line in lines) == min(number, 12)
    said = [line for line in lines if "--json" in line]
    assert said == ([] if number <= 12 else [f"and {number - 12} request{'s' * (number > 13)} more (--json shows all)"])


@pytest.mark.parametrize("number", [3, 4, 5, 9])
def test_the_first_requests_of_an_explanation_are_shown(number: int) -> None:
    request = type("Asked", (), {"operation": "Query", "parameters": {"a": 1}})()
    explanation: Any = type("Explained", (), {"requests": [request] * number})()
    out = StringIO()
    explain._show_requests(Console(file=out, width=100), explanation)
    text = out.getvalue()
    assert text.count("Query") == min(number, 4)
    assert ("more (--json shows all)" in text) is (number > 4)
    assert number <= 4 or f"and {number - 4} more" in text


def test_what_is_not_shown_is_told_dimly() -> None:
    payer = Payer(estimate(Clinic), price_list("us-east-1"))
    pattern = replace(payer.estimate.patterns[0], requests=(Request("Query", (Line("read", "", 1, "why"),)),) * 14)
    request = type("Asked", (), {"operation": "Query", "parameters": {"a": [1, "b", None]}})()
    explanation: Any = type("Explained", (), {"requests": [request] * 5})()
    out = StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system="standard", highlight=False)
    cost_tables.show_pattern(console, payer, pattern)
    cost_tables.show_pattern(console, payer, replace(pattern, failure="[it] fails"))
    explain._show_requests(console, explanation)
    assert_agreed(out.getvalue().replace("\x1b", "ESC"))


def test_a_pattern_is_named_by_its_id_too() -> None:
    ids = {each["id"]: each["pattern"] for each in json.loads(run("explain", LIBRARY, "--json").stdout)}
    for id_, name in list(ids.items())[:2]:
        by_id, by_name = (run("cost", LIBRARY, "--explain", each) for each in (id_, name))
        assert (by_id.exit_code, by_id.stdout) == (0, by_name.stdout), by_id.output
    unknown = run("cost", LIBRARY, "--explain", "X99")
    assert (unknown.exit_code, "X99" in unknown.stderr, unknown.stdout) == (2, True, "")


def test_what_is_wrong_is_told_as_json(folder: Path) -> None:
    del folder
    lines: list[str] = []
    for command in (
        ("explain", "nowhere:Design"),
        ("cost", LIBRARY, "--region", "nowhere"),
        ("call", LIBRARY, "books", "x"),
    ):
        result = run(*command, "--json")
        lines.append(f"{result.exit_code} {result.stdout} {result.stderr}")
    assert_agreed("\n".join(lines))
