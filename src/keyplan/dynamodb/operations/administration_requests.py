"""Requests of operations that manage tables: policies, insights, replicas, auto scaling, backups, exports, imports and
bulk operations. Members and limits are those of the API reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keyplan.dynamodb import limits
from keyplan.dynamodb.operations.members import (
    ARN,
    ATTRIBUTES,
    BILLING_MODE,
    ENCRYPTION,
    FLAG,
    GLOBAL_INDEX,
    INDEX_NAME,
    LOCAL_INDEX,
    MANAGED_TABLE,
    ON_DEMAND,
    PLACEHOLDERS,
    TABLE_CLASS,
    TABLE_KEY_SCHEMA,
    TEXT,
    THROUGHPUT,
    TIME,
    TOKEN,
    VECTOR_INDEX,
)
from keyplan.dynamodb.operations.shapes import ListOf, Real, Shape, Structure, Text, Whole, structure

NAME = Text(limits.TABLE_NAME_MIN, limits.TABLE_NAME_MAX, limits.NAME_PATTERN)
"""The name of a new resource, for which an ARN isn't accepted."""
_LENGTH = f"at least {limits.TABLE_NAME_MIN} characters long and at most {limits.TABLE_NAME_MAX} characters long"
_TARGET = replace(NAME, length_message=f"TableName must be {_LENGTH}")
_INSIGHTS_INDEX = replace(INDEX_NAME, length_message=f"IndexName must be {_LENGTH}")
ARN_OF_TABLE = Text(1, 1024)
ARN_OF_JOB = Text(37, 1024)
BUCKET = Text(None, 255, r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$", like=r"[a-z0-9A-Z][\.\-\w]*[a-z0-9A-Z]")
OWNER = Text(pattern="[0-9]{12}")
PREFIX = Text(None, 1024)
REVISION = Text(1, 255)
COMPRESSION = Text(enum=("ZSTD", "NONE", "GZIP"))
PAGE_TOKEN = Text(1, 1024, "([0-9a-f]{16})+")
INSIGHTS_MODE = Text(enum=("THROTTLED_KEYS", "ACCESSED_AND_THROTTLED_KEYS"))

_TABLE: dict[str, Shape] = {"TableName": MANAGED_TABLE}
_GLOBAL_TABLE: dict[str, Shape] = {"GlobalTableName": _TARGET}
_REGION = structure({"RegionName": TEXT})
_REGIONS = ListOf(structure(RegionName=TEXT))

_POLICY_UPDATE = structure(
    {
        "TargetTrackingScalingPolicyConfiguration": structure(
            {"TargetValue": Real()},
            DisableScaleIn=FLAG,
            ScaleInCooldown=Whole(bits=32),
            ScaleOutCooldown=Whole(bits=32),
        )
    },
    PolicyName=Text(1, 256),
)
SCALING = structure(
    MinimumUnits=Whole(1),
    MaximumUnits=Whole(1),
    AutoScalingDisabled=FLAG,
    AutoScalingRoleArn=Text(1, 1600),
    ScalingPolicyUpdate=_POLICY_UPDATE,
)

_RESTORE: dict[str, Shape] = {
    "BillingModeOverride": BILLING_MODE,
    "GlobalSecondaryIndexOverride": ListOf(GLOBAL_INDEX),
    "LocalSecondaryIndexOverride": ListOf(LOCAL_INDEX),
    "ProvisionedThroughputOverride": THROUGHPUT,
    "OnDemandThroughputOverride": ON_DEMAND,
    "SSESpecificationOverride": ENCRYPTION,
    "VectorIndexOverride": ListOf(VECTOR_INDEX),
}

_HEADER = Text(1, 65_536, r"[\x20-\x21\x23-\x2B\x2D-\x7E]*")
_ENCRYPTED: dict[str, Shape] = {"S3SseAlgorithm": Text(enum=("AES256", "KMS")), "S3SseKmsKeyId": Text(1, 2048)}

REQUESTS: Mapping[str, Structure] = {
    # resource-based policies
    "PutResourcePolicy": structure(
        {"ResourceArn": ARN, "Policy": TEXT}, ExpectedRevisionId=REVISION, ConfirmRemoveSelfResourceAccess=FLAG
    ),
    "GetResourcePolicy": structure({"ResourceArn": ARN}),
    "DeleteResourcePolicy": structure({"ResourceArn": ARN}, ExpectedRevisionId=REVISION),
    # Contributor Insights
    "DescribeContributorInsights": structure(_TABLE, IndexName=_INSIGHTS_INDEX),
    "ListContributorInsights": structure(TableName=MANAGED_TABLE, NextToken=TEXT, MaxResults=Whole(None, 100, bits=32)),
    "UpdateContributorInsights": structure(
        {**_TABLE, "ContributorInsightsAction": Text(enum=("ENABLE", "DISABLE"))},
        IndexName=_INSIGHTS_INDEX,
        ContributorInsightsMode=INSIGHTS_MODE,
    ),
    # global tables
    "CreateGlobalTable": structure({**_GLOBAL_TABLE, "ReplicationGroup": _REGIONS}),
    "DescribeGlobalTable": structure(_GLOBAL_TABLE),
    "DescribeGlobalTableSettings": structure(_GLOBAL_TABLE),
    "ListGlobalTables": structure(ExclusiveStartGlobalTableName=NAME, Limit=Whole(1, bits=32), RegionName=TEXT),
    "UpdateGlobalTable": structure(
        {**_GLOBAL_TABLE, "ReplicaUpdates": ListOf(structure(Create=_REGION, Delete=_REGION))}
    ),
    "UpdateGlobalTableSettings": structure(
        _GLOBAL_TABLE,
        GlobalTableBillingMode=BILLING_MODE,
        GlobalTableProvisionedWriteCapacityUnits=Whole(1),
        GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate=SCALING,
        GlobalTableGlobalSecondaryIndexSettingsUpdate=ListOf(
            structure(
                {"IndexName": INDEX_NAME},
                ProvisionedWriteCapacityUnits=Whole(1),
                ProvisionedWriteCapacityAutoScalingSettingsUpdate=SCALING,
            ),
            1,
            20,
        ),
        ReplicaSettingsUpdate=ListOf(
            structure(
                {"RegionName": TEXT},
                ReplicaProvisionedReadCapacityUnits=Whole(1),
                ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate=SCALING,
                ReplicaGlobalSecondaryIndexSettingsUpdate=ListOf(
                    structure(
                        {"IndexName": INDEX_NAME},
                        ProvisionedReadCapacityUnits=Whole(1),
                        ProvisionedReadCapacityAutoScalingSettingsUpdate=SCALING,
                    ),
                    1,
                    20,
                ),
                ReplicaTableClass=TABLE_CLASS,
            ),
            1,
            50,
        ),
    ),
    "DescribeTableReplicaAutoScaling": structure(_TABLE),
    "UpdateTableReplicaAutoScaling": structure(
        _TABLE,
        GlobalSecondaryIndexUpdates=ListOf(
            structure(IndexName=INDEX_NAME, ProvisionedWriteCapacityAutoScalingUpdate=SCALING), 1
        ),
        ProvisionedWriteCapacityAutoScalingUpdate=SCALING,
        ReplicaUpdates=ListOf(
            structure(
                {"RegionName": TEXT},
                ReplicaGlobalSecondaryIndexUpdates=ListOf(
                    structure(IndexName=INDEX_NAME, ProvisionedReadCapacityAutoScalingUpdate=SCALING)
                ),
                ReplicaProvisionedReadCapacityAutoScalingUpdate=SCALING,
            ),
            1,
        ),
    ),
    # backups
    "CreateBackup": structure({**_TABLE, "BackupName": NAME}),
    "DescribeBackup": structure({"BackupArn": TEXT}),
    "DeleteBackup": structure({"BackupArn": TEXT}),
    "ListBackups": structure(
        TableName=MANAGED_TABLE,
        Limit=Whole(1, 100, bits=32),
        TimeRangeLowerBound=TIME,
        TimeRangeUpperBound=TIME,
        ExclusiveStartBackupArn=ARN_OF_JOB,
        BackupType=Text(enum=("USER", "SYSTEM", "AWS_BACKUP", "ALL")),
    ),
    "RestoreTableFromBackup": structure({"TargetTableName": _TARGET, "BackupArn": ARN_OF_JOB}, **_RESTORE),
    "UpdateContinuousBackups": structure(
        {
            **_TABLE,
            "PointInTimeRecoverySpecification": structure(
                {"PointInTimeRecoveryEnabled": FLAG}, RecoveryPeriodInDays=Whole(1, 35, bits=32)
            ),
        }
    ),
    "DescribeContinuousBackups": structure(_TABLE),
    "RestoreTableToPointInTime": structure(
        {"TargetTableName": _TARGET},
        SourceTableArn=ARN_OF_TABLE,
        SourceTableName=NAME,
        UseLatestRestorableTime=FLAG,
        RestoreDateTime=TIME,
        **_RESTORE,
    ),
    # exports and imports
    "ExportTableToPointInTime": structure(
        {"TableArn": TEXT, "S3Bucket": BUCKET},
        ExportTime=TIME,
        ClientToken=TOKEN,
        S3BucketOwner=OWNER,
        S3Prefix=PREFIX,
        **_ENCRYPTED,
        ExportFormat=Text(enum=("DYNAMODB_JSON", "ION")),
        ExportType=Text(enum=("FULL_EXPORT", "INCREMENTAL_EXPORT")),
        IncrementalExportSpecification=structure(
            ExportFromTime=TIME, ExportToTime=TIME, ExportViewType=Text(enum=("NEW_IMAGE", "NEW_AND_OLD_IMAGES"))
        ),
        FilterSpecification=structure(
            None, FilterExpression=TEXT, ProjectionExpression=TEXT, KeyConditionExpression=TEXT, **PLACEHOLDERS
        ),
    ),
    "DescribeExport": structure({"ExportArn": ARN_OF_JOB}),
    "ListExports": structure(TableArn=ARN_OF_TABLE, MaxResults=Whole(1, 25, bits=32), NextToken=TEXT),
    "ImportTable": structure(
        {
            "S3BucketSource": structure({"S3Bucket": BUCKET}, S3BucketOwner=OWNER, S3KeyPrefix=PREFIX),
            "InputFormat": Text(enum=("DYNAMODB_JSON", "ION", "CSV")),
            "TableCreationParameters": structure(
                {"TableName": NAME, "AttributeDefinitions": ATTRIBUTES, "KeySchema": TABLE_KEY_SCHEMA},
                BillingMode=BILLING_MODE,
                ProvisionedThroughput=THROUGHPUT,
                OnDemandThroughput=ON_DEMAND,
                SSESpecification=ENCRYPTION,
                GlobalSecondaryIndexes=ListOf(GLOBAL_INDEX),
                VectorIndexes=ListOf(VECTOR_INDEX),
            ),
            "ClientToken": TOKEN,
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
            "TableName": MANAGED_TABLE,
        },
        ClientToken=TOKEN,
        MaxWriteRequestUnits=Whole(1024),
        PerformanceTier=Text(enum=("STANDARD", "ACCELERATED")),
    ),
    "DescribeBulkOperation": structure({"BulkOperationArn": ARN_OF_JOB}),
    "ListBulkOperations": structure(MaxResults=Whole(1, 25, bits=32), NextToken=PAGE_TOKEN),
    "CancelBulkOperation": structure({"BulkOperationArn": ARN_OF_JOB}),
}
"""The shape of each of these operations' requests."""
