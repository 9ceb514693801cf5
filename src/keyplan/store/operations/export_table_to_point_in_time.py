"""ExportTableToPointInTime: export a table, or its changes in a period. Requires point-in-time recovery."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

from keyplan.dynamodb import service_errors
from keyplan.dynamodb.expressions import BoundCondition, BoundProjection, bind_condition, bind_key_condition
from keyplan.store.backups.point_in_time import latest_time, no_history, shown_moment, window
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request, condition_of, placeholders, projection_of
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.resources import resource_of
from keyplan.store.tables.table import Table
from keyplan.store.tables.table_description import table_id
from keyplan.store.transfer.table_exports import INCREMENTAL, KIND, Item, Shown, Span, export, fail_export
from keyplan.store.transfer.transfer_jobs import Job, digest_of, keep_job, new_number, repeated, run_job

DAY_S = 86_400.0
_EXPRESSIONS = ("FilterExpression", "KeyConditionExpression")
_ECHOED = ("ClientToken", "S3Bucket", "S3BucketOwner", "S3Prefix", "S3SseKmsKeyId", "ExportType", "FilterSpecification")
_CONFLICT = "Export conflict: Duplicate request detected with conflicting parameters"


def export_table_to_point_in_time(database: Database, request: Request) -> Answer:
    arn: str = request["TableArn"]
    name = _table_of(arn)
    _check_specification(request)
    placeholders(request.get("FilterSpecification") or {}, _EXPRESSIONS, "ProjectionExpression")
    number = new_number(database.clock())

    def work(writer: Writer) -> tuple[Answer, Callable[[], None] | None]:
        known = repeated(writer, database, KIND, request, service_errors.ExportConflictException(_CONFLICT))
        if known is not None:
            return known, None
        table = database.fresh(writer).get(name)
        if table is None:
            raise service_errors.TableNotFoundException(f"Table not found: {arn}")
        now_s = latest_time(writer, table, database.clock())
        description, span = _accepted(table, request, number, now_s)
        job: Job = {"Description": description, "Digest": digest_of(request), "TableNumber": table.stored.layout.id}
        shown = _shown(table, request)
        keep_job(writer, KIND, number, job)
        return description, partial(export, database, number, name, span, shown)

    description, begin = database.write(work)
    if begin is not None:
        run_job(database, begin, lambda error: fail_export(database, number, "InternalServerError", str(error)))
    return {"ExportDescription": description}


def _table_of(arn: str) -> str:
    if not arn:
        raise service_errors.ValidationException("Invalid TableArn: Invalid Table ARN")
    if not arn.startswith("arn:"):
        raise service_errors.one_or_more("tableArn is not a valid ARN")
    try:
        resource = resource_of(arn)
    except service_errors.ValidationException:
        raise _refused("Table ARN is invalid.") from None
    if resource.stream is not None:
        raise _refused("Table ARN is invalid.")
    return resource.table


def _refused(message: str) -> service_errors.ValidationException:
    return service_errors.ValidationException(f"Invalid Request: {message}")


def _check_specification(request: Request) -> None:
    specification = request.get("IncrementalExportSpecification")
    kind = request.get("ExportType")
    if kind == INCREMENTAL:
        if specification is None:
            raise _refused("Incremental Export Specification expected when export type is set as Incremental Export")
        if specification.get("ExportFromTime") is None:
            raise _refused("ExportFromTime must be provided in IncrementalExportSpecification")
    elif specification is not None:
        if kind is None:
            raise _refused(
                "Export Type expected to be Incremental Export when incremental export specification is provided"
            )
        raise _refused("When Export Type is Full Export , Incremental Export Specification should not be provided")
    if request.get("S3SseKmsKeyId") is not None and request.get("S3SseAlgorithm") != "KMS":
        raise _refused("KMS Key Id is not supported for this encryption type")
    if request.get("FilterSpecification") == {}:
        raise _refused("Invalid FilterSpecification: The specification can not be empty")


def _accepted(table: Table, request: Request, number: str, now_s: float) -> tuple[Answer, Span]:
    """The description of the new export, and what it contains. Raises ValidationException for an incremental export
    with an export time; PointInTimeRecoveryUnavailableException if point-in-time recovery is disabled;
    InvalidExportTimeException if the time is outside the recovery period.
    """
    if request.get("ExportType") == INCREMENTAL:
        _check_period(table, request, now_s)
    reach = window(table, now_s)
    if reach is None:
        raise no_history(table.name)
    description: Answer = {
        "ExportArn": f"{table.arn()}/export/{number}",
        "ExportStatus": "IN_PROGRESS",
        "StartTime": round(now_s, 3),
        "TableArn": table.arn(),
        "TableId": table_id(table),
        "S3SseAlgorithm": request.get("S3SseAlgorithm") or "AES256",
        "ExportFormat": request.get("ExportFormat") or "DYNAMODB_JSON",
        "ClientToken": str(uuid4()),
        **{member: request[member] for member in _ECHOED if request.get(member) is not None},
    }
    if request.get("ExportType") != INCREMENTAL:
        wanted_s = request.get("ExportTime")
        if wanted_s is not None and not table.definition["CreationDateTime"] <= wanted_s <= now_s:
            raise service_errors.InvalidExportTimeException("Export Time is invalid")
        moment_s = _within(request.get("ExportTime"), reach, reach[1])
        description["ExportTime"] = round(moment_s, 3)
        return description, Span(int(moment_s * 1_000_000), None, with_old=False)
    specification: dict[str, Any] = request["IncrementalExportSpecification"]
    from_s = _within(specification["ExportFromTime"], reach, reach[0])
    to_s = _within(specification.get("ExportToTime"), reach, reach[1])
    if from_s >= to_s:
        raise service_errors.InvalidExportTimeException("ExportFromTime must be before ExportToTime")
    if to_s - from_s > DAY_S:
        raise service_errors.InvalidExportTimeException("An incremental export can cover at most 24 hours")
    view = specification.get("ExportViewType") or "NEW_AND_OLD_IMAGES"
    description["IncrementalExportSpecification"] = {
        "ExportFromTime": round(from_s, 3),
        "ExportToTime": round(to_s, 3),
        "ExportViewType": view,
    }
    # Without ExportToTime, the export includes writes at the current microsecond.
    until_us = int(to_s * 1_000_000) + (1 if specification.get("ExportToTime") is None else 0)
    return description, Span(until_us, int(from_s * 1_000_000), view == "NEW_AND_OLD_IMAGES")


def _check_period(table: Table, request: Request, now_s: float) -> None:
    """Reject a period before the table's creation, with or without point-in-time recovery."""
    specification: dict[str, Any] = request["IncrementalExportSpecification"]
    if specification["ExportFromTime"] < table.definition["CreationDateTime"]:
        raise _outside("from time cannot be less than the table creation time", specification["ExportFromTime"])
    if (specification.get("ExportToTime") or now_s) > now_s:
        raise _outside("to time cannot be greater than the current time", specification["ExportToTime"])
    if request.get("ExportTime") is not None:
        raise service_errors.ValidationException("ExportTime can't be specified for an incremental export")


