"""What a check finds: findings, their severity, and the report they stand in.

How they are shown to machines is in ``design_page.py``, and to people in the command line.
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
    """What a rule says of one place of a design; the check makes a finding of it.

    ``place`` is a path in the design (``Blog.latest_posts``, ``Post.by_status``, ``Blog.table``). ``arithmetic`` shows
    how each number of the message comes out. ``severity`` is the rule's own unless it is given;
    ``line`` is one of the place's own code, where that says more than the place.
    """

    place: str
    message: str
    hint: str
    arithmetic: tuple[str, ...] = ()
    severity: Severity | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: which rule, how bad, where, what, why by numbers, and what to do.

    ``silenced`` holds the reason that the design gives for leaving it so; ``known`` says that the baseline has it.
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
    """All findings of one design, the worst first. ``traffic`` says whether rates were known."""

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
