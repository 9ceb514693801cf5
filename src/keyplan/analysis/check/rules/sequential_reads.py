"""A write reads one item after the other.

A read in a loop is a request for each of the items, one after the other: twenty lines of an order are twenty round
trips, and the write holds what it read first for all that time before it decides.

Ask once: a read with ``Each[...]`` is one BatchGetItem for a hundred keys, or parallel queries; a list or a collection
is one Query.

Source: BatchGetItem in the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.model.compiled.signatures import ParameterKind

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for account in subject.writes:
        for name in dict.fromkeys(ask.name for ask in account.asks if ask.looped):
            line = next(ask.line for ask in account.asks if ask.name == name and ask.looped)
            pattern = subject.design.reads[name]
            if any(parameter.kind is ParameterKind.EACH for parameter in pattern.signature.parameters):
                continue  # many at once already
            if pattern.shape.many and pattern.limit is not None:
                continue  # page by page
            yield Remark(
                account.pattern.place,
                f"it asks {name} in a loop, one request after the other",
                f"declare a read with Each[...] of what {name} takes, and ask that once",
                line=line,
            )


RULE = Rule("KP316", Severity.WARNING, _find, __name__, __doc__)
