"""Jobs of exports, imports and bulk operations: an ARN, a record of the progress, and the process that does the work.

A call accepts a job and starts it: immediately in an in-process engine, in a thread in a server. A job whose process
has ended gets the status FAILED.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Literal

import orjson

from keyplan.dynamodb.service_errors import ResourceNotFoundException
from keyplan.errors import DynamoDBError, KeyplanError
from keyplan.store.background_work import has_ended, this_process
from keyplan.store.database import Database
from keyplan.store.items.stored_items import SIGNS_OF_DAMAGE, damaged
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.tables.resources import check_job_arn

Kind = Literal["export", "import", "bulk-operation"]
Job = dict[str, Any]
"""Its ``Description`` in the API's form, the digest of its request, and its process."""

TOKEN_LIFETIME_S = 8 * 3600.0
"""How long a ClientToken makes the request idempotent."""
_LISTED_S = 90 * 86_400.0

_log = logging.getLogger("keyplan.engine")


def new_number(now_s: float) -> str:
    """The last part of a new job's ARN, consisting of the time and a random suffix."""
    return f"{int(now_s * 1000):014d}-{secrets.token_hex(4)}"


def digest_of(request: Mapping[str, Any]) -> str:
    plain = {name: value for name, value in request.items() if name != "ClientToken" and value is not None}
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()


def keep_job(writer: Writer, kind: Kind, number: str, job: Job, *, done_here: bool = True) -> None:
    """Store a job's progress. With ``done_here``, the record identifies this process as the one that does the work."""
    writer.archives.keep_record(kind, number, orjson.dumps({**job, **this_process()} if done_here else job))


def find_job(reader: Reader, kind: Kind, number: str) -> Job | None:
    body = reader.archives.record(kind, number)
    return None if body is None else orjson.loads(body)


def all_jobs(reader: Reader, kind: Kind) -> list[Job]:
    return [orjson.loads(body) for _, body in reader.archives.records(kind)]


def repeated(
    writer: Writer, database: Database, kind: Kind, request: Mapping[str, Any], conflict: DynamoDBError
) -> dict[str, Any] | None:
    """The existing job with the same ClientToken. Raises ``conflict`` if the job's request was different."""
    token = request.get("ClientToken")
    for job in [] if token is None else all_jobs(writer, kind):
        description: dict[str, Any] = job["Description"]
        is_recent = database.clock() - description["StartTime"] < TOKEN_LIFETIME_S
        if description.get("ClientToken") == token and is_recent:
            if job["Digest"] != digest_of(request):
                raise conflict
            return description
    return None


def update_job(database: Database, kind: Kind, number: str, **members: Any) -> None:
    def work(writer: Writer) -> None:
        job = find_job(writer, kind, number)
        if job is not None:
            job["Description"].update(members)
            keep_job(writer, kind, number, job)

    database.write(work)


def end_job(database: Database, kind: Kind, number: str, **members: Any) -> None:
    update_job(database, kind, number, EndTime=round(database.clock(), 3), **members)


def run_job(database: Database, work: Callable[[], None], failed: Callable[[Exception], None]) -> None:
    """Run a job; ``failed`` is called with an unexpected error."""

    def guarded() -> None:
        try:
            work()
        except Exception as fault:  # noqa: BLE001 - no caller waits; the job stores the error
            error = damaged(fault, database.storage.place) if isinstance(fault, SIGNS_OF_DAMAGE) else fault
            _log.error("A job failed: %s", error, exc_info=None if isinstance(fault, KeyplanError) else fault)
            try:
                failed(error)
            except Exception:  # noqa: BLE001 - storing the error failed, too
                _log.exception("Can't store the failure of a job")

    database.jobs.run(guarded)


def job_not_found(arn: str) -> ResourceNotFoundException:
    return ResourceNotFoundException(f"Requested resource not found: BulkOperation: {arn} not found")


def described_jobs(database: Database, kind: Kind, status: str) -> list[dict[str, Any]]:
    """The descriptions of a kind's jobs of the last 90 days, newest first; ``status`` names the status member."""
    since_s = database.clock() - _LISTED_S
    jobs = reversed(database.storage.read(lambda reader: all_jobs(reader, kind)))
    return [_description(job, status) for job in jobs if job["Description"]["StartTime"] >= since_s]


def described_job(database: Database, kind: Kind, arn: str, title: str) -> dict[str, Any] | None:
    """The description of a job by ARN, in any region. ``title`` is the prefix of members, as in ``ExportArn``."""
    check_job_arn(arn, kind, title)
    job = database.storage.read(lambda reader: find_job(reader, kind, arn.rpartition("/")[2]))
    if job is None or job["Description"][f"{title}Arn"].split(":table/")[1] != arn.split(":table/")[1]:
        return None
    return _description(job, f"{title}Status")


def _description(job: Job, status: str) -> dict[str, Any]:
    description: dict[str, Any] = job["Description"]
    if description[status] in {"IN_PROGRESS", "CANCELLING"} and has_ended(job):
        return {
            **description,
            status: "FAILED",
            "FailureCode": "InternalServerError",
            "FailureMessage": "The process that ran this job has ended",
        }
    return description
