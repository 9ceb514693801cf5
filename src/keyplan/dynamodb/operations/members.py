"""Members that several request shapes share: names, keys, indexes and table settings."""

from __future__ import annotations

from dataclasses import replace

from keyplan.dynamodb import limits
from keyplan.dynamodb.operations.shapes import Flag, ListOf, MapOf, Real, Shape, Text, Value, Whole, named, structure

MANAGED_TABLE = Text(limits.TABLE_NAME_MIN, limits.TABLE_NAME_MAX, limits.NAME_PATTERN, arn=True, length_first=True)
"""A table name in operations on the table itself."""
TABLE_NAME = replace(MANAGED_TABLE, never_empty=True)
"""A table name in operations on items."""
PLAIN_NAME = Text(limits.TABLE_NAME_MIN, limits.TABLE_NAME_MAX, limits.NAME_PATTERN)
INDEX_NAME = Text(limits.TABLE_NAME_MIN, limits.TABLE_NAME_MAX, limits.NAME_PATTERN, length_first=True)
KEY_NAME = Text(1, limits.KEY_NAME_BYTES_MAX)
TEXT = Text()
FLAG = Flag()
ITEM = MapOf(Value())

RETURN_CONSUMED = Text(enum=("INDEXES", "TOTAL", "NONE"))
RETURN_METRICS = Text(enum=("SIZE", "NONE"), message="ReturnItemCollectionMetrics can only be SIZE or NONE")
# The service's current messages, which misspell UPDATED_NEW.
_ENUM = "Failed to satisfy constraint: Member must satisfy enum value set: "
RETURN_VALUES = Text(
    enum=("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"),
    message=f"{_ENUM}[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
)
RETURN_ON_FAILURE = Text(enum=("ALL_OLD", "NONE"))
COMPARISON = Text(
    enum=(
        *("IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH", "GE"),
        "CONTAINS",
    )
)
CONDITIONAL = Text(enum=("OR", "AND"), message=f"{_ENUM}[ALL, OR]", first=True)
_OLD_MAX = limits.OLD_MEMBERS_MAX
ATTRIBUTES_TO_GET = ListOf(Text(max=limits.ATTRIBUTE_NAME_BYTES_MAX), 1, _OLD_MAX, named="max")
CONDITIONS = MapOf(
    structure({"ComparisonOperator": COMPARISON}, AttributeValueList=ListOf(Value())), max=_OLD_MAX, named="max"
)
EXPECTED: dict[str, Shape] = {
    "Expected": MapOf(
        structure(Value=Value(), Exists=FLAG, ComparisonOperator=COMPARISON, AttributeValueList=ListOf(Value())),
        max=_OLD_MAX,
        named="max",
    ),
    "ConditionalOperator": CONDITIONAL,
}
UPDATES = MapOf(structure(Value=Value(), Action=Text(enum=("ADD", "PUT", "DELETE"))), max=_OLD_MAX, named="max")
SELECT = Text(enum=("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"))
BILLING_MODE = Text(enum=("PROVISIONED", "PAY_PER_REQUEST"))
TABLE_CLASS = Text(enum=("STANDARD", "STANDARD_INFREQUENT_ACCESS"))

NAMES: dict[str, Shape] = {"ExpressionAttributeNames": MapOf(TEXT, max=limits.PLACEHOLDERS_MAX, named="max")}
PLACEHOLDERS: dict[str, Shape] = {
    **NAMES,
    "ExpressionAttributeValues": MapOf(Value(), max=limits.PLACEHOLDERS_MAX, named="max"),
}

