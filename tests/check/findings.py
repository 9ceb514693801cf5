"""The findings of a check as a text to agree upon."""

from __future__ import annotations

from pathlib import Path

from keyplan.analysis.check.findings import Report

__all__ = ["texts_of"]


def texts_of(report: Report) -> str:
    """Each finding with its arithmetic, its hint, and where it stands."""
    lines: list[str] = []
    for finding in report.findings:
        source = finding.source
        lines += [
            str(finding),
            *(f"  {line}" for line in finding.arithmetic),
            f"  {finding.hint}",
            f"  silenced: {finding.silenced}, in {None if source is None else (Path(source.file).name, source.line)}",
        ]
    return "\n".join(lines)
