"""The requests of a read, by what lies where it looks: the client's own conversations, carried out on places.

How the client pages, merges, joins and completes is its business alone; here its requests are answered, and what they
take is noted. ``facts.py`` thinks of what is there.
"""

from __future__ import annotations

from typing import Any

from keyplan.analysis.cost.read_ranges import Found
from keyplan.analysis.cost.simulated_layout import Layout
from keyplan.analysis.cost.simulated_responses import Answering
from keyplan.analysis.cost.unit_counts import Request
from keyplan.client.conversations import converse
from keyplan.client.cursors import Position
from keyplan.client.results import Answer
from keyplan.client.target import Target
from keyplan.model.compiled.plans import ReadPattern, newest_by_default
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import ParameterKind

__all__ = ["requests_of"]


def requests_of(
    pattern: ReadPattern, result: Found, limit: int | None, *, strongly: bool = False, page: int = 1
) -> list[Request]:
    """The requests of one call with their units; of a page, those of the ``page``-th. ``limit`` in items; ``strongly``:
    asked within a write, where reads are strongly consistent wherever their key allows it.
    """
    layout = Layout(pattern, result)
    answering = Answering(layout)
    asked = layout.standins.pattern
    answer = Answer(asked, Target(layout.table.name, layout.table, consistent=strongly), b"")
    kinds = {parameter.kind: parameter.name for parameter in asked.signature.parameters}
    arguments: dict[str, Any] = {kinds[ParameterKind.LIMIT]: limit} if ParameterKind.LIMIT in kinds else {}
    if asked.direction is not None:  # the pattern is that of a call's direction
        arguments[asked.direction.name] = newest_by_default(asked.direction) is not asked.is_turned
    if asked.shape.kind is ShapeKind.ITERATOR:
        _iterate(answer, arguments, answering)
        return answering.requests
    for number in range(1, page + 1):
        answering.requests.clear()
        given = converse(answer.converse(arguments), answering)
        if number < page:
            if given.cursor is None:
                return []
            arguments[kinds[ParameterKind.CURSOR]] = given.cursor
    return answering.requests


def _iterate(answer: Answer, arguments: dict[str, Any], answering: Answering) -> None:
    """Take an iterator's items to their end, part by part."""
    position: Position | None = None
    given = 0
    while True:
        items, position = converse(answer.part(arguments, position, given), answering)
        given += len(items)
        if position is None:
            return