THROUGHPUT = structure({"WriteCapacityUnits": Whole(1), "ReadCapacityUnits": Whole(1)})
ON_DEMAND = structure(MaxReadRequestUnits=Whole(), MaxWriteRequestUnits=Whole())
WARM = structure(ReadUnitsPerSecond=Whole(), WriteUnitsPerSecond=Whole())
PROJECTION = structure(
    ProjectionType=Text(enum=("ALL", "INCLUDE", "KEYS_ONLY")), NonKeyAttributes=ListOf(KEY_NAME, 1, 20)
)
KEY_SCHEMA = ListOf(
    named("KeySchemaElement", structure({"AttributeName": KEY_NAME, "KeyType": Text(enum=("HASH", "RANGE"))})), 1
)
ATTRIBUTES = ListOf(structure({"AttributeType": Text(enum=("B", "N", "S")), "AttributeName": KEY_NAME}))
TABLE_KEY_SCHEMA = ListOf(KEY_SCHEMA.of, 1, 2)
"""The key schema of a table or a local secondary index. Global secondary indexes can have more attributes."""
LOCAL_INDEX = structure({"IndexName": INDEX_NAME, "KeySchema": TABLE_KEY_SCHEMA, "Projection": PROJECTION})
GLOBAL_INDEX = structure(
    {"IndexName": INDEX_NAME, "KeySchema": KEY_SCHEMA, "Projection": PROJECTION},
    ProvisionedThroughput=THROUGHPUT,
    OnDemandThroughput=ON_DEMAND,
    WarmThroughput=WARM,
)
INDEX_UPDATE = structure(
    Create=GLOBAL_INDEX,
    Update=structure(
        {"IndexName": INDEX_NAME}, ProvisionedThroughput=THROUGHPUT, OnDemandThroughput=ON_DEMAND, WarmThroughput=WARM
    ),
    Delete=structure({"IndexName": INDEX_NAME}),
)
STREAM = structure(
    {"StreamEnabled": FLAG}, StreamViewType=Text(enum=("OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE"))
)
ENCRYPTION = structure(Enabled=FLAG, SSEType=Text(enum=("AES256", "KMS")), KMSMasterKeyId=Text(1))
TAGS = ListOf(structure(Key=TEXT, Value=TEXT))
"""``keyplan.store.tables`` validates tags, because the service has its own texts for them."""
ARN = Text(1, limits.ARN_MAX)
TIME = Real()
"""Seconds since the epoch."""
TOKEN = Text(pattern=r"[^\$]+")

VECTOR_INDEX = structure(
    {
        "IndexName": INDEX_NAME,
        "VectorAttribute": structure({"AttributeName": KEY_NAME}),
        "Projection": PROJECTION,
        "Dimensions": Whole(1),
        "DistanceFunction": Text(enum=("DOT_PRODUCT", "COSINE", "EUCLIDEAN")),
    },
    SearchSchema=ListOf(
        structure(
            {
                "AttributeName": Text(None, limits.ATTRIBUTE_NAME_BYTES_MAX),
                "SearchSchemaElementType": Text(enum=("INLINE_FILTER", "HASH")),
            }
        ),
        1,
    ),
)
VECTOR_UPDATE = structure(Create=VECTOR_INDEX, Delete=structure({"IndexName": INDEX_NAME}))

_READ_UNITS: dict[str, Shape] = {
    "ProvisionedThroughputOverride": structure(ReadCapacityUnits=Whole(1)),
    "OnDemandThroughputOverride": structure(MaxReadRequestUnits=Whole()),
}
_REPLICA_SETTINGS: dict[str, Shape] = {
    "KMSMasterKeyId": TEXT,
    "GlobalSecondaryIndexes": ListOf(structure({"IndexName": INDEX_NAME}, **_READ_UNITS), 1),
    "TableClassOverride": TABLE_CLASS,
    **_READ_UNITS,
}
_REGION = structure({"RegionName": TEXT})
REPLICA_UPDATES = ListOf(
    structure(
        Create=structure(None, RegionName=TEXT, **_REPLICA_SETTINGS),
        Update=structure({"RegionName": TEXT}, **_REPLICA_SETTINGS),
        Delete=_REGION,
        Disassociate=structure({"RegionName": TEXT, "DisassociationMode": Text(enum=("WAIT_FOR_REPLICATION",))}),
    ),
    1,
)
WITNESS_UPDATES = ListOf(structure(Create=_REGION, Delete=_REGION), 1, 1)
REPLICATION_MODE = Text(enum=("ENABLED", "DISABLED", "ENABLED_WITH_OVERRIDES"))
CONSISTENCY = Text(enum=("EVENTUAL", "STRONG"))

TABLE_SETTINGS: dict[str, Shape] = {
    "BillingMode": BILLING_MODE,
    "ProvisionedThroughput": THROUGHPUT,
    "StreamSpecification": STREAM,
    "SSESpecification": ENCRYPTION,
    "TableClass": Text(min=1),
    "DeletionProtectionEnabled": FLAG,
    "WarmThroughput": WARM,
    "OnDemandThroughput": ON_DEMAND,
}
