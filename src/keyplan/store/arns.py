"""The ARNs of tables, indexes, streams and encryption keys."""

from __future__ import annotations

from keyplan.dynamodb.limits import NAME_PATTERN

REGION = "local"
"""The region in ARNs of a single-region store."""
TABLE_ARN = rf"arn:[a-z-]+:dynamodb:(?P<region>[a-z0-9-]+):\d{{12}}:table/(?P<table>{NAME_PATTERN})"
"""The pattern of a table's ARN in any region and account."""
ACCOUNT = "000000000000"


def arn_of(region: str, table: str, index: str | None = None) -> str:
    arn = f"arn:aws:dynamodb:{region}:{ACCOUNT}:table/{table}"
    return arn if index is None else f"{arn}/index/{index}"


def stream_arn(region: str, table: str, label: str) -> str:
    return f"{arn_of(region, table)}/stream/{label}"


def key_arn(region: str, number: str) -> str:
    return f"arn:aws:kms:{region}:{ACCOUNT}:key/{number}"


def log_group_arn(region: str) -> str:
    return f"arn:aws:logs:{region}:{ACCOUNT}:log-group:/aws-dynamodb/imports:*"
