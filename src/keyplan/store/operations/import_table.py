"""ImportTable: create a table and fill it from S3 objects."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from keyplan.dynamodb.service_errors import ImportConflictException, ValidationException
from keyplan.store.arns import arn_of, log_group_arn
from keyplan.store.backups.table_copies import make_table
from keyplan.store.control_plane.schema import Definition, new_definition
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import begin_import
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.table_description import table_id
from keyplan.store.transfer import transfer_jobs
from keyplan.store.transfer.bucket_folder import Bucket, S3Error
from keyplan.store.transfer.item_formats import Csv
from keyplan.store.transfer.table_imports import KIND, fail_import, import_objects, table_exists


def import_table(database: Database, request: Request) -> Answer:
    parameters: dict[str, Any] = request["TableCreationParameters"]
    options = _options(request)
    definition = new_definition(parameters, database.clock())
    name: str = parameters["TableName"]
    number = transfer_jobs.new_number(database.clock())

    def work(writer: Writer) -> tuple[Answer, Callable[[], None] | None]:
        known = _repeated(writer, database, request, name)
        if known is not None:
            return known, None
        if database.present_table(writer, name) is not None:
            raise table_exists(name)
        description = _description(database, request, name, number)
        try:
            bucket = Bucket(database.s3, request["S3BucketSource"]["S3Bucket"])
        except S3Error as error:
            # If the bucket doesn't exist, the import fails and no table is created.
            begin: Callable[[], None] = partial(fail_import, database, number, error.code, error.message)
        else:
            table = make_table(database, writer, name, begin_import(definition, number))
            description["TableId"] = table_id(table)
            with_arn = {**request, "_ImportArn": description["ImportArn"]}
            how = Csv(_types(definition), **options)
            begin = partial(import_objects, database, number, with_arn, bucket, name, how)
        job: transfer_jobs.Job = {"Description": description, "Digest": transfer_jobs.digest_of(request)}
        transfer_jobs.keep_job(writer, KIND, number, job)
        return description, begin

    description, begin = database.write(work)
    database.refresh()
    if begin is not None:
        transfer_jobs.run_job(
            database, begin, lambda error: fail_import(database, number, "InternalServerError", str(error))
        )
    return {"ImportTableDescription": description}


def _options(request: Request) -> dict[str, Any]:
    csv = (request.get("InputFormatOptions") or {}).get("Csv")
    if csv is None:
        return {}
    if request["InputFormat"] != "CSV":
        raise ValidationException(
            f"Invalid Request: Unsupported InputFormatOptions for the given input format: {request['InputFormat']}."
        )
    options: dict[str, Any] = {}
    if csv.get("Delimiter") is not None:
        options["delimiter"] = csv["Delimiter"]
    if csv.get("HeaderList") is not None:
        options["header"] = csv["HeaderList"]
    return options


def _types(definition: Definition) -> dict[str, str]:
    return {each["AttributeName"]: each["AttributeType"] for each in definition["AttributeDefinitions"]}


def _repeated(writer: Writer, database: Database, request: Request, name: str) -> Answer | None:
    """The import that the same ClientToken started before: while it runs, or after its table was deleted."""
    token: str = request["ClientToken"]
    for job in transfer_jobs.all_jobs(writer, KIND):
        description: Answer = job["Description"]
        if (
            description["ClientToken"] != token
            or database.clock() - description["StartTime"] >= transfer_jobs.TOKEN_LIFETIME_S
        ):
            continue
        if description["TableCreationParameters"]["TableName"] != name:
            raise ImportConflictException("Import conflict: Duplicate request detected with conflicting parameters")
        if description["ImportStatus"] == "IN_PROGRESS" or all(each.name != name for each in writer.tables()):
            return description
    return None


def _description(database: Database, request: Request, name: str, number: str) -> Answer:
    source = request["S3BucketSource"]
    return {
        "ImportArn": f"{arn_of(database.region, name)}/import/{number}",
        "ImportStatus": "IN_PROGRESS",
        "TableArn": arn_of(database.region, name),
        "ClientToken": request["ClientToken"],
        "S3BucketSource": {"S3BucketOwner": "000000000000", **source},
        "ErrorCount": 0,
        "CloudWatchLogGroupArn": log_group_arn(database.region),
        "InputFormat": request["InputFormat"],
        **({"InputFormatOptions": request["InputFormatOptions"]} if request.get("InputFormatOptions") else {}),
        "InputCompressionType": request.get("InputCompressionType") or "NONE",
        "TableCreationParameters": request["TableCreationParameters"],
        "StartTime": round(database.clock(), 3),
        "ProcessedItemCount": 0,
        "ImportedItemCount": 0,
    }