def _outside(rule: str, moment_s: float) -> service_errors.InvalidExportTimeException:
    return service_errors.InvalidExportTimeException(f"Incremental export period {rule} : {shown_moment(moment_s)}")


def _within(wanted_s: float | None, reach: tuple[float, float], default_s: float) -> float:
    if wanted_s is None:
        return default_s
    if not reach[0] <= wanted_s <= reach[1]:
        raise service_errors.InvalidExportTimeException(
            "Point in Time Recovery is not available for specified export time"
        )
    return wanted_s


def _shown(table: Table, request: Request) -> Shown:
    specification: dict[str, Any] = request.get("FilterSpecification") or {}
    given = placeholders(specification, _EXPRESSIONS, "ProjectionExpression")
    if given is None:
        return lambda item: item
    conditions: list[BoundCondition] = []
    text = specification.get("KeyConditionExpression")
    if text is not None:
        bind_key_condition(
            text,
            given,
            partition=(table.partition.name,),
            sort=() if table.sort is None else (table.sort.name,),
            types={key.name: key.type for key in table.keys},
        )
        conditions.append(bind_condition(text, given, "KeyConditionExpression"))
    filter_ = condition_of(specification, given, "FilterExpression")
    if filter_ is not None:
        keys = sorted(filter_.attributes & table.key_names)
        if text is not None and keys:
            raise service_errors.ValidationException(
                f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {keys[0]}"
            )
        conditions.append(filter_)
    projection: BoundProjection | None = projection_of(specification, given)
    given.check_unused()

    def shown(item: Item) -> Item | None:
        if not all(condition.matches(item) for condition in conditions):
            return None
        return item if projection is None else projection.project(item)

    return shown
