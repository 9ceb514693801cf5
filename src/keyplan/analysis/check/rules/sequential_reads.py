"""Sequential reads in a loop.

A read in a loop sends one request per iteration, one after the other. Reading the products of 20 order lines takes 20
round trips, and the first values can be stale when the write uses them.

Declare a read with an ``Each[...]`` parameter, which sends one BatchGetItem per 100 keys, or sends queries in parallel.
If the items have the same partition key, declare a read that returns a list or a collection with one Query.

See BatchGetItem in the API Reference.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.signatures import ParameterKind


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        for name in dict.fromkeys(ask.name for ask in written.asks if ask.looped):
            line = next(ask.line for ask in written.asks if ask.name == name and ask.looped)
            pattern = subject.design.reads[name]
            if any(parameter.kind is ParameterKind.EACH for parameter in pattern.signature.parameters):
                continue  # each call already reads many items
            if pattern.shape.many and pattern.limit is not None:
                continue  # the loop reads page by page
            message = f"the write reads {name} in a loop, one request after the other"
            hint = f"declare a read with Each[...] for the parameters of {name}, and call it once"
            yield Remark(written.pattern.place, message, hint, line=line)


RULE = Rule("KP316", Severity.WARNING, _find, __name__, __doc__)
