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
from keyplan.engine.tables import Table
from keyplan.expressions import BoundCondition, ExpressionFault, KeyCondition, Placeholders
from keyplan.wire.errors import ResourceNotFoundException, ValidationException

EXPRESSIONS = ("FilterExpression", "KeyConditionExpression")
_JUDGED_LAST = ("Query condition missed", "HASH key attributes", "RANGE key attributes")
"""What is wrong with a key condition as a whole, when all its placeholders have been looked up."""


def query(database: Database, request: Request) -> Answer:
    """Read items of one partition of a table or an index, in order."""
    if request.get("KeyConditionExpression") is None:
        placeholders(request, EXPRESSIONS, "ProjectionExpression")
        raise ValidationException(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    target = target_of(_table(database, request), request)
    question = _question(target, request)
    return answer_page(database, question, request)


def _table(database: Database, request: Request) -> Table:
    """The table. When there is none, what is wrong with the request in any case is told first."""
    try:
        return database.table(request["TableName"])
    except ResourceNotFoundException:
        given = placeholders(request, EXPRESSIONS, "ProjectionExpression")
        assert given is not None  # noqa: S101 - there is a KeyConditionExpression
        condition_of(request, given, "KeyConditionExpression")
        condition_of(request, given, "FilterExpression")
        projection_of(request, given)
        given.check_unused()
        raise


def _question(target: Target, request: Request) -> Question:
    forward = request.get("ScanIndexForward") is not False
    only_key = request.get("FilterExpression") is None and request.get("ProjectionExpression") is None
    select = request.get("Select")
    if only_key and select is None:
        bounds = planned_bounds(target, request, forward=forward)
        if bounds is not None:
            return Question(target, _after_start(target, request, bounds), None, None, fetches=False)
    given = placeholders(request, EXPRESSIONS, "ProjectionExpression")
    assert given is not None  # noqa: S101 - there is a KeyConditionExpression
    condition = _condition(target, request, given)
    filter_ = condition_of(request, given, "FilterExpression")
    projection = projection_of(request, given)
    if not isinstance(condition, KeyCondition):
        if condition.message.startswith(_JUDGED_LAST):
            given.check_unused()
        raise condition
    given.check_unused()
    check_select(target, request, "Querying")
    bounds = _after_start(target, request, bounds_of(condition, forward=forward))
    _check_filter(target, filter_)
    fetches = fetches_items(target, request, filter_, projection)
    if only_key:
        remember(target, request, given, condition)
    return Question(target, bounds, filter_, projection, fetches)


def _condition(
    target: Target, request: Request, given: Placeholders
) -> KeyCondition | ExpressionFault | ValidationException:
    """The key condition; or, for later, why it can't be one: other expressions are read first, as the service does."""
    try:
        return bound_condition(target, request, given)
    except (ExpressionFault, ValidationException) as fault:
        if fault.message.startswith("Invalid KeyConditionExpression"):
            raise
        return fault


def _check_filter(target: Target, filter_: BoundCondition | None) -> None:
    if filter_ is None:
        return
    for attribute in (*target.partition, *target.sort):
        if attribute.name in filter_.attributes:
            raise ValidationException(
                "Filter Expression can only contain non-primary key attributes: "
                f"Primary key attribute: {attribute.name}"
            )


def _after_start(target: Target, request: Request, bounds: Bounds) -> Bounds:
    """The bounds, after the ExclusiveStartKey if there is one.

    Raises:
        ValidationException: it can't be a key of this query.
    """
    start = start_of(target, request)
    if start is None:
        return bounds
    count = len(bounds.partition)
    has_sort = bool(bounds.equal) or bounds.low is not None or bounds.high is not None
    if has_sort and not contains(bounds, start[count:]):
        raise ValidationException("The provided starting key does not match the range key predicate")
    if start[:count] != bounds.partition and not has_sort:
        raise ValidationException("The provided starting key is outside query boundaries based on provided conditions")
    if start[:count] != bounds.partition or (target.index is None and target.table.sort is None):
        raise ValidationException("The query can return at most one row and cannot be restarted")
    return replace(bounds, after=start)
