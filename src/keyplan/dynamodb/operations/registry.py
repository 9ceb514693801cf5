"""The registry of operations: the request shape of each, with member types and limits.

This module has the only list of operations. Validation (``Operation.validate``), the engine, the server and the
documentation use this list. Members and limits are those of the API reference. Legacy parameters (``Expected``,
``KeyConditions``...) are listed separately, because they can't be combined with expressions. Members of unsupported
features are listed, and validation rejects them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from keyplan.dynamodb import limits, service_errors
from keyplan.dynamodb.operations import administration_requests as administration
from keyplan.dynamodb.operations.members import (
    ARN,
    ATTRIBUTES,
    ATTRIBUTES_TO_GET,
    CONDITIONAL,
    CONDITIONS,
    CONSISTENCY,
    EXPECTED,
    FLAG,
    GLOBAL_INDEX,
    INDEX_UPDATE,
    ITEM,
    LOCAL_INDEX,
    MANAGED_TABLE,
    NAMES,
    PLACEHOLDERS,
    PLAIN_NAME,
    REPLICA_UPDATES,
    REPLICATION_MODE,
    RETURN_CONSUMED,
    RETURN_METRICS,
    RETURN_ON_FAILURE,
    RETURN_VALUES,
    SELECT,
    TABLE_KEY_SCHEMA,
    TABLE_NAME,
    TABLE_SETTINGS,
    TAGS,
    TEXT,
    UPDATES,
    VECTOR_INDEX,
    VECTOR_UPDATE,
    WITNESS_UPDATES,
)
from keyplan.dynamodb.operations.shape_errors import Wording, check_types, explain, refuse_unreadable
from keyplan.dynamodb.operations.shapes import (
    Check,
    ListOf,
    MapOf,
    Named,
    Real,
    Shape,
    Structure,
    Text,
    Value,
    Whole,
    compile_check,
    in_order,
    named,
    structure,
)

STREAM_ARN = Text(37, 1024)
SHARD_ID = Text(28, 65)
ITERATOR_TYPE = Text(enum=("TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP"))

STREAM_REQUESTS: Mapping[str, Structure] = {
    "ListStreams": structure(TableName=PLAIN_NAME, Limit=Whole(1, 100, bits=32), ExclusiveStartStreamArn=STREAM_ARN),
    "DescribeStream": structure(
        {"StreamArn": STREAM_ARN},
        Limit=Whole(1, 100, bits=32),
        ExclusiveStartShardId=SHARD_ID,
        ShardFilter=structure(Type=Text(enum=("CHILD_SHARDS",)), ShardId=SHARD_ID),
    ),
    "GetShardIterator": structure(
        {"StreamArn": STREAM_ARN, "ShardId": SHARD_ID, "ShardIteratorType": ITERATOR_TYPE},
        SequenceNumber=Text(21, 40),
        Timestamp=Real(),
    ),
    "GetRecords": structure({"ShardIterator": Text(1, 2048)}, Limit=Whole(1, limits.STREAM_RECORDS_MAX, bits=32)),
}
"""Requests of ``DynamoDBStreams_20120810``."""

_DESTINATION: dict[str, Shape] = {"TableName": MANAGED_TABLE, "StreamArn": STREAM_ARN}
_PRECISION = structure(ApproximateCreationDateTimePrecision=Text(enum=("MILLISECOND", "MICROSECOND")))

DESTINATIONS: Mapping[str, Structure] = {
    "DescribeKinesisStreamingDestination": structure({"TableName": MANAGED_TABLE}),
    "EnableKinesisStreamingDestination": structure(_DESTINATION, EnableKinesisStreamingConfiguration=_PRECISION),
    "DisableKinesisStreamingDestination": structure(_DESTINATION, EnableKinesisStreamingConfiguration=_PRECISION),
    "UpdateKinesisStreamingDestination": structure(_DESTINATION, UpdateKinesisStreamingConfiguration=_PRECISION),
}
"""Requests about Kinesis destinations of tables."""


_STATEMENT: dict[str, Shape] = {"Statement": Text(1, limits.STATEMENT_CHARACTERS_MAX)}
_MORE: dict[str, Shape] = {
    "Parameters": ListOf(Value(), 1, limits.STATEMENT_CHARACTERS_MAX, named="max"),
    "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
}

STATEMENT_REQUESTS: Mapping[str, Structure] = {
    "ExecuteStatement": structure(
        _STATEMENT,
        ConsistentRead=FLAG,
        NextToken=Text(1, limits.STATEMENT_TOKEN_CHARACTERS_MAX),
        Limit=Whole(1, bits=32),
        ReturnConsumedCapacity=RETURN_CONSUMED,
        **_MORE,
    ),
    "BatchExecuteStatement": structure(
        {"Statements": ListOf(structure(_STATEMENT, ConsistentRead=FLAG, **_MORE), 1, limits.BATCH_STATEMENTS_MAX)},
        ReturnConsumedCapacity=RETURN_CONSUMED,
    ),
    "ExecuteTransaction": structure(
        {"TransactStatements": ListOf(structure(_STATEMENT, **_MORE), 1, limits.TRANSACT_ACTIONS_MAX)},
        ClientRequestToken=Text(1, 36),
        ReturnConsumedCapacity=RETURN_CONSUMED,
    ),
}
"""The request shape of each operation."""


_LISTS = {"BatchExecuteStatement": "Statements", "ExecuteTransaction": "TransactStatements"}
_SELECT = "SELECT"


def only_selects(operation: str, params: Any) -> bool:
    """Whether each statement of a request is a SELECT, by its first word. The request doesn't have to be valid."""
    statements = params.get(_LISTS[operation]) if operation in _LISTS and type(params) is dict else [params]
    if type(statements) is not list or not 0 < len(statements) <= limits.TRANSACT_ACTIONS_MAX:
        return False
    for statement in statements:
        text = statement.get("Statement") if type(statement) is dict else None
        if type(text) is not str or text.lstrip()[: len(_SELECT)].upper() != _SELECT:
            return False
    return True


