"""Scan: read a whole table or index, or one segment of it."""

from __future__ import annotations

from keyplan.dynamodb.operations.registry import CURRENT_SCAN_REGIONS
from keyplan.dynamodb.service_errors import ValidationException
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
from keyplan.store.storage.key_layouts import Bounds, segment_of

EXPRESSIONS = ("FilterExpression",)
_OLD = frozenset({"ScanFilter", "AttributesToGet", "ConditionalOperator"})


def scan(database: Database, request: Request) -> Answer:
    check_needed(request, EXPRESSIONS, "ProjectionExpression")
    filter_ = projection = None
    if not request.keys().isdisjoint(_OLD):
        projection = attributes_to_get(request)
        filter_ = legacy.filtered(request, "ScanFilter")
    begin = queries.checked_start(request)
    is_current = database.region in CURRENT_SCAN_REGIONS
    segment = _segment(request, is_current=is_current)
    given = placeholders(request, EXPRESSIONS, "ProjectionExpression")
    if given is not None:
        filter_ = condition_of(request, given, "FilterExpression")
        projection = projection_of(request, given)
        given.check_unused()
    table = database.table(request["TableName"])
    target = queries.target_of(database, table, request, "Scan")
    queries.check_select(target, request, enveloped=is_current)
    check_start = queries.check_own_start if is_current or target.index is not None else queries.check_table_start
    check_start(target, begin)
    fetches = queries.fetches_items(target, request, filter_, projection)
    start = queries.start_of(target, begin)
    if start is not None and segment is not None and segment_of(start[0], segment[1]) != segment[0]:
        raise ValidationException(
            "The provided starting key is invalid: Invalid ExclusiveStartKey. "
            "Please use ExclusiveStartKey with correct Segment. "
            f"TotalSegments: {segment[1]} Segment: {segment[0]}"
        )
    queries.check_paths(target, filter_, projection)
    bounds = Bounds(after=start, segment=segment)
    return queries.answer_page(database, queries.PageQuery(target, bounds, filter_, projection, fetches), request)


def _segment(request: Request, *, is_current: bool) -> tuple[int, int] | None:
    segment, total = request.get("Segment"), request.get("TotalSegments")
    if segment is None and total is None:
        return None
    if total is None:
        raise ValidationException(
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present"
        )
    if segment is None:
        raise ValidationException(
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present"
        )
    if segment >= total:
        rule = "The Segment parameter is zero-based and must be less than parameter TotalSegments"
        shown = f": Segment: {segment} is not less than TotalSegments: {total}"
        raise ValidationException(rule if is_current else rule + shown)
    return segment, total
