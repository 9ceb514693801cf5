"""Query."""

from __future__ import annotations

from dataclasses import replace

from keyplan.engine.database import Database
from keyplan.engine.keybounds import bound_condition, bounds_of, contains, planned_bounds, remember
from keyplan.engine.reading import (
    Question,
    Target,
    answer_page,
    check_select,
    fetches_items,
    start_of,
    target_of,
)
from keyplan.engine.requests import Answer, Request, condition_of, placeholders, projection_of
from keyplan.engine.storage.port import Bounds
from keyplan.expressions import BoundCondition
from keyplan.wire.errors import ValidationException

EXPRESSIONS = ("FilterExpression", "KeyConditionExpression")


def query(database: Database, request: Request) -> Answer:
    """Read items of one partition of a table or an index, in order."""
    if request.get("KeyConditionExpression") is None:
        placeholders(request, EXPRESSIONS, "ProjectionExpression")
        raise ValidationException(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    target = target_of(database.table(request["TableName"]), request)
    question = _question(target, request)
    start = start_of(target, request)
    if start is not None:
        _check_start(question.bounds, start)
        question = replace(question, bounds=replace(question.bounds, after=start))
    return answer_page(question, request, database.show)


def _question(target: Target, request: Request) -> Question:
    forward = request.get("ScanIndexForward") is not False
    only_key = request.get("FilterExpression") is None and request.get("ProjectionExpression") is None
    select = request.get("Select")
    if only_key and select is None:
        bounds = planned_bounds(target, request, forward=forward)
        if bounds is not None:
            return Question(target, bounds, None, None, fetches=False)
    given = placeholders(request, EXPRESSIONS, "ProjectionExpression")
    assert given is not None  # noqa: S101 - there is a KeyConditionExpression
    condition = bound_condition(target, request, given)
    filter_ = condition_of(request, given, "FilterExpression")
    projection = projection_of(request, given)
    given.check_unused()
    check_select(target, request, "Querying")
    _check_filter(target, filter_)
    fetches = fetches_items(target, request, filter_, projection)
    if only_key:
        remember(target, request, given, condition)
    return Question(target, bounds_of(condition, forward=forward), filter_, projection, fetches)


def _check_filter(target: Target, filter_: BoundCondition | None) -> None:
    if filter_ is None:
        return
    for attribute in (*target.partition, *target.sort):
        if attribute.name in filter_.attributes:
            raise ValidationException(
                "Filter Expression can only contain non-primary key attributes: "
                f"Primary key attribute: {attribute.name}"
            )


def _check_start(bounds: Bounds, start: tuple[str | bytes, ...]) -> None:
    count = len(bounds.partition)
    if start[:count] != bounds.partition:
        raise ValidationException("The provided starting key is outside query boundaries based on provided conditions")
    if not contains(bounds, start[count:]):
        raise ValidationException("The provided starting key does not match the range key predicate")
