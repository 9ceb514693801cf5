"""GetResourcePolicy: the policy of a table or a stream, with its revision."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resource_policies import policy_not_found
from keyplan.store.tables.resources import check_stream, policy_member, resource_of


def get_resource_policy(database: Database, request: Request) -> Answer:
    arn: str = request["ResourceArn"]
    resource = resource_of(arn)
    table = database.described_table(resource.table)
    check_stream(table, resource)
    kept = table.definition.get(policy_member(resource))
    if kept is None:
        raise policy_not_found(arn)
    return {"Policy": kept["Policy"], "RevisionId": kept["RevisionId"]}
