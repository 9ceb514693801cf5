"""TagResource: add tags to a table, replacing tags with the same key."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.control_plane.table_tags import change_tags, check_tags, with_tags
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def tag_resource(database: Database, request: Request) -> Answer:
    tags = request["Tags"]
    if not tags:
        raise ValidationException("Atleast one Tag needs to be provided as Input.")
    check_tags(tags)
    change_tags(database, request["ResourceArn"], lambda before: with_tags(before, tags))
    return {}
