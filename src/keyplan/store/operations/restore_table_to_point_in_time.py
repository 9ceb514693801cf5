"""RestoreTableToPointInTime: create a table with another table's state at a point in time."""

from __future__ import annotations

from keyplan.dynamodb import service_errors
from keyplan.store.arns import arn_of
from keyplan.store.backups.point_in_time import latest_time, no_history, shown_moment, window
from keyplan.store.backups.restoring import begin_restored, of_history, restored
from keyplan.store.backups.table_copies import copied_definition
from keyplan.store.chunked_work import TableWork
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.resources import resource_of
from keyplan.store.tables.table import Table


def restore_table_to_point_in_time(database: Database, request: Request) -> Answer:
    source_name = _source(request)
    latest = bool(request.get("UseLatestRestorableTime"))
    wanted_s: float | None = request.get("RestoreDateTime")
    _check_moment(wanted_s, latest=latest)
    name: str = request["TargetTableName"]

    def work(writer: Writer) -> tuple[Answer, TableWork | None]:
        source = database.fresh(writer).get(source_name)
        if source is None:
            raise service_errors.TableNotFoundException(f"Table not found: {source_name}")
        now_s = database.clock()
        moment_s = _moment(source, wanted_s, latest_time(writer, source, now_s))
        definition = copied_definition(source.definition, request, now_s)
        progress = of_history(writer, source, int(moment_s * 1_000_000))
        summary = {
            "SourceTableArn": arn_of(database.region, source_name),
            "RestoreDateTime": round(moment_s, 3),
            "RestoreInProgress": True,
        }
        return summary, begin_restored(database, writer, name, definition, progress, summary)

    return restored(database, name, work)


def _source(request: Request) -> str:
    arn, name = request.get("SourceTableArn"), request.get("SourceTableName")
    if arn is not None and name is not None:
        raise service_errors.ValidationException("Must provide exactly one of: sourceTableArn, sourceTableName")
    if name is not None:
        return str(name)
    if arn is None:
        raise service_errors.ValidationException(
            "The parameter 'TableName' is required but was not present in the request"
        )
    if not arn.startswith("arn:"):
        raise service_errors.one_or_more("sourceTableArn is not a valid ARN")
    return resource_of(arn).table


def _check_moment(wanted_s: float | None, *, latest: bool) -> None:
    if wanted_s is not None and latest:
        raise service_errors.ValidationException(
            "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore "
            "request. Please provide only one of them"
        )
    if wanted_s is None and not latest:
        raise service_errors.ValidationException(
            "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"
        )


def _moment(source: Table, wanted_s: float | None, now_s: float) -> float:
    """The time to restore. Raises PointInTimeRecoveryUnavailableException or InvalidRestoreTimeException."""
    reach = window(source, now_s)
    if reach is None:
        raise no_history(source.name)
    if wanted_s is None:
        return reach[1]
    if not reach[0] <= wanted_s <= reach[1]:
        earliest, latest = map(shown_moment, reach)
        raise service_errors.InvalidRestoreTimeException(
            f"RestoreDateTime '{shown_moment(wanted_s)}' must be within EarliestRestorableDateTime '{earliest}' "
            f"and LatestRestorableDateTime '{latest}'"
        )
    return wanted_s
