"""The design's checker: one rule a file, findings with codes that stay, reports for people and for machines.

``check(Blog)`` gives a report. It opens no store: it looks at the compiled design, at the code of its writes, and
at the traffic that is expected.
"""

from keyplan.analysis.check.checking import check
from keyplan.analysis.check.findings import Finding, Report, Severity

__all__ = ["Finding", "Report", "Severity", "check"]
