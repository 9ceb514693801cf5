"""DescribeLimits: the provisioned throughput quotas of a new account."""

from __future__ import annotations

from keyplan.dynamodb.limits import ACCOUNT_UNITS_MAX, TABLE_UNITS_MAX
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def describe_limits(database: Database, request: Request) -> Answer:  # noqa: ARG001 - the signature of all operations
    return {
        "AccountMaxReadCapacityUnits": ACCOUNT_UNITS_MAX,
        "AccountMaxWriteCapacityUnits": ACCOUNT_UNITS_MAX,
        "TableMaxReadCapacityUnits": TABLE_UNITS_MAX,
        "TableMaxWriteCapacityUnits": TABLE_UNITS_MAX,
    }
