"""Testing designs: ``verify(Design)`` compares every answer of a design with a brute-force filter over all it stores.

One line in a test does it::

    from keyplan.testing import verify

    def test_cms() -> None:
        verify(Cms)

``assert_cost(cms.article, "1", read_units=0.5)`` is a test of what a pattern costs.

It needs hypothesis: ``pip install keyplan[testing]``. Nothing here is used by a design at work.
"""

from keyplan.testing.costs import assert_cost
from keyplan.testing.report import PatternReport, Report
from keyplan.testing.verifying import verify

__all__ = ["PatternReport", "Report", "assert_cost", "verify"]
