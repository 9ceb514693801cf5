"""ListTagsOfResource."""

from __future__ import annotations

from keyplan.store.control_plane.table_tags import not_found, tagged_table
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def list_tags_of_resource(database: Database, request: Request) -> Answer:
    """The tags of a table. There are so few of them that one answer holds all, whatever token is given."""
    table = database.find(tagged_table(request["ResourceArn"]))
    if table is None or database.states(table).restoring:
        raise not_found(request["ResourceArn"])
    return {"Tags": [dict(tag) for tag in table.definition.get("Tags") or []]}
