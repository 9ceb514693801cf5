"""What commands print on terminals of other widths, as it was agreed upon: what is folded, cut, or left out; and which
of it goes where: answers to standard output, what is said beside them to standard error.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from keyplan.cli import listening
from keyplan.cli.group import cli
from tests.cli.command_files import files
from tests.cli.support import run

__all__ = ["files"]


def test_an_error_is_marked_in_colour() -> None:
    """Where standard error is a terminal."""
    told = [CliRunner().invoke(cli, ["explain", "nowhere.py"], color=color).stderr for color in (True, False)]
    assert told[0].replace("\x1b[31m\x1b[1mError:\x1b[0m", "Error:") == told[1]
    assert told[0] != told[1]


@pytest.mark.parametrize("findings", [[], ["page 3 is torn"], ["page 3 is torn", "entry \x07 lacks its item"]])
def test_a_stores_file_is_judged(findings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def check_file(path: Path) -> list[str]:
        asked.append(path)
        return findings

    monkeypatch.setattr("keyplan.store.check_file", check_file)
    run("dynamodb", "check", "store.db")
    assert asked == [Path("store.db")]


@pytest.mark.parametrize("items", [[], [{"pk": {"S": "a"}}]])
def test_a_sample_is_not_written_over_items(items: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[object] = []
    sampled: list[int] = []

    def call(*request: object) -> dict[str, object]:
        asked.append(request)
        return {"Items": items}

    transport = SimpleNamespace(call=call)
    design: Any = SimpleNamespace(store=SimpleNamespace(transport=transport, table_name="t", url="x.db"))
    system = SimpleNamespace(sample=lambda _design, count, _report: sampled.append(count))
    found: Any = SimpleNamespace(system_with=lambda _what: system)
    listening.write_sample(found, design, 7)
    assert asked == [("Scan", {"TableName": "t", "Limit": 1})]
    assert sampled == ([] if items else [7])
    assert capsys.readouterr().out == ""
    listening.write_sample(found, design, 7)
    assert ("x.db holds items already; no sample is written." in capsys.readouterr().err) is bool(items)
