"""The checker of designs: rules, findings and reports.

``check(Blog)`` returns a report. It opens no store: rules use the compiled design, the code of its writes, and the
expected traffic.
"""

from keyplan.analysis.check.checking import check
from keyplan.analysis.check.findings import Finding, Report, Severity

__all__ = ["Finding", "Report", "Severity", "check"]
