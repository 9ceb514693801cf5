"""Design that doesn't compile.

A design is compiled when its class is defined. Compiling fails for an access pattern that needs a scan, a strongly
consistent read that would need a global index, entities whose keys can collide, keys that disagree on a shared
attribute, an unpadded number in a sort key, and a collection that one Query can't read. ``check`` reports every error
of the design as a finding.

Follow the hint of each finding.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.errors import DesignError


def remarks(error: DesignError) -> Remarks:
    if not error.errors:
        yield Remark(error.place or "", error.message, error.hint or "fix it")
    for fault in error.errors:
        yield Remark(fault.place, fault.message, fault.hint or "fix it")


def _find(subject: Subject) -> Remarks:
    del subject  # a compiled design has no such errors
    return iter(())


RULE = Rule("KP100", Severity.ERROR, _find, __name__, __doc__)
