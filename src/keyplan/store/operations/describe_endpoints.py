"""DescribeEndpoints: the endpoint of this server, so that clients don't use the service's endpoint."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request

CACHE_MINUTES = 1440


def describe_endpoints(database: Database, request: Request) -> Answer:  # noqa: ARG001 - the signature of all operations
    return {"Endpoints": [{"Address": database.endpoint, "CachePeriodInMinutes": CACHE_MINUTES}]}
