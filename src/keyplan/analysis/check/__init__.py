"""Rules that check a design, their findings, and reports of the findings.

``check(Blog)`` returns a report, without opening a store. Rules use the compiled design, the code of its writes, and
the expected traffic.
"""

from keyplan.analysis.check.checking import check
from keyplan.analysis.check.findings import Finding, Report, Severity

__all__ = ["Finding", "Report", "Severity", "check"]
