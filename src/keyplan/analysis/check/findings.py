"""Findings, their severity, the report that contains them, and the baseline of known findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

from keyplan.analysis.write_analysis.sources import Source
from keyplan.errors import RequestError

__all__ = ["Finding", "Remark", "Report", "Severity", "Source", "compared", "read_baseline", "write_baseline"]


class Severity(IntEnum):
    """Severity of a finding: advice (INFO), probable problem (WARNING), or rejected or throttled requests (ERROR)."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule reports about one place of a design; the check creates a finding from it.

    ``place``: a path in the design (``Blog.latest_posts``, ``Post.by_status``, ``Blog.table``). ``arithmetic``: the
    calculation of each number in the message. ``severity``: by default, the severity of the rule. ``line``: the
    line in the source of a write, if known.
    """

    place: str
    message: str
    hint: str
    arithmetic: tuple[str, ...] = ()
    severity: Severity | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding with its reason in ``ignore=`` (``silenced``). ``known``: whether the baseline contains the finding."""

    code: str
    rule: str
    severity: Severity
    place: str
    message: str
    hint: str
    arithmetic: tuple[str, ...] = ()
    source: Source | None = None
    silenced: str | None = None
    known: bool = False

    @property
    def counts(self) -> bool:
        return self.silenced is None and not self.known

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.place}: {self.message}"


@dataclass(frozen=True)
class Report:
    """All findings of a design, the most severe first. ``traffic``: whether the rate of any pattern is known."""

    design: str
    findings: tuple[Finding, ...]
    rules: int
    traffic: bool
    patterns: int = 0
    unmet: tuple[str, ...] = field(default=())
    """The code and place of each finding in the baseline that no longer occurs."""

    def fails(self, at_least: Severity | None) -> bool:
        """Whether a finding of ``counted()`` has at least this severity; False for None."""
        return at_least is not None and any(finding.severity >= at_least for finding in self.counted())

    def counted(self) -> Iterable[Finding]:
        """The findings that are neither silenced nor in the baseline."""
        return (finding for finding in self.findings if finding.counts)


VERSION = 1
Known = Counter[tuple[str, str, str]]


def write_baseline(path: Path, reports: Iterable[Report]) -> int:
    """Write the findings that aren't ignored, and return their number. Raises RequestError if writing fails."""
    lines = sorted(
        json.dumps({"design": report.design, "code": finding.code, "place": finding.place}, ensure_ascii=False)
        for report in reports
        for finding in report.findings
        if finding.silenced is None
    )
    listed = ",".join(f"\n    {line}" for line in lines)
    text = f'{{\n  "keyplan_baseline": {VERSION},\n  "findings": [{listed}{chr(10) + "  " if lines else ""}]\n}}\n'
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError(f"the file can't be written: {error.strerror}", place=str(path)) from None
    return len(lines)


def read_baseline(path: Path) -> Known:
    """Return the findings in a baseline file. Raises RequestError if the file can't be read or isn't a baseline."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"the file can't be read: {error.strerror}", place=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the file isn't JSON: {error}", place=str(path), hint=_HINT) from None
    entries = data.get("findings") if isinstance(data, dict) and data.get("keyplan_baseline") == VERSION else None
    members = ("design", "code", "place")
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in members) for entry in entries
    ):
        raise RequestError("the file isn't a keyplan check baseline", place=str(path), hint=_HINT)
    return Counter((entry["design"], entry["code"], entry["place"]) for entry in entries)


_HINT = "write a new baseline with --write-baseline"


def compared(report: Report, known: Known) -> Report:
    """Return the report with baseline findings marked as known, and with baseline findings that no longer occur."""
    left = Counter({key: count for key, count in known.items() if key[0] == report.design})
    findings: list[Finding] = []
    for finding in report.findings:
        key = (report.design, finding.code, finding.place)
        known_before = finding.silenced is None and left[key] > 0
        left[key] -= known_before
        findings.append(replace(finding, known=known_before))
    unmet = tuple(f"{code} {place}" for (_, code, place), count in sorted(left.items()) if count > 0)
    return replace(report, findings=tuple(findings), unmet=unmet)
