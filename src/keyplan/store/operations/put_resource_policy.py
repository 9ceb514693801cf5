"""PutResourcePolicy: attach a policy to a table or a stream. Putting an identical policy keeps the revision."""

from __future__ import annotations

from keyplan.store.control_plane.table_settings import Members, change_definition
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resource_policies import canonical_policy, check_lockout, check_revision, new_revision
from keyplan.store.tables.resources import check_stream, policy_member, resource_of
from keyplan.store.tables.table import Table


def put_resource_policy(database: Database, request: Request) -> Answer:
    resource = resource_of(request["ResourceArn"])
    policy = canonical_policy(request["Policy"], of_stream=resource.stream is not None)
    if not request.get("ConfirmRemoveSelfResourceAccess"):
        check_lockout(policy)
    member = policy_member(resource)
    revision = ""

    def change(table: Table) -> Members:
        nonlocal revision
        check_stream(table, resource)
        kept = table.definition.get(member)
        check_revision(kept, request.get("ExpectedRevisionId"), table.name)
        if kept is not None and kept["Policy"] == policy:
            revision = kept["RevisionId"]
            return {}
        revision = new_revision(kept, database.clock())
        return {member: {"Policy": policy, "RevisionId": revision}}

    change_definition(database, resource.table, change)
    return {"RevisionId": revision}
