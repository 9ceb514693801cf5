"""UntagResource: remove tags of a table by key; a missing tag isn't an error."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.control_plane.table_tags import change_tags, check_count, check_key
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def untag_resource(database: Database, request: Request) -> Answer:
    if not request["TagKeys"]:
        raise ValidationException("Atleast one Tag Key needs to be provided as Input.")
    check_count(len(request["TagKeys"]))
    keys = frozenset(request["TagKeys"])
    for key in request["TagKeys"]:
        check_key(key)
    change_tags(database, request["ResourceArn"], lambda before: [tag for tag in before if tag["Key"] not in keys])
    return {}
