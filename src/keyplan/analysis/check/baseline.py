"""A baseline: the findings that a design has when checking starts, so that only new ones fail.

A finding is identified by its design, code and place. The file is sorted JSON with one finding per line, for
readable diffs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from keyplan.analysis.check.findings import Finding, Report
from keyplan.errors import RequestError

__all__ = ["compared", "read_baseline", "write_baseline"]

VERSION = 1
Known = Counter[tuple[str, str, str]]


def write_baseline(path: Path, reports: Iterable[Report]) -> int:
    """Write the findings that aren't ignored. Returns their number. Raises RequestError if the file can't be
    written.
    """
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
        raise RequestError(f"{path} can't be written: {error.strerror}", place=str(path)) from None
    return len(lines)


def read_baseline(path: Path) -> Known:
    """The findings of a baseline. Raises RequestError for a file that isn't one."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error.strerror}", place=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise RequestError(f"it isn't JSON: {error}", place=str(path), hint=_HINT) from None
    entries = data.get("findings") if isinstance(data, dict) and data.get("keyplan_baseline") == VERSION else None
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise RequestError("it isn't a baseline of keyplan check", place=str(path), hint=_HINT)
    return Counter((entry["design"], entry["code"], entry["place"]) for entry in entries)


_HINT = "write a new one with --write-baseline"


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("design", "code", "place"))


def compared(report: Report, known: Known) -> Report:
    """The report with the findings of a baseline marked, and those of the baseline that are no more."""
    left = Counter({key: count for key, count in known.items() if key[0] == report.design})
    findings: list[Finding] = []
    for finding in report.findings:
        key = (report.design, finding.code, finding.place)
        if finding.silenced is None and left[key] > 0:
            left[key] -= 1
            findings.append(replace(finding, known=True))
        else:
            findings.append(finding)
    unmet = tuple(f"{code} {place}" for (_, code, place), count in sorted(left.items()) if count > 0)
    return replace(report, findings=tuple(findings), unmet=unmet)
