"""The response of every operation, and the errors of unsupported operations."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from tests.engine.tour import ITEM, KEY, Traveller, travel

REJECTED = {
    "CancelBulkOperation": "ValidationException",  # the operation is finished
    "CreateGlobalTable": "ValidationException",  # version 2017 is rejected as on AWS
    "DescribeGlobalTable": "GlobalTableNotFoundException",
    "DescribeGlobalTableSettings": "GlobalTableNotFoundException",
    "DisableKinesisStreamingDestination": "ValidationException",  # there is no Kinesis
    "UpdateGlobalTable": "ValidationException",
    "UpdateGlobalTableSettings": "GlobalTableNotFoundException",
    "UpdateKinesisStreamingDestination": "ValidationException",
}
UPDATED = {**ITEM, "n": {"N": "2"}}
# Operation, path in the first response, value there; None is any value.
RESPONSES: list[tuple[str, str, Any]] = [
    ("BatchExecuteStatement", "Responses.0.Item", ITEM),
    ("BatchGetItem", "Responses.orders.0", UPDATED),
    ("BatchWriteItem", "UnprocessedItems", {}),
    ("CreateBackup", "BackupDetails.BackupStatus", "CREATING"),
    ("CreateTable", "TableDescription.TableStatus", "ACTIVE"),
    ("DeleteBackup", "BackupDescription.BackupDetails.BackupStatus", "DELETED"),
    ("DeleteItem", "Attributes.pk", KEY["pk"]),
    ("DeleteResourcePolicy", "RevisionId", None),
    ("DeleteTable", "TableDescription.TableStatus", "DELETING"),
    ("DescribeBackup", "BackupDescription.SourceTableDetails.ItemCount", 1),
    ("DescribeBulkOperation", "BulkOperationDescription.BulkOperationStatus", "COMPLETED"),
    (
        "DescribeContinuousBackups",
        "ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus",
        "ENABLED",
    ),
    ("DescribeContributorInsights", "ContributorInsightsStatus", "ENABLED"),
    ("DescribeEndpoints", "Endpoints.0.CachePeriodInMinutes", 1440),
    ("DescribeExport", "ExportDescription.ExportStatus", "COMPLETED"),
    ("DescribeImport", "ImportTableDescription.ImportStatus", "COMPLETED"),
    ("DescribeKinesisStreamingDestination", "KinesisDataStreamDestinations.0.DestinationStatus", "ENABLE_FAILED"),
    ("DescribeLimits", "TableMaxReadCapacityUnits", 40_000),
    ("DescribeStream", "StreamDescription.StreamStatus", "ENABLED"),
    ("DescribeTable", "Table.TableStatus", "ACTIVE"),
    ("DescribeTableReplicaAutoScaling", "TableAutoScalingDescription.TableStatus", "ACTIVE"),
    ("DescribeTimeToLive", "TimeToLiveDescription.TimeToLiveStatus", "ENABLED"),
    ("EnableKinesisStreamingDestination", "DestinationStatus", "ENABLING"),
    ("ExecuteStatement", "Items.0", ITEM),
    ("ExecuteTransaction", "Responses.0.Item", ITEM),
    ("ExportTableToPointInTime", "ExportDescription.ExportStatus", "IN_PROGRESS"),
    ("GetItem", "Item", UPDATED),
    ("GetRecords", "Records.0.eventName", "INSERT"),
    ("GetResourcePolicy", "Policy", None),
    ("GetShardIterator", "ShardIterator", None),
    ("ImportTable", "ImportTableDescription.ImportStatus", "IN_PROGRESS"),
    ("ListBackups", "BackupSummaries.0.BackupType", "USER"),
    ("ListBulkOperations", "BulkOperationsSummaryList.0.BulkOperationStatus", None),
    ("ListContributorInsights", "ContributorInsightsSummaries.0.ContributorInsightsStatus", "ENABLED"),
    ("ListExports", "ExportSummaries.0.ExportStatus", None),
    ("ListGlobalTables", "GlobalTables", []),
    ("ListImports", "ImportSummaryList.0.InputFormat", "CSV"),
    ("ListStreams", "Streams.0.TableName", "carts"),
    ("ListTables", "TableNames", ["carts", "orders"]),
    ("ListTagsOfResource", "Tags.0", {"Key": "team", "Value": "shop"}),
    ("PutItem", "ConsumedCapacity.TableName", "orders"),
    ("PutResourcePolicy", "RevisionId", None),
    ("Query", "Items.0", UPDATED),
    ("RestoreTableFromBackup", "TableDescription.RestoreSummary.RestoreInProgress", True),
    ("RestoreTableToPointInTime", "TableDescription.RestoreSummary.RestoreInProgress", True),
    ("Scan", "Items.0", UPDATED),
    ("SearchVectors", "SearchResults.0.Score", 0.0),
    ("StartBulkPutItems", "BulkOperationDescription.BulkOperationStatus", "IN_PROGRESS"),
    ("TagResource", "", {}),
    ("TransactGetItems", "Responses.0.Item", ITEM),
    ("TransactWriteItems", "ConsumedCapacity.0.WriteCapacityUnits", None),
    ("UntagResource", "", {}),
    ("UpdateContinuousBackups", "ContinuousBackupsDescription.ContinuousBackupsStatus", "ENABLED"),
    ("UpdateContributorInsights", "ContributorInsightsStatus", "ENABLING"),
    ("UpdateItem", "Attributes", UPDATED),
    ("UpdateTable", "TableDescription.TableStatus", "ACTIVE"),
    ("UpdateTableReplicaAutoScaling", "TableAutoScalingDescription.TableName", "orders"),
    ("UpdateTimeToLive", "TimeToLiveSpecification", {"Enabled": True, "AttributeName": "n"}),
]


@pytest.fixture(scope="module")
def tour() -> Traveller:
    return travel()


def test_every_operation_has_a_test_case() -> None:
    assert {operation for operation, _, _ in RESPONSES} | REJECTED.keys() == OPERATIONS.keys()


@pytest.mark.parametrize(("operation", "path", "expected"), RESPONSES)
def test_each_operation_returns_the_documented_response(
    tour: Traveller, operation: str, path: str, expected: Any
) -> None:
    response: Any = tour.answers[operation][0]
    steps = path.split(".") if path else []
    found = reduce(lambda value, step: value[int(step)] if isinstance(value, list) else value[step], steps, response)
    assert found == expected if expected is not None else found


@pytest.mark.parametrize(("operation", "error"), REJECTED.items())
def test_unsupported_operations_are_rejected(tour: Traveller, operation: str, error: str) -> None:
    assert tour.errors[operation] == error
