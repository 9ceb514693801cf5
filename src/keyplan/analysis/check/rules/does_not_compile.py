"""Design that doesn't compile.

Keyplan compiles a design when its class is defined. The class definition raises ``DesignError`` if an access pattern
needs a scan and doesn't set ``scan=True``, a strongly consistent read would need a global index, the keys of two
entities can collide, two keys store different values in the same attribute, a sort key contains an unpadded number, or
a collection can't be read with one Query. ``check`` reports every error of the design as a finding.

Follow the hint of each finding.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.errors import DesignError


def remarks(error: DesignError) -> Remarks:
    if not error.errors:
        yield Remark(error.place or "", error.message, error.hint or "correct the design")
    for fault in error.errors:
        yield Remark(fault.place, fault.message, fault.hint or "correct the design")


def _find(subject: Subject) -> Remarks:
    del subject  # a compiled design has no compile errors
    return iter(())


RULE = Rule("KP100", Severity.ERROR, _find, __name__, __doc__)
