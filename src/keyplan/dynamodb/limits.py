"""DynamoDB's limits as constants; each name ends with its unit.

The sources are the developer guide's pages on service quotas and constraints, and the API reference.
"""

from __future__ import annotations

from keyplan.dynamodb.values.validation import NAME_BYTES_MAX

KIB_BYTES = 1024
MIB_BYTES = 1024 * KIB_BYTES

ITEM_BYTES_MAX = 400 * KIB_BYTES
"""Maximum item size, names and values together."""

PARTITION_KEY_BYTES_MAX = 2048
SORT_KEY_BYTES_MAX = 1024

PAGE_BYTES_MAX = MIB_BYTES
"""Maximum data that one Query or Scan reads before the filter."""

STREAM_PAGE_BYTES_MAX = MIB_BYTES
"""Maximum data that one GetRecords returns, by record sizes."""
STREAM_RECORDS_MAX = 1000

BATCH_GET_KEYS_MAX = 100
BATCH_GET_BYTES_MAX = 16 * MIB_BYTES
BATCH_WRITE_REQUESTS_MAX = 25
BATCH_WRITE_BYTES_MAX = 16 * MIB_BYTES

TRANSACT_ACTIONS_MAX = 100
TRANSACT_BYTES_MAX = 4 * MIB_BYTES
TOKEN_LIFETIME_S = 600
"""How long a ClientRequestToken makes TransactWriteItems idempotent."""

STATEMENT_CHARACTERS_MAX = 8192
STATEMENT_TOKEN_CHARACTERS_MAX = 32768
BATCH_STATEMENTS_MAX = 25

PLACEHOLDERS_MAX = 8192
"""More names or values than the expressions of a request can use: four expressions of 4 KB with at least two characters
for each.
"""
OLD_MEMBERS_MAX = 10_000
"""Conditions or updates in a legacy parameter, including listed values. The service documents no limit; this is ten
times what an expression of 4 KB can hold, and bounds the cost of one request.
"""

IN_OPTIONS_MAX = 100
"""Options of one IN in a condition or filter."""

READ_UNIT_BYTES = 4 * KIB_BYTES
WRITE_UNIT_BYTES = KIB_BYTES

PARTITION_READ_UNITS_MAX = 3000
PARTITION_WRITE_UNITS_MAX = 1000
"""Throughput of one partition, in units per second; reads and writes are limited separately."""

LOCAL_INDEXES_MAX = 5
GLOBAL_INDEXES_MAX = 20
INDEX_PARTITION_ATTRIBUTES_MAX = 4
INDEX_SORT_ATTRIBUTES_MAX = 4
PROJECTED_NAMES_PER_TABLE_MAX = 100

ACCOUNT_UNITS_MAX = 80_000
"""Provisioned read units, and write units, of an account in a region (an adjustable quota)."""
TABLE_UNITS_MAX = 40_000
"""The same for one table or global secondary index, provisioned or on demand."""

ON_DEMAND_READ_UNITS = 12_000
ON_DEMAND_WRITE_UNITS = 4_000
"""Initial throughput of a new on-demand table, in units per second."""

UNITS_MAX = 10**12
"""Maximum accepted number of provisioned units; account quotas are much lower."""
TAGS_MAX = 50
TAG_KEY_MAX = 128
TAG_VALUE_MAX = 256
"""In characters."""
POLICY_BYTES_MAX = 20 * KIB_BYTES
"""Maximum size of a resource-based policy, including white space."""
ARN_MAX = 1283

TABLE_NAME_MIN = 3
TABLE_NAME_MAX = 255
NAME_PATTERN = "[a-zA-Z0-9_.-]+"

KEY_NAME_BYTES_MAX = 255
ATTRIBUTE_NAME_BYTES_MAX = NAME_BYTES_MAX

TOTAL_SEGMENTS_MAX = 1_000_000

VECTOR_PROJECTED_MAX = 20
"""Attributes projected into a vector index, including the vector."""
VECTOR_INDEXES_MAX = 5
"""Per table."""
VECTOR_DIMENSIONS_MAX = 4096
VECTOR_FILTERS_MAX = 18
SEARCH_RESULTS_MAX = 100
SEARCH_BYTES_MAX = 16 * 1024 * 1024
"""Maximum size of a search response."""
