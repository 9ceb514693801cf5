"""Tests of ``keyplan check``: output, exit statuses and files. Findings are tested in ``tests/check``."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from keyplan.cli.check import command
from tests.cli.support import json_of, run
from tests.repository.examples import blocks_of
from tests.repository.files import ROOT

INBOX = """
from datetime import datetime

from keyplan import Cursor, Design, Entity, Key, Page, Table, read


class Message(Entity):
    message_id: str
    at: datetime

    primary = Key("MESSAGES", "{at}#{message_id}")


class Inbox(Design):
    table = Table("inbox")

    @read("M1", newest_first=True)
    def messages(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Message]: ...
"""


@pytest.fixture
def inbox(folder: Path) -> Path:
    path = folder / "inbox.py"
    path.write_text(INBOX)
    return path


@pytest.mark.usefixtures("inbox")
def test_a_finding_is_printed_with_its_place_calculation_and_hint() -> None:
    result = run("check", "inbox.py")
    assert result.exit_code == 1
    flat = " ".join(result.output.split())
    assert "WARNING KP201 fixed-partition Message.primary inbox.py:11" in flat
    assert "1 partition × 1,000 write units/s and 3,000 read units/s" in flat
    assert "→ add a field with many values to the partition key" in flat
    assert "1 warning." in flat
    lines = result.output.splitlines()
    assert any(line.startswith("    1 partition × ") for line in lines)
    assert any(line.startswith("  → add a field ") for line in lines)
    assert re.match(r"  \S", lines[next(at for at, line in enumerate(lines) if "KP201" in line) + 1])
    assert "without --traffic" in flat


def test_lines_of_findings_have_no_trailing_spaces(inbox: Path) -> None:
    """Neither lines of ignored findings nor lines of findings in a baseline have trailing spaces."""
    inbox.write_text(INBOX.replace("(Design)", '(Design, ignore={"KP201 Message.primary": "some twenty a day"})'))
    assert run("check", "inbox.py", "--write-baseline", "known.json").exit_code == 0
    output = run("check", "inbox.py", "--all", "--baseline", "known.json").output
    assert "ignored: some twenty a day" in output
    assert [line for line in output.splitlines() if line != line.rstrip()] == []


@pytest.mark.usefixtures("inbox")
@pytest.mark.parametrize(("least", "status"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)])
def test_the_exit_status_follows_the_highest_severity(least: str, status: int) -> None:
    assert run("check", "inbox.py", "--fail-on", least).exit_code == status


def test_the_all_option_shows_ignored_findings_with_their_reasons(inbox: Path) -> None:
    inbox.write_text(INBOX.replace("(Design)", '(Design, ignore={"KP201 Message.primary": "some twenty a day"})'))
    result = run("check", "inbox.py")
    assert (result.exit_code, "No findings (1 ignored; --all shows them)." in result.output) == (0, True)
    assert "ignored: some twenty a day" in run("check", "inbox.py", "--all").output


@pytest.mark.usefixtures("inbox")
def test_findings_are_printed_as_json_sarif_or_github_annotations() -> None:
    data = json.loads(run("check", "inbox.py", "--json").stdout)
    (report,) = data["reports"]
    assert (report["design"], report["findings"][0]["code"], report["findings"][0]["line"]) == ("Inbox", "KP201", 11)
    assert json.loads(run("check", "inbox.py", "--format", "json").stdout) == data
    sarif = json.loads(run("check", "inbox.py", "--format", "sarif").stdout)
    assert sarif["runs"][0]["results"][0]["ruleId"] == "KP201"
    assert run("check", "inbox.py", "--format", "github").stdout.startswith(
        "::warning file=inbox.py,line=11,title=KP201"
    )


@pytest.mark.usefixtures("inbox")
def test_findings_recorded_in_a_baseline_are_not_reported() -> None:
    written = run("check", "inbox.py", "--write-baseline", "known.json")
    assert (written.exit_code, written.stdout, written.stderr) == (0, "", "Wrote 1 finding to known.json.\n")
    result = run("check", "inbox.py", "--baseline", "known.json")
    assert (result.exit_code, "1 in the baseline" in result.output) == (0, True)
    Path("inbox.py").write_text(
        INBOX.replace("at: datetime", "team: str\n    at: datetime")
        .replace('"MESSAGES"', '"TEAM#{team}"')
        .replace("self,", "self, team: str,")
    )
    result = run("check", "inbox.py", "--baseline", "known.json")
    assert (result.exit_code, "Baseline findings that no longer occur: 1." in result.output) == (0, True)
    assert run("check", "inbox.py", "--baseline", "none.json").exit_code == 2


def test_every_design_of_a_file_is_checked(inbox: Path) -> None:
    inbox.write_text(INBOX + INBOX[INBOX.index("class Inbox") :].replace("class Inbox", "class Second"))

    def names(*given: str) -> list[str]:
        return [report["design"] for report in json.loads(run("check", *given, "--json").stdout)["reports"]]

    assert names("inbox.py") == ["Inbox", "Second"]
    assert names("inbox.py:Inbox") == ["Inbox"]
    assert names("inbox.py:Second", "cms") == ["Second", "Cms"]


def test_an_invalid_design_is_reported_as_a_finding(inbox: Path) -> None:
    inbox.write_text(INBOX.replace("limit: int = 20, ", "sender: str, limit: int = 20, "))
    result = run("check", "inbox.py")
    assert result.exit_code == 1
    assert "ERROR" in result.output
    assert "KP100 does-not-compile  Inbox.messages  inbox.py:18" in result.output
    assert "Message has no field 'sender'" in result.output
    assert result.output.startswith("Inbox  the design is invalid\n")
    annotation = run("check", "inbox.py", "--format", "github").stdout
    assert annotation.startswith("::error file=inbox.py,line=18,title=KP100 does-not-compile::")
    inbox.write_text(INBOX.partition("    @read")[0])
    assert re.match(r"Inbox  0 patterns, \d+ rules\n", run("check", "inbox.py").output)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = (", "SyntaxError"),
        ("import no_such_thing", "No module named 'no_such_thing'"),
        ("1 / 0", "bad.py:1"),
        ("", "contains no design"),
    ],
)  # fmt: skip
def test_a_design_file_that_cannot_be_imported_is_an_error(folder: Path, text: str, told: str) -> None:
    (folder / "bad.py").write_text(text)
    result = run("check", "bad.py")
    assert (result.exit_code, told in result.stderr) == (2, True)
    assert "Traceback" not in result.output


def test_a_traffic_file_enables_the_rules_about_load(inbox: Path) -> None:
    Path("traffic.toml").write_text("[patterns.M1]\nper_second = 100\npeak_per_second = 90_000\nitems = 500\n")
    result: Any = json.loads(run("check", str(inbox), "--traffic", "traffic.toml", "--json").stdout)["reports"][0]
    assert "KP501" in {finding["code"] for finding in result["findings"]}
    assert result["traffic"] is True


@pytest.mark.usefixtures("inbox")
def test_all_errors_of_a_traffic_file_are_reported() -> None:
    Path("traffic.toml").write_text('[patterns.M2]\nper_second = -1\n[table]\nregion = "x"\n')
    result = run("check", "inbox.py", "--traffic", "traffic.toml")
    assert result.exit_code == 2
    assert "patterns.M2: the design has no such pattern (valid: M1, messages)" in result.stderr
    assert "patterns.M2.per_second" in result.stderr
    assert "table.region" in result.stderr
    assert (
        json.loads(run("check", "inbox.py", "--traffic", "traffic.toml", "--json").stdout)["error"]["code"]
        == "TrafficError"
    )


def test_one_traffic_file_applies_to_several_designs(inbox: Path) -> None:
    second = INBOX[INBOX.index("class Inbox") :].replace("class Inbox", "class Second")
    inbox.write_text(INBOX + second.replace("M1", "S1").replace("def messages", "def latest"))
    Path("traffic.toml").write_text("[patterns]\nM1 = { per_second = 3 }\nlatest = { per_second = 4 }\n")
    reports = json.loads(run("check", "inbox.py", "--traffic", "traffic.toml", "--json").stdout)["reports"]
    assert [(report["design"], report["traffic"]) for report in reports] == [("Inbox", True), ("Second", True)]
    assert "no such pattern" in run("check", "inbox.py:Inbox", "--traffic", "traffic.toml").stderr
    Path("traffic.toml").write_text("[patterns]\nM3 = { per_second = 3 }\n")
    assert run("check", "inbox.py", "--traffic", "traffic.toml").stderr.count("no such pattern") == 1


def test_each_design_file_imports_modules_from_its_own_folder(folder: Path) -> None:
    """A pre-commit hook, for example, passes all design files of a repository to one command."""
    for name, template in (("one", "MESSAGES"), ("two", "MESSAGE#{message_id}")):
        (folder / name).mkdir()
        entity, design = INBOX.replace("MESSAGES", template).split("class Inbox")
        (folder / name / "entities.py").write_text(entity)
        imports = "from entities import Message\nfrom keyplan import Cursor, Design, Page, Table, read\n"
        design = design.replace("limit", "message_id: str, limit") if name == "two" else design
        (folder / name / "design.py").write_text(f"{imports}\n\nclass Inbox{design}")
    reports = json.loads(run("check", "one/design.py", "two/design.py", "--json").stdout)["reports"]
    assert [[(finding["code"], finding["file"]) for finding in each["findings"]] for each in reports] == [
        [("KP201", "one/entities.py")],
        [],
    ]
    swapped = json.loads(run("check", "two/design.py", "one/design.py", "--json").stdout)["reports"]
    assert [len(each["findings"]) for each in swapped] == [0, 1]


@pytest.mark.usefixtures("inbox")
def test_all_unknown_designs_and_missing_files_are_reported_together() -> None:
    result = run("check", "nowhere.py", "zzz", "inbox.py", "--traffic", "none.toml")
    assert result.exit_code == 2
    assert all(literal in result.stderr for literal in ("3 errors", "nowhere.py", "'zzz'", "none.toml"))


def test_valid_designs_are_checked_even_if_another_design_is_invalid(inbox: Path) -> None:
    Path("broken.py").write_text(INBOX.replace("limit: int = 20, ", "sender: str, limit: int = 20, "))
    Path("traffic.toml").write_text("[patterns.of_the_broken_one]\nper_second = 1\n")
    result = run("check", str(inbox), "broken.py", "--traffic", "traffic.toml", "--json")
    assert result.exit_code == 1
    codes = [[finding["code"] for finding in report["findings"]] for report in json.loads(result.stdout)["reports"]]
    assert codes == [["KP201"], ["KP100"]]


def test_a_system_is_checked_by_its_name() -> None:
    assert json_of("check", "cms")["reports"][0]["patterns"] > 10


def test_control_characters_in_findings_are_escaped(inbox: Path) -> None:
    inbox.write_text(INBOX.replace('"MESSAGES"', '"MESS\\x1b[31mAGES"'))
    assert "\x1b[31m" not in run("check", "inbox.py").output


def test_check_imports_no_store_and_no_network_module() -> None:
    """The command must finish within a second."""
    code = "import sys; from keyplan.cli.group import cli; cli(['check', 'cms'], standalone_mode=False)"
    code += "; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unwanted = {"apsw", "keyplan.store", "keyplan.web.application", "starlette", "hypothesis", "botocore", "ssl"}
    assert unwanted.isdisjoint(done.stdout.split())


def test_the_documented_pre_commit_hook_and_github_workflows_run() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["language"]) == ("keyplan-check", "python")
    assert re.search(hook["files"], "src/shop/design.py")
    assert not re.search(hook["files"], "src/shop/redesign.py")
    page = ROOT / "docs" / "ci.md"
    workflows = [yaml.safe_load(block.text) for block in blocks_of(page) if block.language == "yaml"]
    steps = [step["run"] for step in workflows[0]["jobs"]["check"]["steps"] if "run" in step]
    steps += [step["run"].partition(" > ")[0] for step in workflows[1] if "run" in step]
    asked = [shlex.split(step)[1:] for step in [*steps, hook["entry"]] if step.startswith("keyplan ")]
    assert len(asked) == 3
    options = {name for param in command.params for name in param.opts}
    for words in asked:
        assert words[0] == "check"
        assert {word for word in words if word.startswith("--")} <= options
