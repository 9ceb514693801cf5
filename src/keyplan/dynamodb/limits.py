"""DynamoDB's limits as constants, with their units last in the name.

From the developer guide's pages on service quotas and on constraints, and from the API reference.
"""

from __future__ import annotations

from keyplan.dynamodb.values.validation import NAME_BYTES_MAX

KIB_BYTES = 1024
MIB_BYTES = 1024 * KIB_BYTES

ITEM_BYTES_MAX = 400 * KIB_BYTES
"""One item, names and values together."""

PARTITION_KEY_BYTES_MAX = 2048
SORT_KEY_BYTES_MAX = 1024

PAGE_BYTES_MAX = MIB_BYTES
"""What one Query or Scan reads before the filter."""

STREAM_PAGE_BYTES_MAX = MIB_BYTES
"""What one GetRecords returns, by the sizes of its records."""
STREAM_RECORDS_MAX = 1000

BATCH_GET_KEYS_MAX = 100
BATCH_GET_BYTES_MAX = 16 * MIB_BYTES
BATCH_WRITE_REQUESTS_MAX = 25
BATCH_WRITE_BYTES_MAX = 16 * MIB_BYTES

TRANSACT_ACTIONS_MAX = 100
TRANSACT_BYTES_MAX = 4 * MIB_BYTES
TOKEN_LIFETIME_S = 600
"""How long a ClientRequestToken makes a repeated TransactWriteItems answer without writing again."""

STATEMENT_CHARACTERS_MAX = 8192
STATEMENT_TOKEN_CHARACTERS_MAX = 32768
BATCH_STATEMENTS_MAX = 25

PLACEHOLDERS_MAX = 8192
"""More names, or values, than the expressions of a request can use: four of 4 KB, with two characters for each at
least.
"""
OLD_MEMBERS_MAX = 10_000
"""Conditions or updates of an old parameter, with the values they list. The service documents no number; this is ten
times what an expression of 4 KB can say, and keeps what one request costs within bounds.
"""

IN_OPTIONS_MAX = 100
"""Options of one IN in a condition or a filter."""

READ_UNIT_BYTES = 4 * KIB_BYTES
WRITE_UNIT_BYTES = KIB_BYTES

PARTITION_READ_UNITS_MAX = 3000
PARTITION_WRITE_UNITS_MAX = 1000
"""Units a second that one partition gives; reads and writes are limited each by itself."""

LOCAL_INDEXES_MAX = 5
GLOBAL_INDEXES_MAX = 20
INDEX_PARTITION_ATTRIBUTES_MAX = 4
INDEX_SORT_ATTRIBUTES_MAX = 4
PROJECTED_NAMES_PER_TABLE_MAX = 100

ACCOUNT_UNITS_MAX = 80_000
"""Provisioned read units, and write units, of an account in a region: a quota that can be raised."""
TABLE_UNITS_MAX = 40_000
"""The same of one table or global index, provisioned or on demand."""

ON_DEMAND_READ_UNITS = 12_000
ON_DEMAND_WRITE_UNITS = 4_000
"""Units a second that a new on-demand table is ready for."""

UNITS_MAX = 10**12
"""Provisioned units that the service can count with; what an account may have is much less."""
TAGS_MAX = 50
TAG_KEY_MAX = 128
TAG_VALUE_MAX = 256
"""In characters."""
POLICY_BYTES_MAX = 20 * KIB_BYTES
"""A resource-based policy, white space included."""
ARN_MAX = 1283

TABLE_NAME_MIN = 3
TABLE_NAME_MAX = 255
NAME_PATTERN = "[a-zA-Z0-9_.-]+"

KEY_NAME_BYTES_MAX = 255
ATTRIBUTE_NAME_BYTES_MAX = NAME_BYTES_MAX

TOTAL_SEGMENTS_MAX = 1_000_000

VECTOR_PROJECTED_MAX = 20
"""Attributes projected into a vector index, the vector counted."""
VECTOR_INDEXES_MAX = 5
"""Of one table."""
VECTOR_DIMENSIONS_MAX = 4096
VECTOR_FILTERS_MAX = 18
SEARCH_RESULTS_MAX = 100
SEARCH_BYTES_MAX = 16 * 1024 * 1024
"""Of the answer to one search."""
