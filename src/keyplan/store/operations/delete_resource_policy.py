"""DeleteResourcePolicy: remove the policy of a table or a stream. If there is no policy, the request has no effect."""

from __future__ import annotations

from keyplan.store.control_plane.table_settings import Members, change_definition
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resource_policies import check_revision
from keyplan.store.tables.resources import check_stream, policy_member, resource_of
from keyplan.store.tables.table import Table


def delete_resource_policy(database: Database, request: Request) -> Answer:
    resource = resource_of(request["ResourceArn"])
    member = policy_member(resource)
    answer: Answer = {}

    def change(table: Table) -> Members:
        check_stream(table, resource)
        kept = table.definition.get(member)
        check_revision(kept, request.get("ExpectedRevisionId"), table.name)
        if kept is None:
            return {}
        answer["RevisionId"] = kept["RevisionId"]
        return {member: None}

    change_definition(database, resource.table, change)
    return answer
