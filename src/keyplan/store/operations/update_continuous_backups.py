"""UpdateContinuousBackups: enable or disable point-in-time recovery, or change its recovery period."""

from __future__ import annotations

from keyplan.dynamodb import service_errors
from keyplan.store.backups.point_in_time import PERIOD_DAYS_MAX, describe_history, is_restored, switch_history
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import check_backups, states_of
from keyplan.store.storage.storage_transactions import Writer


def update_continuous_backups(database: Database, request: Request) -> Answer:
    name = plain_name(request["TableName"])
    wanted = request["PointInTimeRecoverySpecification"]
    days: int | None = wanted.get("RecoveryPeriodInDays")
    if not wanted["PointInTimeRecoveryEnabled"]:
        if days is not None:
            raise service_errors.ValidationException(
                "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
            )
    elif days is None:
        days = PERIOD_DAYS_MAX

    def work(writer: Writer) -> None:
        tables = database.fresh(writer)
        table = tables.get(name)
        if table is None:
            raise service_errors.TableNotFoundException(f"Table not found: {name}")
        check_backups(name, states_of(table.definition, database.clock()))
        if days is None and is_restored(table, tables.values()):
            raise service_errors.ContinuousBackupsUnavailableException(
                f"Another table is being restored from the table: {name}. Please retry later"
            )
        switch_history(writer, table, days, database.clock())

    database.goes_on_with_all()
    database.write(work)
    description = describe_history(database.described_table(name), database.clock())
    return {"ContinuousBackupsDescription": description}
