"""Query: read items of one partition of a table or an index, in sort key order."""

from __future__ import annotations

from dataclasses import replace

from keyplan.dynamodb.expressions import (
    BoundCondition,
    BoundProjection,
    Expression,
    KeyCondition,
    KeyConditionFault,
    PartitionMissedFault,
    Placeholders,
    check_key_condition,
    check_key_names,
)
from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.service_errors import RequestFault, ResourceNotFoundException, ValidationException
from keyplan.store import queries
from keyplan.store.database import Database
from keyplan.store.requests import legacy_parameters as legacy
from keyplan.store.requests.request_expressions import (
    Answer,
    Request,
    attributes_to_get,
    check_needed,
    condition_of,
    placeholders,
    projection_of,
)
from keyplan.store.storage.key_layouts import Bounds

EXPRESSIONS = ("FilterExpression", "KeyConditionExpression")
_NO_KEY_CONDITION = "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
_MORE = OPERATIONS["Query"].old_names | {"FilterExpression", "ProjectionExpression"}
"""The members of a query besides its KeyConditionExpression."""


def query(database: Database, request: Request) -> Answer:
    plain = _Plain(request)
    if request.get("KeyConditionExpression") is None and request.get("KeyConditions") is None:
        raise RequestFault(_NO_KEY_CONDITION)
    try:
        target = queries.target_of(database, database.table(request["TableName"]), request, "Query")
    except (ResourceNotFoundException, ValidationException):
        _check_expressions(request, plain)
        raise
    return queries.answer_page(database, _page_query(target, request, plain), request)


def _check_expressions(request: Request, plain: _Plain) -> None:
    """Validate a query's expressions: their errors are reported before a missing table or index."""
    parts = _Parts(request, plain)
    if parts.given is not None:
        condition_of(request, parts.given, "KeyConditionExpression")
    parts.filter(request)
    parts.projection(request)
    parts.check_unused()
    parts.check_key(request)


class _Plain:
    __slots__ = ("filter", "is_only_key", "projection", "start")

    def __init__(self, request: Request) -> None:
        check_needed(request, EXPRESSIONS, "ProjectionExpression")
        self.is_only_key = request.keys().isdisjoint(_MORE) or all(request.get(member) is None for member in _MORE)
        self.filter = None if self.is_only_key else legacy.filtered(request, "QueryFilter")
        self.projection = None if self.is_only_key else attributes_to_get(request)
        self.start = queries.checked_start(request)


def _page_query(target: queries.Target, request: Request, plain: _Plain) -> queries.PageQuery:
    forward = request.get("ScanIndexForward") is not False
    select = request.get("Select")
    if plain.is_only_key and select is None:
        bounds = queries.planned_bounds(target, request, forward=forward)
        if bounds is not None:
            return queries.PageQuery(target, _after_start(target, plain.start, bounds), None, None, fetches=False)
    parts = _Parts(request, plain)
    condition = _condition(target, request, parts)
    filter_ = parts.filter(request)
    projection = parts.projection(request)
    parts.check_unused()
    if not isinstance(condition, KeyCondition):
        parts.check_key(request)
        queries.check_start_partition(target, plain.start)
        if not isinstance(condition, PartitionMissedFault):
            queries.start_of(target, plain.start)
        raise condition
    queries.check_select(target, request)
    bounds = _after_start(target, plain.start, queries.bounds_of(condition, forward=forward))
    _check_filter(target, filter_, "QueryFilter" if request.get("QueryFilter") else "Filter Expression")
    fetches = queries.fetches_items(target, request, filter_, projection)
    queries.check_paths(target, filter_, projection)
    if plain.is_only_key and parts.given is not None:
        queries.remember(target, request, parts.given, condition)
    return queries.PageQuery(target, bounds, filter_, projection, fetches)


class _Parts:
    def __init__(self, request: Request, plain: _Plain) -> None:
        self.plain = plain
        self.given = placeholders(request, EXPRESSIONS, "ProjectionExpression")
        self.old_key = None if request.get("KeyConditionExpression") is not None else legacy.key_conditions(request)

    def key(self, request: Request) -> tuple[Expression, Placeholders]:
        if self.old_key is not None:
            return self.old_key.condition, self.old_key.given
        assert self.given is not None  # noqa: S101 - the request has a KeyConditionExpression
        return request["KeyConditionExpression"], self.given

    def filter(self, request: Request) -> BoundCondition | None:
        if self.given is not None and request.get("FilterExpression") is not None:
            return condition_of(request, self.given, "FilterExpression")
        return self.plain.filter

    def projection(self, request: Request) -> BoundProjection | None:
        if self.given is not None and request.get("ProjectionExpression") is not None:
            return projection_of(request, self.given)
        return self.plain.projection

    def check_key(self, request: Request) -> None:
        """Reject a condition that isn't a key condition for any key."""
        if self.given is not None and self.old_key is None:
            check_key_condition(request["KeyConditionExpression"], self.given)

    def check_unused(self) -> None:
        if self.given is not None:
            self.given.check_unused()


def _condition(
    target: queries.Target, request: Request, parts: _Parts
) -> KeyCondition | KeyConditionFault | ValidationException:
    """The key condition, or its error, which is raised after other expressions are read, as in the service."""
    try:
        if parts.old_key is not None:
            partition = [attribute.name for attribute in target.partition]
            check_key_names(request["KeyConditions"], partition, [attribute.name for attribute in target.sort])
            legacy.check_indexable(request)
        return queries.bound_condition(target, *parts.key(request))
    except (KeyConditionFault, ValidationException) as fault:
        return fault


def _check_filter(target: queries.Target, filter_: BoundCondition | None, kind: str) -> None:
    if filter_ is None:
        return
    for attribute in (*target.partition, *target.sort):
        if attribute.name in filter_.attributes:
            raise ValidationException(
                f"{kind} can only contain non-primary key attributes: Primary key attribute: {attribute.name}"
            )


def _after_start(target: queries.Target, begin: queries.Item | None, bounds: Bounds) -> Bounds:
    """The bounds after the ExclusiveStartKey, if there is one. Raises ValidationException."""
    start = None if begin is None else queries.start_of(target, begin)
    if start is None:
        return bounds
    count = len(bounds.partition)
    has_sort = bool(bounds.equal) or bounds.low is not None or bounds.high is not None
    if has_sort and not queries.contains(bounds, start[count:]):
        raise ValidationException("The provided starting key does not match the range key predicate")
    if start[:count] != bounds.partition and not has_sort:
        raise ValidationException("The provided starting key is outside query boundaries based on provided conditions")
    if start[:count] != bounds.partition or (target.index is None and target.table.sort is None):
        raise ValidationException("The query can return at most one row and cannot be restarted")
    return replace(bounds, after=start)
