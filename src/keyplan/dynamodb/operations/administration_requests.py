"""Requests of operations that manage tables: policies, insights, replicas, auto scaling, backups, exports, imports and
bulk operations. Members and limits are those of the API reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keyplan.dynamodb import limits
from keyplan.dynamodb.operations import members
from keyplan.dynamodb.operations.shapes import ListOf, Real, Shape, Structure, Text, Whole, structure

NAME = Text(limits.TABLE_NAME_MIN, limits.TABLE_NAME_MAX, limits.NAME_PATTERN)
"""The name of a new resource, for which an ARN isn't accepted."""
_LENGTH = f"at least {limits.TABLE_NAME_MIN} characters long and at most {limits.TABLE_NAME_MAX} characters long"
_TARGET = replace(NAME, length_message=f"TableName must be {_LENGTH}")
_INSIGHTS_INDEX = replace(members.INDEX_NAME, length_message=f"IndexName must be {_LENGTH}")
ARN_OF_TABLE = Text(1, 1024)
ARN_OF_JOB = Text(37, 1024)
BUCKET = Text(None, 255, r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$", like=r"[a-z0-9A-Z][\.\-\w]*[a-z0-9A-Z]")
OWNER = Text(pattern="[0-9]{12}")
PREFIX = Text(None, 1024)
REVISION = Text(1, 255)
COMPRESSION = Text(enum=("ZSTD", "NONE", "GZIP"))
PAGE_TOKEN = Text(1, 1024, "([0-9a-f]{16})+")
INSIGHTS_MODE = Text(enum=("THROTTLED_KEYS", "ACCESSED_AND_THROTTLED_KEYS"))

_TABLE: dict[str, Shape] = {"TableName": members.MANAGED_TABLE}
_GLOBAL_TABLE: dict[str, Shape] = {"GlobalTableName": _TARGET}
_REGION = structure({"RegionName": members.TEXT})
_REGIONS = ListOf(structure(RegionName=members.TEXT))

_POLICY_UPDATE = structure(
    {
        "TargetTrackingScalingPolicyConfiguration": structure(
            {"TargetValue": Real()},
            DisableScaleIn=members.FLAG,
            ScaleInCooldown=Whole(bits=32),
            ScaleOutCooldown=Whole(bits=32),
        )
    },
    PolicyName=Text(1, 256),
)
SCALING = structure(
    MinimumUnits=Whole(1),
    MaximumUnits=Whole(1),
    AutoScalingDisabled=members.FLAG,
    AutoScalingRoleArn=Text(1, 1600),
    ScalingPolicyUpdate=_POLICY_UPDATE,
)

_RESTORE: dict[str, Shape] = {
    "BillingModeOverride": members.BILLING_MODE,
    "GlobalSecondaryIndexOverride": ListOf(members.GLOBAL_INDEX),
    "LocalSecondaryIndexOverride": ListOf(members.LOCAL_INDEX),
    "ProvisionedThroughputOverride": members.THROUGHPUT,
    "OnDemandThroughputOverride": members.ON_DEMAND,
    "SSESpecificationOverride": members.ENCRYPTION,
    "VectorIndexOverride": ListOf(members.VECTOR_INDEX),
}

_HEADER = Text(1, 65_536, r"[\x20-\x21\x23-\x2B\x2D-\x7E]*")
_ENCRYPTED: dict[str, Shape] = {"S3SseAlgorithm": Text(enum=("AES256", "KMS")), "S3SseKmsKeyId": Text(1, 2048)}

REQUESTS: Mapping[str, Structure] = {
    # resource-based policies
    "PutResourcePolicy": structure(
        {"ResourceArn": members.ARN, "Policy": members.TEXT},
        ExpectedRevisionId=REVISION,
        ConfirmRemoveSelfResourceAccess=members.FLAG,
    ),
    "GetResourcePolicy": structure({"ResourceArn": members.ARN}),
    "DeleteResourcePolicy": structure({"ResourceArn": members.ARN}, ExpectedRevisionId=REVISION),
    # Contributor Insights
    "DescribeContributorInsights": structure(_TABLE, IndexName=_INSIGHTS_INDEX),
    "ListContributorInsights": structure(
        TableName=members.MANAGED_TABLE, NextToken=members.TEXT, MaxResults=Whole(None, 100, bits=32)
    ),
    "UpdateContributorInsights": structure(
        {**_TABLE, "ContributorInsightsAction": Text(enum=("ENABLE", "DISABLE"))},
        IndexName=_INSIGHTS_INDEX,
        ContributorInsightsMode=INSIGHTS_MODE,
    ),
    # global tables
    "CreateGlobalTable": structure({**_GLOBAL_TABLE, "ReplicationGroup": _REGIONS}),
    "DescribeGlobalTable": structure(_GLOBAL_TABLE),
    "DescribeGlobalTableSettings": structure(_GLOBAL_TABLE),
    "ListGlobalTables": structure(ExclusiveStartGlobalTableName=NAME, Limit=Whole(1, bits=32), RegionName=members.TEXT),
    "UpdateGlobalTable": structure(
        {**_GLOBAL_TABLE, "ReplicaUpdates": ListOf(structure(Create=_REGION, Delete=_REGION))}
    ),
    "UpdateGlobalTableSettings": structure(
        _GLOBAL_TABLE,
        GlobalTableBillingMode=members.BILLING_MODE,
        GlobalTableProvisionedWriteCapacityUnits=Whole(1),
        GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate=SCALING,
        GlobalTableGlobalSecondaryIndexSettingsUpdate=ListOf(
            structure(
                {"IndexName": members.INDEX_NAME},
                ProvisionedWriteCapacityUnits=Whole(1),
                ProvisionedWriteCapacityAutoScalingSettingsUpdate=SCALING,
            ),
            1,
            20,
        ),
        ReplicaSettingsUpdate=ListOf(
            structure(
                {"RegionName": members.TEXT},
                ReplicaProvisionedReadCapacityUnits=Whole(1),
                ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate=SCALING,
                ReplicaGlobalSecondaryIndexSettingsUpdate=ListOf(
                    structure(
                        {"IndexName": members.INDEX_NAME},
                        ProvisionedReadCapacityUnits=Whole(1),
                        ProvisionedReadCapacityAutoScalingSettingsUpdate=SCALING,
                    ),
                    1,
                    20,
                ),
                ReplicaTableClass=members.TABLE_CLASS,
            ),
            1,
            50,
        ),
    ),
    "DescribeTableReplicaAutoScaling": structure(_TABLE),
    "UpdateTableReplicaAutoScaling": structure(
        _TABLE,
        GlobalSecondaryIndexUpdates=ListOf(
            structure(IndexName=members.INDEX_NAME, ProvisionedWriteCapacityAutoScalingUpdate=SCALING), 1
        ),
        ProvisionedWriteCapacityAutoScalingUpdate=SCALING,
        ReplicaUpdates=ListOf(
            structure(
                {"RegionName": members.TEXT},
                ReplicaGlobalSecondaryIndexUpdates=ListOf(
                    structure(IndexName=members.INDEX_NAME, ProvisionedReadCapacityAutoScalingUpdate=SCALING)
                ),
                ReplicaProvisionedReadCapacityAutoScalingUpdate=SCALING,
            ),
            1,
        ),
    ),
    # backups
    "CreateBackup": structure({**_TABLE, "BackupName": NAME}),
    "DescribeBackup": structure({"BackupArn": members.TEXT}),
    "DeleteBackup": structure({"BackupArn": members.TEXT}),
    "ListBackups": structure(
        TableName=members.MANAGED_TABLE,
        Limit=Whole(1, 100, bits=32),
        TimeRangeLowerBound=members.TIME,
        TimeRangeUpperBound=members.TIME,
        ExclusiveStartBackupArn=ARN_OF_JOB,
        BackupType=Text(enum=("USER", "SYSTEM", "AWS_BACKUP", "ALL")),
    ),
    "RestoreTableFromBackup": structure({"TargetTableName": _TARGET, "BackupArn": ARN_OF_JOB}, **_RESTORE),
    "UpdateContinuousBackups": structure(
        {
            **_TABLE,
            "PointInTimeRecoverySpecification": structure(
                {"PointInTimeRecoveryEnabled": members.FLAG}, RecoveryPeriodInDays=Whole(1, 35, bits=32)
            ),
        }
    ),
    "DescribeContinuousBackups": structure(_TABLE),
    "RestoreTableToPointInTime": structure(
        {"TargetTableName": _TARGET},
        SourceTableArn=ARN_OF_TABLE,
        SourceTableName=NAME,
        UseLatestRestorableTime=members.FLAG,
        RestoreDateTime=members.TIME,
        **_RESTORE,
    ),
    # exports and imports
    "ExportTableToPointInTime": structure(
        {"TableArn": members.TEXT, "S3Bucket": BUCKET},
        ExportTime=members.TIME,
        ClientToken=members.TOKEN,
        S3BucketOwner=OWNER,
        S3Prefix=PREFIX,
        **_ENCRYPTED,
        ExportFormat=Text(enum=("DYNAMODB_JSON", "ION")),
        ExportType=Text(enum=("FULL_EXPORT", "INCREMENTAL_EXPORT")),
        IncrementalExportSpecification=structure(
            ExportFromTime=members.TIME,
            ExportToTime=members.TIME,
            ExportViewType=Text(enum=("NEW_IMAGE", "NEW_AND_OLD_IMAGES")),
        ),
        FilterSpecification=structure(
            None,
            FilterExpression=members.TEXT,
            ProjectionExpression=members.TEXT,
            KeyConditionExpression=members.TEXT,
            **members.PLACEHOLDERS,
        ),
    ),
    "DescribeExport": structure({"ExportArn": ARN_OF_JOB}),
    "ListExports": structure(TableArn=ARN_OF_TABLE, MaxResults=Whole(1, 25, bits=32), NextToken=members.TEXT),
    "ImportTable": structure(
        {
            "S3BucketSource": structure({"S3Bucket": BUCKET}, S3BucketOwner=OWNER, S3KeyPrefix=PREFIX),
            "InputFormat": Text(enum=("DYNAMODB_JSON", "ION", "CSV")),
            "TableCreationParameters": structure(
                {"TableName": NAME, "AttributeDefinitions": members.ATTRIBUTES, "KeySchema": members.TABLE_KEY_SCHEMA},
                BillingMode=members.BILLING_MODE,
                ProvisionedThroughput=members.THROUGHPUT,
                OnDemandThroughput=members.ON_DEMAND,
                SSESpecification=members.ENCRYPTION,
                GlobalSecondaryIndexes=ListOf(members.GLOBAL_INDEX),
                VectorIndexes=ListOf(members.VECTOR_INDEX),
            ),
            "ClientToken": members.TOKEN,
        },
        InputFormatOptions=structure(
            Csv=structure(Delimiter=Text(1, 1, r"[,;:|\t ]"), HeaderList=ListOf(_HEADER, 1, 255))
        ),
        InputCompressionType=COMPRESSION,
    ),
    "DescribeImport": structure({"ImportArn": ARN_OF_JOB}),
    "ListImports": structure(
        TableArn=ARN_OF_TABLE, PageSize=Whole(1, 25, bits=32), NextToken=Text(112, 1024, "([0-9a-f]{16})+")
    ),
    # bulk operations
    "StartBulkPutItems": structure(
        {
            "InputS3Configuration": structure(
                {"S3Bucket": BUCKET, "InputFormat": Text(enum=("DYNAMODB_JSON", "ION"))},
                S3BucketOwner=OWNER,
                S3KeyPrefix=PREFIX,
                InputCompressionType=COMPRESSION,
            ),
            "OutputS3Configuration": structure(
                {"OutputType": ListOf(Text(enum=("ERROR", "CONDITION_CHECK_FAILURE")))},
                S3BucketOwner=OWNER,
                S3Bucket=BUCKET,
                S3KeyPrefix=PREFIX,
                **_ENCRYPTED,
            ),
            "TableName": members.MANAGED_TABLE,
        },
        ClientToken=members.TOKEN,
        MaxWriteRequestUnits=Whole(1024),
        PerformanceTier=Text(enum=("STANDARD", "ACCELERATED")),
    ),
    "DescribeBulkOperation": structure({"BulkOperationArn": ARN_OF_JOB}),
    "ListBulkOperations": structure(MaxResults=Whole(1, 25, bits=32), NextToken=PAGE_TOKEN),
    "CancelBulkOperation": structure({"BulkOperationArn": ARN_OF_JOB}),
}
"""The shape of each of these operations' requests."""
