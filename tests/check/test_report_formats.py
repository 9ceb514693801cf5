"""Reports as JSON, SARIF 2.1.0 and GitHub annotations, and the baseline file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.analysis.check.findings import Finding, Report, Severity, Source, compared, read_baseline, write_baseline
from keyplan.analysis.check.report_formats import as_github, as_json, as_sarif, place_in_source
from keyplan.analysis.check.rules import RULES
from keyplan.errors import RequestError

HERE = Path(__file__)


def finding(code: str = "KP201", place: str = "Message.primary", **more: Any) -> Finding:
    values: dict[str, Any] = {
        "rule": "fixed-partition",
        "severity": Severity.WARNING,
        "message": "100% of it, in one: partition",
        "hint": "spread it,\nsomehow",
        "arithmetic": ("1 × 2 = 2",),
        "source": Source(str(HERE), 7),
    }
    return Finding(code=code, place=place, **{**values, **more})


def report(*findings: Finding, design: str = "Inbox") -> Report:
    return Report(design, findings, rules=len(RULES), traffic=False, patterns=1)


SHOWN = report(
    finding(),
    finding("KP303", "Inbox.messages", source=None, severity=Severity.ERROR),
    finding("KP405", "Inbox.table", silenced="names are the document's", severity=Severity.INFO),
)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE.parent.parent)


@pytest.mark.usefixtures("here")
def test_the_json_report_has_counts_and_the_file_and_line_of_findings() -> None:
    (value,) = as_json([SHOWN])["reports"]
    assert value["counts"] == {"error": 1, "warning": 1, "info": 0}
    assert value["silenced"] == 1
    first, second, _ = value["findings"]
    assert (first["file"], first["line"]) == ("check/test_report_formats.py", 7)
    assert (second["file"], second["line"]) == (None, None)
    assert json.loads(json.dumps(value)) == value


# members that the SARIF schema requires, and their types


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for element in value.values():
            yield from _texts(element)
    elif isinstance(value, list):
        for element in value:
            yield from _texts(element)
    elif isinstance(value, str):
        yield value


@pytest.mark.usefixtures("here")
def test_the_sarif_report_has_the_members_that_its_schema_requires() -> None:
    log = as_sarif([SHOWN])
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "keyplan check"
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", driver["semanticVersion"])
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids) == len(RULES)
    for rule in driver["rules"]:
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
        assert all(rule[name]["text"] for name in ("shortDescription", "fullDescription", "help"))
    for result in run["results"]:
        assert set(result) <= {
            "ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints", "baselineState",
            "suppressions",
        }  # fmt: skip
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        assert result["baselineState"] in {"new", "unchanged"}
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
        for location in result["locations"]:
            for element in location["logicalLocations"]:
                assert element["fullyQualifiedName"]
    assert all("\0" not in text for text in _texts(log))


@pytest.mark.usefixtures("here")
def test_the_sarif_report_has_source_locations_and_suppressions() -> None:
    first, second, third = as_sarif([SHOWN])["runs"][0]["results"]
    physical = first["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "check/test_report_formats.py", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 7}
    assert "physicalLocation" not in second["locations"][0]
    assert third["suppressions"] == [{"kind": "inSource", "justification": "names are the document's"}]


def test_files_outside_the_current_folder_have_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (result,) = as_sarif([report(finding())])["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": HERE.as_uri()}
    assert place_in_source(str(HERE)) == HERE.as_posix()


def test_reported_paths_are_relative_to_the_repository_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub requires relative paths, even if a workflow step runs in a subfolder. URIs contain no spaces."""
    (tmp_path / "back end").mkdir()
    monkeypatch.chdir(tmp_path / "back end")
    found = report(finding(source=Source(str(tmp_path / "back end" / "design.py"), 3)))
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert "file=design.py,line=3" in as_github([found])
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert "file=back end/design.py,line=3" in as_github([found])
    (result,) = as_sarif([found])["runs"][0]["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "back%20end/design.py", "uriBaseId": "%SRCROOT%"}
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert "file=design.py,line=3" in as_github([found])


def test_sarif_fingerprints_do_not_depend_on_the_message() -> None:
    def identity(element: Finding) -> Any:
        return as_sarif([report(element)])["runs"][0]["results"][0]["partialFingerprints"]

    assert identity(finding()) == identity(finding(message="other", source=None))
    assert identity(finding()) != identity(finding(place="Other.primary"))


@pytest.mark.usefixtures("here")
def test_github_annotations_are_escaped_and_omit_ignored_findings() -> None:
    first, second = as_github([SHOWN]).splitlines()
    assert first == (
        "::warning file=check/test_report_formats.py,line=7,title=KP201 fixed-partition::Message.primary: 100%25 of it"
        ", in one: partition%0A1 × 2 = 2%0A→ spread it,%0Asomehow"
    )
    assert second.startswith("::error title=KP303 fixed-partition::")


# The baseline


def test_only_findings_that_are_not_in_the_baseline_are_new(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    assert write_baseline(path, [report(finding(), finding(), finding("KP405", "x", silenced="so"))]) == 2
    now = report(finding(message="told otherwise"), finding(), finding(), finding("KP301", "Inbox.all"))
    result = compared(now, read_baseline(path))
    assert [element.known for element in result.findings] == [True, True, False, False]
    assert result.unmet == ()
    assert result.fails(Severity.WARNING)


def test_findings_in_the_baseline_that_no_longer_occur_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, [report(finding()), report(finding(), design="Other")])
    result = compared(report(), read_baseline(path))
    assert result.unmet == ("KP201 Message.primary",)
    assert not result.fails(Severity.INFO)


def test_a_baseline_is_sorted_json_with_a_line_per_finding(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, [report(finding("KP303", "b"), finding("KP201", "ä"))])
    text = path.read_text(encoding="utf-8")
    assert [line.strip().rstrip(",") for line in text.splitlines() if "code" in line] == [
        '{"design": "Inbox", "code": "KP201", "place": "ä"}',
        '{"design": "Inbox", "code": "KP303", "place": "b"}',
    ]
    write_baseline(path, [])
    assert json.loads(path.read_text()) == {"keyplan_baseline": 1, "findings": []}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"keyplan_baseline": 2, "findings": []}', '{"keyplan_baseline": 1}',
             '{"keyplan_baseline": 1, "findings": [{"design": "x", "code": 3, "place": "y"}]}']
)  # fmt: skip
def test_invalid_baselines_are_reported(text: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(RequestError, match=r"baseline|JSON"):
        read_baseline(path)


def test_unreadable_and_unwritable_baseline_files_are_reported(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="can't be read"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(RequestError, match="can't be written"):
        write_baseline(tmp_path / "none" / "x.json", [])
