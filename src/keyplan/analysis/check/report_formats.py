"""Machine-readable reports in JSON and SARIF 2.1.0, and annotations of GitHub workflows.

In JSON, a path is relative to the current folder if the file is below this folder. In SARIF and annotations, a path is
relative to the checkout of a GitHub workflow.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from keyplan._version import __version__
from keyplan.analysis.check.findings import Finding, Report, Severity
from keyplan.analysis.check.rules import RULES

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def place_in_source(file: str) -> str:
    """Return the path with slashes, relative to the current folder if the file is below this folder."""
    return _relative(Path(file), Path.cwd())


def _in_checkout(file: str) -> str:
    """Return the path relative to the checkout of a GitHub workflow, even if the check runs in a subfolder."""
    checkout = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    return _relative(Path(file), checkout if Path(file).is_relative_to(checkout) else Path.cwd())


def _relative(path: Path, folder: Path) -> str:
    return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()


def as_json(reports: Sequence[Report]) -> dict[str, Any]:
    return {"reports": [_report_json(report) for report in reports]}


def _report_json(report: Report) -> dict[str, Any]:
    counted = list(report.counted())
    return {
        "design": report.design,
        "rules": report.rules,
        "patterns": report.patterns,
        "traffic": report.traffic,
        "counts": {str(severity): sum(finding.severity is severity for finding in counted) for severity in _LEVELS},
        "silenced": sum(finding.silenced is not None for finding in report.findings),
        "known": sum(finding.known for finding in report.findings),
        "no_longer_found": list(report.unmet),
        "findings": [_finding_json(finding) for finding in report.findings],
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "rule": finding.rule,
        "severity": str(finding.severity),
        "place": finding.place,
        "message": finding.message,
        "arithmetic": list(finding.arithmetic),
        "hint": finding.hint,
        "file": None if finding.source is None else place_in_source(finding.source.file),
        "line": None if finding.source is None else finding.source.line,
        "silenced": finding.silenced,
        "known": finding.known,
    }


# SARIF, as specified in "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", OASIS Standard


def as_sarif(reports: Sequence[Report]) -> dict[str, Any]:
    positions = {rule.code: position for position, rule in enumerate(RULES)}
    rules = [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": f"{rule.title}."},
            "fullDescription": {"text": rule.manual.partition("\n\n")[0]},
            "help": {"text": rule.manual, "markdown": rule.manual},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        }
        for rule in RULES
    ]
    results = [_result(report, finding, positions[finding.code]) for report in reports for finding in report.findings]
    driver = {"name": "keyplan check", "version": __version__, "semanticVersion": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(report: Report, finding: Finding, position: int) -> dict[str, Any]:
    text = f"{finding.place}: {finding.message}. {finding.hint[:1].upper()}{finding.hint[1:]}."
    location: dict[str, Any] = {
        "logicalLocations": [
            {"fullyQualifiedName": finding.place, "kind": "member" if "." in finding.place else "type"}
        ]
    }
    if finding.source is not None:
        path = _in_checkout(finding.source.file)
        relative = {"uri": quote(path), "uriBaseId": "%SRCROOT%"}
        location["physicalLocation"] = {
            "artifactLocation": {"uri": Path(path).as_uri()} if Path(path).is_absolute() else relative,
            "region": {"startLine": finding.source.line},
        }
    identity = hashlib.sha256(f"{report.design}\0{finding.code}\0{finding.place}".encode()).hexdigest()
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": position,
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join([text, *finding.arithmetic])},
        "locations": [location],
        "partialFingerprints": {"keyplan/v1": identity},
        "baselineState": "unchanged" if finding.known else "new",
    }
    if finding.silenced is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": finding.silenced}]
    return result


# Annotations, as specified in "Workflow commands for GitHub Actions" in GitHub's documentation


def as_github(reports: Iterable[Report]) -> str:
    """Return an annotation line for each finding that is neither ignored nor in the baseline."""
    return "\n".join(_annotation(finding) for report in reports for finding in report.counted())


def _annotation(finding: Finding) -> str:
    properties = {"title": f"{finding.code} {finding.rule}"}
    if finding.source is not None:
        properties = {"file": _in_checkout(finding.source.file), "line": str(finding.source.line), **properties}
    shown = ",".join(
        f"{name}={_data(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    text = "\n".join([f"{finding.place}: {finding.message}", *finding.arithmetic, f"→ {finding.hint}"])
    return f"::{_COMMANDS[finding.severity]} {shown}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
