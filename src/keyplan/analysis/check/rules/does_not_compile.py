"""The design doesn't compile.

What can't work at all is refused when the design's class is made, with every fault at once: a question that no key
answers without a scan, a strongly consistent one that only a global index answers, two entities whose keys can be
the same, keys that share an attribute and disagree on it, an unpadded number in a sort key, a collection that one
Query can't reach. Checking reports these faults as findings, in the same forms as the others; they can't be silenced.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.errors import DesignError

__all__ = ["RULE", "remarks"]


def remarks(error: DesignError) -> Iterator[Remark]:
    """The faults of a design that was refused."""
    if not error.errors:
        yield Remark(error.place or "", error.message, error.hint or "fix it")
    for fault in error.errors:
        yield Remark(fault.place, fault.message, fault.hint or "fix it")


def _find(subject: Subject) -> Iterator[Remark]:
    del subject  # it has been compiled, so there is nothing to find
    return iter(())


RULE = Rule("KP100", Severity.ERROR, _find, __name__, __doc__)
