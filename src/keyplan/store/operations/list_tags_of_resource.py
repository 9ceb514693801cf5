"""ListTagsOfResource: the tags of a table, always in one page, because a table has few tags."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import AccessDeniedException
from keyplan.store.arns import ACCOUNT
from keyplan.store.control_plane.table_tags import not_found, tagged_table
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def list_tags_of_resource(database: Database, request: Request) -> Answer:
    name, arn = tagged_table(request["ResourceArn"]), request["ResourceArn"]
    if arn.split(":")[4] != ACCOUNT:
        raise AccessDeniedException(
            f"User: arn:aws:iam::{ACCOUNT}:root is not authorized to perform: dynamodb:ListTagsOfResource on resource: "
            f"{arn} because no resource-based policy allows the dynamodb:ListTagsOfResource action"
        )
    table = database.find(name)
    if table is None or database.states(table).restoring:
        raise not_found(request["ResourceArn"])
    return {"Tags": [dict(tag) for tag in table.definition.get("Tags") or []]}
