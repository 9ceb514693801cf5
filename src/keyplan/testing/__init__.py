"""Testing designs: ``verify(Design)`` compares every answer of a design with a brute-force filter over all it stores.

One line in a test does it::

    from keyplan.testing import verify

    def test_cms() -> None:
        verify(Cms)

It needs hypothesis: ``pip install keyplan[testing]``. Nothing here is used by a design at work.
"""

from keyplan.testing.report import PatternReport, Report
from keyplan.testing.verifying import verify

__all__ = ["PatternReport", "Report", "verify"]
