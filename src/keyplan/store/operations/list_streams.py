"""ListStreams: the streams of one or all tables, including streams disabled or deleted in the last 24 hours."""

from __future__ import annotations

from keyplan.store.arns import stream_arn
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.streams import check_arn, is_over

STREAMS_MAX = 100


def list_streams(database: Database, request: Request) -> Answer:
    start = ("", "")
    if request.get("ExclusiveStartStreamArn") is not None:
        start = check_arn(request["ExclusiveStartStreamArn"])
    limit = request.get("Limit") or STREAMS_MAX
    table = request.get("TableName")
    now_s = database.clock()
    listed = [
        {
            "StreamArn": stream_arn(database.region, stream.table, stream.label),
            "TableName": stream.table,
            "StreamLabel": stream.label,
        }
        for stream in database.storage.read(lambda reader: reader.changes.streams())
        if not is_over(stream, now_s) and table in {None, stream.table} and (stream.table, stream.label) > start
    ]
    answer: Answer = {"Streams": listed[:limit]}
    if len(listed) > limit:
        answer["LastEvaluatedStreamArn"] = listed[limit - 1]["StreamArn"]
    return answer
