"""How answers stand on a terminal, of each kind and each width, as it was agreed upon; and long lists, of which the
first are shown.
"""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from keyplan.analysis.cost.bills import Payer
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.cost.pricelist import price_list
from keyplan.analysis.cost.unit_counts import Line, Request
from keyplan.cli import cost_tables, show
from tests.cli.clinic import Clinic
from tests.cli.support import LIBRARY, run


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


def test_a_pattern_is_named_by_its_id_too() -> None:
    ids = {each["id"]: each["pattern"] for each in json.loads(run("explain", LIBRARY, "--json").stdout)}
    for id_, name in list(ids.items())[:2]:
        by_id, by_name = (run("cost", LIBRARY, "--explain", each) for each in (id_, name))
        assert (by_id.exit_code, by_id.stdout) == (0, by_name.stdout), by_id.output
    unknown = run("cost", LIBRARY, "--explain", "X99")
    assert (unknown.exit_code, "X99" in unknown.stderr, unknown.stdout) == (2, True, "")
