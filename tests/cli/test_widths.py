"""What commands print on terminals of other widths, as it was agreed upon: what is folded, cut, or left out; and which
of it goes where: answers to standard output, what is said beside them to standard error.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from keyplan.cli import import_data, listening
from keyplan.cli.group import cli
from keyplan.errors import Fault
from keyplan.systems import LoadReport
from tests.agreed import assert_agreed
from tests.cli.support import LIBRARY, run
from tests.cli.test_texts import CLINIC, files

__all__ = ["files"]

TINY = "24"
NARROW, NO_ROOM, ROOM, NO_ROOM_WITH_RATES, ROOM_WITH_RATES = "46", "99", "100", "111", "112"
WIDTHS = [
    (("explain", CLINIC, "leave"), TINY),
    (("explain", LIBRARY, "on_shelf"), TINY),
    (("explain", CLINIC), TINY),
    (("cost", CLINIC, "--traffic", "clinic.toml"), TINY),
    (("cost", CLINIC, "--explain", "leave"), TINY),
    (("check", CLINIC, "--traffic", "clinic.toml"), TINY),
    (("diff", "shop.py:Shop", "new_shop.py:Shop"), TINY),
    (("explain", CLINIC), NARROW),
    (("explain", CLINIC, "visits"), NARROW),
    (("explain", CLINIC, "leave"), NARROW),
    (("explain", LIBRARY, "on_shelf"), NARROW),
    (("cost", CLINIC), NARROW),
    (("cost", CLINIC), NO_ROOM),
    (("cost", CLINIC), ROOM),
    (("cost", CLINIC, "--traffic", "clinic.toml"), NARROW),
    (("cost", CLINIC, "--traffic", "clinic.toml"), NO_ROOM_WITH_RATES),
    (("cost", CLINIC, "--traffic", "clinic.toml", "--region", "eu-west-1"), ROOM_WITH_RATES),
    (("cost", CLINIC, "--traffic", "clinic.toml", "--explain", "leave"), NARROW),
    (("cost", CLINIC, "--explain", "dearest"), NARROW),
    (("cost", "before.py:Notes", "after.py:Notes", "--traffic", "notes.toml"), NARROW),
    (("check", CLINIC, "--baseline", "baseline.json", "--traffic", "clinic.toml", "--all"), NARROW),
    (("diff", "shop.py:Shop", "new_shop.py:Shop"), NARROW),
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("command", "columns"), WIDTHS, ids=[f"{' '.join(each)} {width}" for each, width in WIDTHS])
def test_what_stands_on_a_terminal_of_this_width(command: tuple[str, ...], columns: str) -> None:
    result = run(*command, env={"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": columns})
    assert result.stderr == ""
    assert_agreed(result.stdout.replace("\x1b", "ESC"))


def test_an_error_is_marked_in_colour() -> None:
    """Where standard error is a terminal."""
    told = [CliRunner().invoke(cli, ["explain", "nowhere.py"], color=color).stderr for color in (True, False)]
    assert told[0].replace("\x1b[31m\x1b[1mError:\x1b[0m", "Error:") == told[1]
    assert told[0] != told[1]


FAULTS = [Fault("posts/a.md:3", "the title is empty", "give it one"), Fault("posts/b.md", "it isn't there")]
REPORTS = {
    "nothing": LoadReport(),
    "all": LoadReport(1200, counts=Counter({"pictures kept": 1, "posts dated by git": 2500})),
    "one fault": LoadReport(3, FAULTS[:1]),
    "more": LoadReport(3, FAULTS, 1234, Counter({"pictures kept": 7})),
}


@pytest.mark.parametrize("db", [None, "blog.db"])
@pytest.mark.parametrize("name", REPORTS)
def test_an_import_is_told(name: str, db: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    for as_json in (False, True):
        import_data._tell(REPORTS[name], db, as_json=as_json)
        printed = capsys.readouterr()
        said += [f"stdout: {printed.out}", f"stderr: {printed.err}"]
    assert_agreed("\n".join(said))


@pytest.mark.parametrize("findings", [[], ["page 3 is torn"], ["page 3 is torn", "entry \x07 lacks its item"]])
def test_a_stores_file_is_judged(findings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def check_file(path: Path) -> list[str]:
        asked.append(path)
        return findings

    monkeypatch.setattr("keyplan.engine.check_file", check_file)
    result = run("dynamodb", "check", "store.db")
    assert_agreed(f"{result.exit_code}\nstdout: {result.stdout}\nstderr: {result.stderr}")
    assert asked == [Path("store.db")]


BESIDE = [
    ("check", CLINIC, "--write-baseline", "new.json"),
    ("export", CLINIC, "--to", "terraform"),
    ("call", CLINIC, "visits"),
    ("call", CLINIC, "nothing", "a=1"),
    ("explain", CLINIC, "nothing"),
    ("explain", CLINIC, "--markdown", "--json"),
    ("explain", CLINIC, "visits", "--markdown"),
    ("sample", CLINIC),
    ("create", CLINIC, "--db", "clinic.db"),
    ("drift", CLINIC, "--db", "nowhere.db"),
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", BESIDE, ids=" ".join)
def test_what_is_said_beside_the_answer_goes_to_standard_error(command: tuple[str, ...]) -> None:
    result = run(*command)
    assert_agreed(f"{result.exit_code}\nstdout: {result.stdout}\nstderr: {result.stderr}")


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
