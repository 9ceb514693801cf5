"""The names that AWS has for tables, their indexes and streams, and for keys of encryption."""

from __future__ import annotations

__all__ = ["REGION", "arn_of", "key_arn", "stream_arn"]

REGION = "local"
"""The region of everything that is here."""
_ACCOUNT = "000000000000"
_ARN = f"arn:aws:dynamodb:{REGION}:{_ACCOUNT}:table/{{name}}"


def arn_of(table: str, index: str | None = None) -> str:
    """The ARN of a table, or of one of its indexes."""
    arn = _ARN.format(name=table)
    return arn if index is None else f"{arn}/index/{index}"


def stream_arn(table: str, label: str) -> str:
    """The ARN of a stream."""
    return f"{arn_of(table)}/stream/{label}"


def key_arn(number: str) -> str:
    """The ARN of a key of encryption."""
    return f"arn:aws:kms:{REGION}:{_ACCOUNT}:key/{number}"
