"""The table of operations: for each, its request's members with their types and limits.

This is the only list of operations. It drives validation (``Operation.validate``), the engine's dispatch,
the server's, and the documentation. Members and limits are those of the API reference. Legacy parameters
(``Expected``, ``KeyConditions``...) and those of features that aren't there stand apart: they are recognised and
refused. So are the operations that aren't there (``NOT_THERE``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from keyplan.wire import administration, limits, streams
from keyplan.wire.errors import UnknownOperationException, ValidationException, one_or_more
from keyplan.wire.members import (
    ARN,
    ATTRIBUTES,
    FLAG,
    GLOBAL_INDEX,
    INDEX_NAME,
    INDEX_UPDATE,
    ITEM,
    KEY_SCHEMA,
    LOCAL_INDEX,
    NAMES,
    PLACEHOLDERS,
    RETURN_CONSUMED,
    RETURN_METRICS,
    RETURN_ON_FAILURE,
    RETURN_VALUES,
    SELECT,
    TABLE_NAME,
    TABLE_SETTINGS,
    TAGS,
    TEXT,
)
from keyplan.wire.shapes import (
    Check,
    ListOf,
    MapOf,
    Shape,
    Structure,
    Text,
    Value,
    Whole,
    compile_check,
    explain,
    structure,
)

Kind = Literal["table", "read", "write", "stream"]
Api = Literal["DynamoDB", "DynamoDBStreams"]
"""The API that an operation belongs to; both are served on one port, and have no operation in common."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API: its name, its kind and the shape of its request."""

    name: str
    kind: Kind
    request: Structure
    legacy: tuple[str, ...] = ()
    """Legacy parameters, which are refused, in the order AWS names them."""
    expressions: tuple[str, ...] = ()
    not_there: tuple[str, ...] = ()
    """Parameters of features that aren't there, which are refused."""
    api: Api = "DynamoDB"
    check: Check = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "check", compile_check(self.request))

    def validate(self, params: Any) -> None:
        """Raise the error AWS would for these parameters, as far as their shape tells.

        Raises:
            SerializationException: a member has the wrong JSON type.
            ValidationException: a member breaks its constraints, or is a legacy parameter.
        """
        if not self.check(params):
            explain(self.request, params)
        if self.legacy and not params.keys().isdisjoint(self.legacy):
            self.refuse_legacy(params)
        for name in self.not_there:
            if params.get(name):
                raise one_or_more(f"{name} is not supported here")

    def refuse_legacy(self, params: Mapping[str, Any]) -> None:
        """Raise for a legacy parameter; together with an expression it is an error of AWS's as well."""
        used = [name for name in self.legacy if params.get(name)]
        if not used:
            return
        expressions = [name for name in self.expressions if params.get(name) is not None]
        if expressions:
            raise ValidationException(
                "Can not use both expression and non-expression parameters in the same request: "
                f"Non-expression parameters: {{{', '.join(used)}}} "
                f"Expression parameters: {{{', '.join(expressions)}}}"
            )
        raise ValidationException(f"The legacy parameter {used[0]} is not supported: use an expression")


def _action(required: dict[str, Shape], **optional: Shape) -> Structure:
    return structure({**required, "TableName": TABLE_NAME}, **optional)