Kind = Literal["table", "read", "write", "stream"]
Api = Literal["DynamoDB", "DynamoDBStreams"]
"""The API that an operation belongs to. One port serves both; they have no operation in common."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API: its name, kind and request shape."""

    name: str
    kind: Kind
    request: Structure
    legacy: tuple[str, ...] = ()
    """Legacy parameters, which can't be combined with expressions, in AWS's order."""
    expressions: tuple[str, ...] = ()
    not_there: tuple[str, ...] = ()
    """Parameters of unsupported features, which are rejected."""
    api: Api = "DynamoDB"
    wording: Wording = "older"
    """The wording of the service's validation errors for this operation."""
    depth_wording: Wording | None = None
    """The wording for a value that is nested too deep, if it differs."""
    table_first: bool = False
    """Whether a missing table name is reported first, in its own text."""
    reads_strictly: bool = False
    """Whether the service reads this operation's JSON with its newer reader, which accepts no null for a required
    member.
    """
    check: Check = field(init=False, repr=False, compare=False)
    old_names: frozenset[str] = field(init=False)
    """The legacy parameters, as a set."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "check", compile_check(self.request))
        object.__setattr__(self, "old_names", frozenset(self.legacy))

    def validate(self, params: Any) -> None:
        """Validate the parameters by their shape, and raise the error that AWS would. Raises SerializationException if
        a member has the wrong JSON type, or ValidationException if a member violates its constraints, or belongs to an
        unsupported feature.
        """
        if not self.check(params):
            if self.table_first and isinstance(params, dict) and params.get("TableName") is None:
                raise service_errors.ValidationException(
                    "The parameter 'TableName' is required but was not present in the request"
                )
            if self.reads_strictly:
                refuse_unreadable(self.request, params)
            explain(self.request, params, self.wording)
        for name in self.not_there:
            if params.get(name):
                raise service_errors.one_or_more(f"{name} isn't supported by {self.name} in the embedded store")

    def check_types(self, params: Any) -> None:
        """Reject members of the wrong JSON type, including those in attribute values, which ``validate`` doesn't
        inspect. AWS reports wrong types before other errors. Raises SerializationException.
        """
        check_types(self.request, params)

    def check_old_count(self, params: Mapping[str, Any]) -> None:
        """Reject legacy parameters with too many conditions, updates or values. Raises ValidationException."""
        for name in self.legacy:
            members = params.get(name)
            if type(members) is not dict:
                continue
            count = sum(1 + len(member.get("AttributeValueList") or ()) for member in members.values())
            if count > limits.OLD_MEMBERS_MAX:
                raise service_errors.CountFault(
                    f"1 validation error detected: Value at '{name}' failed to satisfy constraint: "
                    f"Member must have length less than or equal to {limits.OLD_MEMBERS_MAX}"
                )

    def check_mixture(self, params: Mapping[str, Any]) -> None:
        """Reject legacy parameters combined with expressions. Only the legacy parameter KeyConditions can be combined
        with a filter expression. Raises RequestFault.
        """
        expressions = [name for name in self.expressions if params.get(name) is not None]
        alone = "KeyConditionExpression" not in expressions
        used = [
            name for name in self.legacy if params.get(name) is not None and not (alone and name == "KeyConditions")
        ]
        if used and expressions:
            raise mixture(used, expressions)


def mixture(legacy: Sequence[str], expressions: Sequence[str]) -> service_errors.RequestFault:
    return service_errors.RequestFault(
        "Can not use both expression and non-expression parameters in the same request: "
        f"Non-expression parameters: {{{', '.join(legacy)}}} Expression parameters: {{{', '.join(expressions)}}}"
    )


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


def _page(limit_named: Named) -> dict[str, Shape]:
    """The members of Query and Scan; ``limit_named`` is the naming of Limit in errors."""
    return {
        "IndexName": PLAIN_NAME,
        "Select": SELECT,
        "Limit": Whole(1, bits=32, named=limit_named),
        "ConsistentRead": FLAG,
        "ExclusiveStartKey": MapOf(Value()),
        "ReturnConsumedCapacity": RETURN_CONSUMED,
        "ProjectionExpression": TEXT,
        "FilterExpression": TEXT,
        "AttributesToGet": ATTRIBUTES_TO_GET,
        "ConditionalOperator": CONDITIONAL,
        **PLACEHOLDERS,
    }


_TABLE: dict[str, Shape] = {"TableName": TABLE_NAME}
_MANAGED: dict[str, Shape] = {"TableName": MANAGED_TABLE}
_WRITE_ORDER = ("ReturnConsumedCapacity", "TableName", "ReturnValues", "ConditionalOperator")


def _scan_request(named: Named) -> Structure:
    total = Whole(1, limits.TOTAL_SEGMENTS_MAX, bits=32, named=named)
    segment = Whole(0, limits.TOTAL_SEGMENTS_MAX - 1, bits=32, named=named)
    return structure(_TABLE, TotalSegments=total, Segment=segment, ScanFilter=CONDITIONS, **_page(named))


_ALL = (
    Operation(
        "CreateTable",
        "table",
        structure(
            {
                "AttributeDefinitions": ATTRIBUTES,
                "TableName": replace(MANAGED_TABLE, arn=False),
                "KeySchema": TABLE_KEY_SCHEMA,
            },
            GlobalSecondaryIndexes=ListOf(GLOBAL_INDEX),
            LocalSecondaryIndexes=ListOf(LOCAL_INDEX),
            VectorIndexes=ListOf(VECTOR_INDEX),
            GlobalTableSettingsReplicationMode=REPLICATION_MODE,
            Tags=TAGS,
            ResourcePolicy=TEXT,
            **TABLE_SETTINGS,
        ),
        not_there=("GlobalTableSourceArn",),
        table_first=True,
    ),
    Operation("DescribeTable", "table", structure(_MANAGED), table_first=True),
    Operation("ListTables", "table", structure(ExclusiveStartTableName=PLAIN_NAME, Limit=Whole(1, 100, bits=32))),
    Operation("DeleteTable", "table", structure(_MANAGED), table_first=True),
    Operation(
        "UpdateTable",
        "table",
        structure(
            _MANAGED,
            AttributeDefinitions=ATTRIBUTES,
            GlobalSecondaryIndexUpdates=ListOf(INDEX_UPDATE),
            VectorIndexUpdates=ListOf(VECTOR_UPDATE),
            ReplicaUpdates=REPLICA_UPDATES,
            GlobalTableWitnessUpdates=WITNESS_UPDATES,
            MultiRegionConsistency=CONSISTENCY,
            GlobalTableSettingsReplicationMode=REPLICATION_MODE,
            DisassociationProtectionEnabled=FLAG,
            **TABLE_SETTINGS,
        ),
        table_first=True,
    ),
    Operation(
        "UpdateTimeToLive",
        "table",
        structure({**_MANAGED, "TimeToLiveSpecification": structure({"AttributeName": Text(1, 255), "Enabled": FLAG})}),
    ),
    Operation("DescribeTimeToLive", "table", structure(_MANAGED)),
    Operation("TagResource", "table", structure({"ResourceArn": ARN, "Tags": TAGS})),
    Operation("UntagResource", "table", structure({"ResourceArn": ARN, "TagKeys": ListOf(TEXT)})),
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
            AttributesToGet=replace(ATTRIBUTES_TO_GET, named="both"),
            **NAMES,
        ),
        ("AttributesToGet",),
        ("ProjectionExpression",),
        wording="current",
    ),
    Operation(
        "PutItem",
        "write",
        in_order(
            structure({**_TABLE, "Item": ITEM}, **_SINGLE_WRITE, **EXPECTED),
            *("ReturnConsumedCapacity", "ReturnValues", "TableName", "ConditionalOperator"),
        ),
        ("Expected", "ConditionalOperator"),
        ("ConditionExpression",),
        wording="enveloped",
    ),
    Operation(
        "UpdateItem",
        "write",
        in_order(
            structure(
                {**_TABLE, "Key": ITEM},
                UpdateExpression=TEXT,
                AttributeUpdates=UPDATES,
                **EXPECTED,
                **{**_SINGLE_WRITE, "ReturnValues": replace(RETURN_VALUES, first=True)},
            ),
            *_WRITE_ORDER,
        ),
        ("AttributeUpdates", "Expected", "ConditionalOperator"),
        ("UpdateExpression", "ConditionExpression"),
        wording="enveloped",
    ),
    Operation(
        "DeleteItem",
        "write",
        in_order(structure({**_TABLE, "Key": ITEM}, **_SINGLE_WRITE, **EXPECTED), *_WRITE_ORDER),
        ("Expected", "ConditionalOperator"),
        ("ConditionExpression",),
        wording="enveloped",
    ),
    Operation(
        "Query",
        "read",
        structure(
            _TABLE,
            KeyConditionExpression=TEXT,
            ScanIndexForward=FLAG,
            KeyConditions=CONDITIONS,
            QueryFilter=CONDITIONS,
            **{**_page("both"), "AttributesToGet": replace(ATTRIBUTES_TO_GET, named="both")},
        ),
        ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"),
        ("ProjectionExpression", "FilterExpression", "KeyConditionExpression"),
        wording="current",
    ),
    Operation(
        "Scan",
        "read",
        _scan_request("none"),
        ("AttributesToGet", "ScanFilter", "ConditionalOperator"),
        ("ProjectionExpression", "FilterExpression"),
    ),
    Operation(
        "SearchVectors",
        "read",
        structure(
            {
                **_TABLE,
                "IndexName": replace(PLAIN_NAME, named="both"),
                "SearchVector": ListOf(Value(), 1, 4096, named="both"),
                "TopK": Whole(1, bits=32, named="both"),
            },
            ReturnConsumedCapacity=RETURN_CONSUMED,
            ProjectionExpression=TEXT,
            SearchConditionExpression=TEXT,
            **PLACEHOLDERS,
        ),
        reads_strictly=True,
    ),
    Operation(
        "BatchGetItem",
        "read",
        structure(
            {
                "RequestItems": MapOf(
                    structure(
                        {"Keys": ListOf(ITEM, 1, limits.BATCH_GET_KEYS_MAX, named="both")},
                        ConsistentRead=FLAG,
                        ProjectionExpression=TEXT,
                        AttributesToGet=replace(ATTRIBUTES_TO_GET, named="both"),
                        **NAMES,
                    ),
                    1,
                    limits.BATCH_GET_KEYS_MAX,
                    key=TABLE_NAME,
                    named="both",
                    echoed_as_json=True,
                )
            },
            ReturnConsumedCapacity=RETURN_CONSUMED,
        ),
        wording="current",
    ),
    Operation(
        "BatchWriteItem",
        "write",
        structure(
            {
                "RequestItems": MapOf(
                    ListOf(
                        named(
                            "WriteRequest",
                            structure(
                                PutRequest=named("PutRequest", structure({"Item": ITEM})),
                                DeleteRequest=named("DeleteRequest", structure({"Key": ITEM})),
                            ),
                        ),
                        1,
                        limits.BATCH_WRITE_REQUESTS_MAX,
                        named="max",
                    ),
                    1,
                    limits.BATCH_WRITE_REQUESTS_MAX,
                    key=TABLE_NAME,
                    named="both",
                    keys_last=True,
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
                    named="both",
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
                    named="both",
                )
            },
            ReturnConsumedCapacity=RETURN_CONSUMED,
            ReturnItemCollectionMetrics=RETURN_METRICS,
            ClientRequestToken=Text(1, 36, named="both"),
        ),
        depth_wording="current",
    ),
    *(Operation(name, "write", request) for name, request in STATEMENT_REQUESTS.items()),
    *(Operation(name, "table", request) for name, request in administration.REQUESTS.items()),
    *(Operation(name, "table", request) for name, request in DESTINATIONS.items()),
    *(Operation(name, "stream", request, api="DynamoDBStreams") for name, request in STREAM_REQUESTS.items()),
)

OPERATIONS: Mapping[str, Operation] = {operation.name: operation for operation in _ALL}
"""Operations by name."""

CURRENT_SCAN_REGIONS = frozenset({"ap-northeast-2", "eu-central-1", "eu-west-2", "us-west-1"})
"""The regions where Scan words errors as Query does; in others, us-east-1 among them, it has the older texts (recorded
in 33 regions in September 2026).
"""


_CURRENT_SCAN = replace(OPERATIONS["Scan"], request=_scan_request("both"))


def operation_in(region: str, name: str) -> Operation | None:
    return _CURRENT_SCAN if name == "Scan" and region in CURRENT_SCAN_REGIONS else OPERATIONS.get(name)


def unknown_operation(name: str) -> service_errors.UnknownOperationException:
    """The error for an operation that isn't in ``OPERATIONS``, as a region without this operation returns it."""
    return service_errors.UnknownOperationException(f"Operation {name} is not supported")
