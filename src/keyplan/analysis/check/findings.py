"""Findings, their severity, and the report that contains them.

``report_formats.py`` has the formats for programs, the command line the one for people.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum

from keyplan.analysis.write_analysis.sources import Source

__all__ = ["Finding", "Remark", "Report", "Severity", "Source"]


class Severity(IntEnum):
    """How bad it is: INFO is advice, WARNING is likely wrong or costly, ERROR fails or throttles."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule reports about one place of a design; the check creates a finding from it.

    ``place``: a path in the design (``Blog.latest_posts``, ``Post.by_status``, ``Blog.table``). ``arithmetic``: the
    calculation of each number in the message. ``severity``: by default that of the rule. ``line``: a more precise
    line in the source.
    """

    place: str
    message: str
    hint: str
    arithmetic: tuple[str, ...] = ()
    severity: Severity | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: rule, severity, place, message, calculation and hint.

    ``silenced``: the reason in ``ignore=``. ``known``: whether it is in the baseline.
    """

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
        """Whether it is neither silenced nor in the baseline."""
        return self.silenced is None and not self.known

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.place}: {self.message}"


@dataclass(frozen=True)
class Report:
    """All findings of one design, the most severe first. ``traffic``: whether rates were known."""

    design: str
    findings: tuple[Finding, ...]
    rules: int
    traffic: bool
    patterns: int = 0
    unmet: tuple[str, ...] = field(default=())
    """Findings of the baseline that are no more: code and place."""

    def fails(self, at_least: Severity | None) -> bool:
        """Whether a finding that counts is at least so bad. None: nothing fails."""
        return at_least is not None and any(
            finding.counts and finding.severity >= at_least for finding in self.findings
        )

    def counted(self) -> Iterable[Finding]:
        """The findings that are neither silenced nor in the baseline."""
        return (finding for finding in self.findings if finding.counts)