_CHECK: dict[str, Shape] = {"ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE, **PLACEHOLDERS}
_WRITE: dict[str, Shape] = {"ConditionExpression": TEXT, **_CHECK}
_SINGLE_WRITE: dict[str, Shape] = {
    **_WRITE,
    "ReturnValues": RETURN_VALUES,
    "ReturnConsumedCapacity": RETURN_CONSUMED,
    "ReturnItemCollectionMetrics": RETURN_METRICS,
}
_PAGE: dict[str, Shape] = {
    "IndexName": INDEX_NAME,
    "Select": SELECT,
    "Limit": Whole(1),
    "ConsistentRead": FLAG,
    "ExclusiveStartKey": MapOf(Value()),
    "ReturnConsumedCapacity": RETURN_CONSUMED,
    "ProjectionExpression": TEXT,
    "FilterExpression": TEXT,
    **PLACEHOLDERS,
}
_TABLE: dict[str, Shape] = {"TableName": TABLE_NAME}

_ALL = (
    Operation(
        "CreateTable",
        "table",
        structure(
            {
                "AttributeDefinitions": ATTRIBUTES,
                "TableName": Text(limits.TABLE_NAME_MIN, limits.TABLE_NAME_MAX, limits.NAME_PATTERN),
                "KeySchema": ListOf(KEY_SCHEMA.of, 1, 2),
            },
            LocalSecondaryIndexes=ListOf(LOCAL_INDEX),
            GlobalSecondaryIndexes=ListOf(GLOBAL_INDEX),
            Tags=TAGS,
            ResourcePolicy=TEXT,
            **TABLE_SETTINGS,
        ),
        not_there=("GlobalTableSourceArn", "GlobalTableSettingsReplicationMode", "VectorIndexes"),
    ),
    Operation("DescribeTable", "table", structure(_TABLE)),
    Operation(
        "ListTables",
        "table",
        structure(ExclusiveStartTableName=INDEX_NAME, Limit=Whole(1, 100)),
    ),
    Operation("DeleteTable", "table", structure(_TABLE)),
    Operation(
        "UpdateTable",
        "table",
        structure(
            _TABLE,
            AttributeDefinitions=ATTRIBUTES,
            GlobalSecondaryIndexUpdates=ListOf(INDEX_UPDATE),
            **TABLE_SETTINGS,
        ),
        not_there=(
            "ReplicaUpdates",
            "MultiRegionConsistency",
            "GlobalTableWitnessUpdates",
            "GlobalTableSettingsReplicationMode",
            "DisassociationProtectionEnabled",
            "VectorIndexUpdates",
        ),
    ),
    Operation(
        "UpdateTimeToLive",
        "table",
        structure({**_TABLE, "TimeToLiveSpecification": structure({"Enabled": FLAG, "AttributeName": Text(1, 255)})}),
    ),
    Operation("DescribeTimeToLive", "table", structure(_TABLE)),
    Operation("TagResource", "table", structure({"ResourceArn": ARN, "Tags": TAGS})),
    Operation("UntagResource", "table", structure({"ResourceArn": ARN, "TagKeys": ListOf(Text(1, 128))})),
    Operation("ListTagsOfResource", "table", structure({"ResourceArn": ARN}, NextToken=TEXT)),
    Operation("DescribeLimits", "table", structure()),
    Operation("DescribeEndpoints", "table", structure()),
    Operation(
        "GetItem",
        "read",
        structure(
            {**_TABLE, "Key": ITEM},
            ConsistentRead=FLAG,
            ReturnConsumedCapacity=RETURN_CONSUMED,
            ProjectionExpression=TEXT,
            **NAMES,
        ),
        ("AttributesToGet",),
        ("ProjectionExpression",),
    ),
    Operation(
        "PutItem",
        "write",
        structure({**_TABLE, "Item": ITEM}, **_SINGLE_WRITE),
        ("Expected", "ConditionalOperator"),
        ("ConditionExpression",),
    ),
    Operation(
        "UpdateItem",
        "write",
        structure({**_TABLE, "Key": ITEM}, UpdateExpression=TEXT, **_SINGLE_WRITE),
        ("AttributeUpdates", "Expected", "ConditionalOperator"),
        ("UpdateExpression", "ConditionExpression"),
    ),
    Operation(
        "DeleteItem",
        "write",
        structure({**_TABLE, "Key": ITEM}, **_SINGLE_WRITE),
        ("Expected", "ConditionalOperator"),
        ("ConditionExpression",),
    ),
    Operation(
        "Query",
        "read",
        structure(_TABLE, KeyConditionExpression=TEXT, ScanIndexForward=FLAG, **_PAGE),
        ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"),
        ("ProjectionExpression", "FilterExpression", "KeyConditionExpression"),
    ),
    Operation(
        "Scan",
        "read",
        structure(_TABLE, TotalSegments=Whole(1, limits.TOTAL_SEGMENTS_MAX), Segment=Whole(0, 999_999), **_PAGE),
        ("AttributesToGet", "ScanFilter", "ConditionalOperator"),
        ("ProjectionExpression", "FilterExpression"),
    ),
    Operation(
        "BatchGetItem",
        "read",
        structure(
            {
                "RequestItems": MapOf(
                    structure(
                        {"Keys": ListOf(ITEM, 1, limits.BATCH_GET_KEYS_MAX)},
                        ConsistentRead=FLAG,
                        ProjectionExpression=TEXT,
                        **NAMES,
                    ),
                    1,
                    limits.BATCH_GET_KEYS_MAX,
                    key=TABLE_NAME,
                )
            },
            ReturnConsumedCapacity=RETURN_CONSUMED,
        ),
    ),
    Operation(
        "BatchWriteItem",
        "write",
        structure(
            {
                "RequestItems": MapOf(
                    ListOf(
                        structure(
                            PutRequest=structure({"Item": ITEM}),
                            DeleteRequest=structure({"Key": ITEM}),
                        ),
                        1,
                        limits.BATCH_WRITE_REQUESTS_MAX,
                    ),
                    1,
                    limits.BATCH_WRITE_REQUESTS_MAX,
                    key=TABLE_NAME,
                )
            },
            ReturnConsumedCapacity=RETURN_CONSUMED,
            ReturnItemCollectionMetrics=RETURN_METRICS,
        ),
    ),
    Operation(
        "TransactGetItems",
        "read",
        structure(
            {
                "TransactItems": ListOf(
                    structure({"Get": _action({"Key": ITEM}, ProjectionExpression=TEXT, **NAMES)}),
                    1,
                    limits.TRANSACT_ACTIONS_MAX,
                )
            },
            ReturnConsumedCapacity=RETURN_CONSUMED,
        ),
    ),
    Operation(
        "TransactWriteItems",
        "write",
        structure(
            {
                "TransactItems": ListOf(
                    structure(
                        ConditionCheck=_action({"Key": ITEM, "ConditionExpression": TEXT}, **_CHECK),
                        Put=_action({"Item": ITEM}, **_WRITE),
                        Delete=_action({"Key": ITEM}, **_WRITE),
                        Update=_action({"Key": ITEM, "UpdateExpression": TEXT}, **_WRITE),
                    ),
                    1,
                    limits.TRANSACT_ACTIONS_MAX,
                )
            },
            ReturnConsumedCapacity=RETURN_CONSUMED,
            ReturnItemCollectionMetrics=RETURN_METRICS,
            ClientRequestToken=Text(1, 36),
        ),
    ),
    *(Operation(name, "table", request) for name, request in administration.REQUESTS.items()),
    *(Operation(name, "table", request) for name, request in streams.DESTINATIONS.items()),
    *(Operation(name, "stream", request, api="DynamoDBStreams") for name, request in streams.REQUESTS.items()),
)

OPERATIONS: Mapping[str, Operation] = {operation.name: operation for operation in _ALL}
"""Every operation by its name."""

_FEATURES_NOT_THERE = {
    "PartiQL": "BatchExecuteStatement ExecuteStatement ExecuteTransaction",
    "exports and imports": "DescribeExport DescribeImport ExportTableToPointInTime ImportTable ListExports ListImports "
    "CancelBulkOperation DescribeBulkOperation ListBulkOperations StartBulkPutItems",
    "vector indexes": "SearchVectors",
}

NOT_THERE: Mapping[str, str] = {
    name: feature for feature, names in _FEATURES_NOT_THERE.items() for name in names.split()
}
"""The operations that the service has and this store hasn't, with the feature they belong to. They answer
``UnknownOperationException``, as the service does in a region that lacks them.
"""


def unknown_operation(name: str) -> UnknownOperationException:
    """The error of an operation that isn't in ``OPERATIONS``."""
    feature = NOT_THERE.get(name)
    return UnknownOperationException(f"Operation {name} is not supported" + (f": {feature}" if feature else ""))
