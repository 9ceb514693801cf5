"""Calls all operations and records the members of their responses, for docs/operations.md."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from keyplan.errors import DynamoDBError
from keyplan.store import Engine, Regions
from tests.engine.support import index

START_S = 1_790_000_000.0
ARN = "arn:aws:dynamodb:local:000000000000:table/orders"
KEY: dict[str, Any] = {"pk": {"S": "a"}, "sk": {"S": "b"}}
ITEM: dict[str, Any] = {**KEY, **{name: {"S": name} for name in "ghl"}, "n": {"N": "1"}, "v": {"L": [{"N": "1"}]}}
SIZES = {"ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"}
SOME = {"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["n"]}}
THROUGHPUT = {
    "OnDemandThroughput": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 10},
    "WarmThroughput": {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000},
}
TABLE: dict[str, Any] = {
    "TableName": "orders",
    "KeySchema": index("", "pk", "sk")["KeySchema"],
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "h", "l")],
    "BillingMode": "PAY_PER_REQUEST",
    "LocalSecondaryIndexes": [{**index("ByL", "pk", "l"), **SOME}],
    "GlobalSecondaryIndexes": [{**index("ByG", "g", "h"), **SOME, **THROUGHPUT}],
    **THROUGHPUT,
    "VectorIndexes": [
        {
            "IndexName": "ByV",
            "VectorAttribute": {"AttributeName": "v"},
            "SearchSchema": [{"AttributeName": "g", "SearchSchemaElementType": "HASH"}],
            **SOME,
            "Dimensions": 1,
            "DistanceFunction": "EUCLIDEAN",
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "SSESpecification": {"Enabled": True, "SSEType": "KMS"},
    "TableClass": "STANDARD_INFREQUENT_ACCESS",
    "Tags": [{"Key": "team", "Value": "shop"}],
}


class Traveller:
    """Calls operations, and records their requests and responses."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.answers: dict[str, list[dict[str, Any]]] = {}
        self.errors: dict[str, str] = {}
        self.requests: dict[str, list[dict[str, Any]]] = {}
        """The successful requests."""

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Return the response. If the call fails, return an empty response."""
        try:
            answer = self.engine.call(operation, params)
        except DynamoDBError as error:
            self.errors[operation] = error.type
            return {}
        self.answers.setdefault(operation, []).append(answer)
        self.requests.setdefault(operation, []).append(params)
        return answer


def travel(kind: type[Traveller] = Traveller, start_s: float = START_S) -> Traveller:
    with TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        now = [start_s]

        def clock() -> float:
            now[0] += 1.0
            return now[0]

        s3 = Path(folder)
        (s3 / "bucket" / "in").mkdir(parents=True)
        regions = stack.enter_context(Regions.open(":memory:", ["us-east-1", "us-west-2"], clock=clock, s3=s3))
        engine = regions.engines["us-east-1"]
        traveller = kind(engine)
        _tables(traveller)
        _items(traveller)
        _streams(traveller)
        _backups(traveller)
        _buckets(traveller, s3 / "bucket")
        _settings(traveller)
        return traveller


def _tables(to: Traveller) -> None:
    to.call("CreateTable", **TABLE)
    to.call("CreateTable", **{**TABLE, "TableName": "carts"})
    for pages in ({}, {"Limit": 1}):
        to.call("ListTables", **pages)
    more = {"AttributeDefinitions": [{"AttributeName": "n", "AttributeType": "N"}]}
    to.call("UpdateTable", TableName="carts", GlobalSecondaryIndexUpdates=[{"Create": index("ByN", "n")}], **more)
    to.call("DescribeTable", TableName="orders")
    to.call("DeleteTable", TableName="carts")
    to.call("UpdateTimeToLive", TableName="orders", TimeToLiveSpecification={"Enabled": True, "AttributeName": "n"})
    to.call("DescribeTimeToLive", TableName="orders")
    to.call("DescribeLimits")
    to.call("DescribeEndpoints")
    to.call("TagResource", ResourceArn=ARN, Tags=[{"Key": "a", "Value": "b"}])
    to.call("ListTagsOfResource", ResourceArn=ARN)
    to.call("UntagResource", ResourceArn=ARN, TagKeys=["a"])


def _items(to: Traveller) -> None:
    unit = {"ReturnConsumedCapacity": "INDEXES"}
    to.call("PutItem", TableName="orders", Item=ITEM, **SIZES)
    to.call("PutItem", TableName="orders", Item=ITEM, ReturnValues="ALL_OLD", **SIZES)
    update = {"UpdateExpression": "SET n = n + :o", "ExpressionAttributeValues": {":o": {"N": "1"}}}
    to.call("UpdateItem", TableName="orders", Key=KEY, ReturnValues="ALL_NEW", **update, **SIZES)
    to.call("GetItem", TableName="orders", Key=KEY, **unit)
    condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}
    by_l = {"IndexName": "ByL", "Select": "ALL_ATTRIBUTES"}
    to.call("Query", TableName="orders", Limit=1, **condition, **by_l, **unit)
    to.call("Query", TableName="orders", **condition, **unit)
    for where in ({}, {"IndexName": "ByG"}, {"IndexName": "ByL"}):
        to.call("Scan", TableName="orders", Limit=1, **where, **unit)
    near = {"SearchConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": {"S": "g"}}}
    to.call("SearchVectors", TableName="orders", IndexName="ByV", SearchVector=[{"N": "1"}], TopK=1, **near, **unit)
    to.call("BatchGetItem", RequestItems={"orders": {"Keys": [KEY]}}, **unit)
    to.call("BatchWriteItem", RequestItems={"orders": [{"PutRequest": {"Item": ITEM}}]}, **SIZES)
    to.call("TransactGetItems", TransactItems=[{"Get": {"TableName": "orders", "Key": KEY}}], **unit)
    to.call("TransactWriteItems", TransactItems=[{"Put": {"TableName": "orders", "Item": ITEM}}], **SIZES)
    statement = "SELECT * FROM \"orders\" WHERE pk = 'a'"
    to.call("ExecuteStatement", Statement=statement, Limit=1, **unit)
    element = {"Statement": f"{statement} AND sk = 'b'"}
    to.call("BatchExecuteStatement", Statements=[element, {"Statement": "?"}], **unit)
    to.call("ExecuteTransaction", TransactStatements=[element], **unit)
    large = [{**ITEM, "sk": {"S": f"{number:03d}"}, "x": {"S": "x" * 390_000}} for number in range(45)]
    for item in large:
        to.call("PutItem", TableName="orders", Item=item)
    keys = [{name: item[name] for name in KEY} for item in large]
    to.call("BatchGetItem", RequestItems={"orders": {"Keys": keys}}, **unit)
    for key in keys:
        to.call("DeleteItem", TableName="orders", Key=key, ReturnValues="ALL_OLD", **SIZES)


def _streams(to: Traveller) -> None:
    for pages in ({}, {"Limit": 1}):
        to.call("ListStreams", **pages)
    arn = to.engine.call("DescribeTable", {"TableName": "orders"})["Table"]["LatestStreamArn"]
    shards = to.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    where = {"StreamArn": arn, "ShardId": shards[0]["ShardId"]}
    iterator = to.call("GetShardIterator", ShardIteratorType="TRIM_HORIZON", **where)["ShardIterator"]
    to.call("GetRecords", ShardIterator=iterator)
    kinesis = "arn:aws:kinesis:eu-west-1:123456789012:stream/changes"
    given = {"TableName": "orders", "StreamArn": kinesis}
    precision = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    to.call("EnableKinesisStreamingDestination", **given, EnableKinesisStreamingConfiguration=precision)
    to.call("UpdateKinesisStreamingDestination", **given, UpdateKinesisStreamingConfiguration=precision)
    to.call("DescribeKinesisStreamingDestination", TableName="orders")
    to.call("DisableKinesisStreamingDestination", **given, EnableKinesisStreamingConfiguration=precision)


def _backups(to: Traveller) -> None:
    details = to.call("CreateBackup", TableName="orders", BackupName="first")["BackupDetails"]
    to.call("CreateBackup", TableName="orders", BackupName="second")
    to.call("DescribeBackup", BackupArn=details["BackupArn"])
    for pages in ({}, {"Limit": 1}):
        to.call("ListBackups", **pages)
    to.call("RestoreTableFromBackup", BackupArn=details["BackupArn"], TargetTableName="again")
    to.call("DeleteBackup", BackupArn=details["BackupArn"])
    on = {"PointInTimeRecoveryEnabled": True}
    to.call("UpdateContinuousBackups", TableName="orders", PointInTimeRecoverySpecification=on)
    to.call("DescribeContinuousBackups", TableName="orders")
    names = {"SourceTableName": "orders", "TargetTableName": "before"}
    to.call("RestoreTableToPointInTime", **names, UseLatestRestorableTime=True)


def _buckets(to: Traveller, bucket: Path) -> None:
    given = {"TableArn": ARN, "S3Bucket": "bucket", "S3Prefix": "out", "S3SseAlgorithm": "KMS", "S3SseKmsKeyId": "key"}
    given |= {"S3BucketOwner": "123456789012", "ClientToken": "t"}
    incremental = {"ExportFromTime": START_S + 1, "ExportToTime": START_S + 500, "ExportViewType": "NEW_IMAGE"}
    described = to.call("ExportTableToPointInTime", **given)["ExportDescription"]
    to.call("DescribeExport", ExportArn=described["ExportArn"])
    period = to.call("DescribeContinuousBackups", TableName="orders")["ContinuousBackupsDescription"]
    since = period["PointInTimeRecoveryDescription"]["EarliestRestorableDateTime"]
    incremental |= {"ExportFromTime": since, "ExportToTime": since + 1}
    asked = {**given, "ClientToken": "u", "ExportType": "INCREMENTAL_EXPORT"}
    described = to.call("ExportTableToPointInTime", **asked, IncrementalExportSpecification=incremental)
    to.call("DescribeExport", ExportArn=described["ExportDescription"]["ExportArn"])
    failed = to.call("ExportTableToPointInTime", TableArn=ARN, S3Bucket="nowhere")
    to.call("DescribeExport", ExportArn=failed["ExportDescription"]["ExportArn"])
    for pages in ({}, {"MaxResults": 1}):
        to.call("ListExports", **pages)
    (bucket / "in" / "one.csv").write_text("pk,sk\na,b\n", encoding="utf-8")
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "S3BucketOwner": "123456789012"}
    options = {"Csv": {"Delimiter": ",", "HeaderList": ["pk", "sk"]}}
    target = {name: TABLE[name] for name in ("KeySchema", "AttributeDefinitions", "BillingMode")}
    target |= {name: TABLE[name] for name in ("GlobalSecondaryIndexes", "OnDemandThroughput", "SSESpecification")}
    target |= {"AttributeDefinitions": [each for each in TABLE["AttributeDefinitions"] if each["AttributeName"] != "l"]}
    for name in ("new", "new"):
        wanted = {"TableCreationParameters": {**target, "TableName": name}, "S3BucketSource": source}
        form = {"InputFormat": "CSV", "InputFormatOptions": options, "InputCompressionType": "NONE"}
        described = to.call("ImportTable", **wanted, **form, ClientToken="new")
        if described:
            to.call("DescribeImport", ImportArn=described["ImportTableDescription"]["ImportArn"])
    broken = {**wanted, "S3BucketSource": {**source, "S3Bucket": "nowhere"}}
    broken["TableCreationParameters"] = {**target, "TableName": "other"}
    described = to.call("ImportTable", **broken, **form, ClientToken="other")
    to.call("DescribeImport", ImportArn=described["ImportTableDescription"]["ImportArn"])
    for pages in ({}, {"PageSize": 1}):
        to.call("ListImports", **pages)
    _bulk(to, bucket)


def _bulk(to: Traveller, bucket: Path) -> None:
    (bucket / "bulk").mkdir()
    (bucket / "bulk" / "one").write_text(json.dumps({"Item": ITEM}) + "\n", encoding="utf-8")
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "bulk/", "InputFormat": "DYNAMODB_JSON"}
    source |= {"S3BucketOwner": "123456789012", "InputCompressionType": "NONE"}
    target = {"S3Bucket": "bucket", "S3KeyPrefix": "reports", "OutputType": ["ERROR"], "S3BucketOwner": "123456789012"}
    for place in (source, {**source, "S3Bucket": "nowhere"}):
        begun = to.call(
            "StartBulkPutItems", TableName="orders", InputS3Configuration=place, OutputS3Configuration=target
        )
        if begun:
            to.call("DescribeBulkOperation", BulkOperationArn=begun["BulkOperationDescription"]["BulkOperationArn"])
            to.call("CancelBulkOperation", BulkOperationArn=begun["BulkOperationDescription"]["BulkOperationArn"])
    for pages in ({}, {"MaxResults": 1}):
        to.call("ListBulkOperations", **pages)


def _settings(to: Traveller) -> None:
    statement = {"Effect": "Allow", "Principal": {"AWS": "111122223333"}, "Action": "dynamodb:GetItem", "Resource": ARN}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    to.call("PutResourcePolicy", ResourceArn=ARN, Policy=policy)
    to.call("GetResourcePolicy", ResourceArn=ARN)
    to.call("DeleteResourcePolicy", ResourceArn=ARN)
    to.call("UpdateContributorInsights", TableName="orders", ContributorInsightsAction="ENABLE")
    to.call("UpdateContributorInsights", TableName="orders", IndexName="ByG", ContributorInsightsAction="ENABLE")
    to.call("DescribeContributorInsights", TableName="orders", IndexName="ByG")
    for pages in ({}, {"MaxResults": 1}):
        to.call("ListContributorInsights", **pages)
    to.call("DescribeTableReplicaAutoScaling", TableName="orders")
    to.call("UpdateTableReplicaAutoScaling", TableName="orders")
    to.call("UpdateTable", TableName="orders", ReplicaUpdates=[{"Create": {"RegionName": "us-west-2"}}])
    to.call("DescribeTable", TableName="orders")
    to.call("UpdateTableReplicaAutoScaling", TableName="orders")
    to.call("DescribeTableReplicaAutoScaling", TableName="orders")
    replicas = [{"RegionName": "eu-west-1"}]
    to.call("CreateGlobalTable", GlobalTableName="orders", ReplicationGroup=replicas)
    to.call("DescribeGlobalTable", GlobalTableName="orders")
    to.call("DescribeGlobalTableSettings", GlobalTableName="orders")
    to.call("ListGlobalTables")
    to.call("UpdateGlobalTable", GlobalTableName="orders", ReplicaUpdates=[{"Create": replicas[0]}])
    to.call("UpdateGlobalTableSettings", GlobalTableName="orders")
