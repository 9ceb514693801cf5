"""Too many stream readers.

At most two processes can read a shard of a stream concurrently. On a global table, the limit is one process, because
replication also reads the stream. More readers are throttled. The rule uses ``stream_readers`` in the traffic file.

Forward the records from one reader (EventBridge Pipes, a queue), or use Kinesis Data Streams for DynamoDB.

See DynamoDB Streams in "Service, account, and table quotas in Amazon DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject


def _find(subject: Subject) -> Remarks:
    table = subject.traffic.table
    most = 1 if table.replicas else 2
    if table.stream is not None and table.stream_readers is not None and table.stream_readers > most:
        message = f"the stream has {table.stream_readers} readers, but a shard supports at most {most}"
        hint = "forward the records from one reader, or use Kinesis Data Streams for DynamoDB"
        arithmetic = (f"{table.stream_readers} readers > {most} for {'a global' if table.replicas else 'a'} table",)
        yield Remark(subject.table_place, message, hint, arithmetic)


RULE = Rule("KP603", Severity.WARNING, _find, __name__, __doc__)
